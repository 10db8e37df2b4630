"""Which branch of a rewound talk is alive."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from catmem.domain.message import Message, is_said
from catmem.domain.session import SessionHeader, SessionRef, live_path


def message(uid: str, parent: str = "", role: str = "user") -> Message:
    return Message(role, f"words of {uid}", "2026-01-01T00:00:00.000Z", uid, parent=parent)  # type: ignore[arg-type]


def uids(messages: list[Message], leaf: str = "") -> str:
    return "".join(m.uid for m in live_path(messages, leaf))


TALK = [message("a"), message("b", "a", "assistant"), message("c", "b"), message("d", "c", "assistant")]


def test_a_talk_without_branches_is_all_alive():
    assert uids(TALK) == "abcd" and uids([]) == ""
    assert uids([message("x"), message("y")]) == "xy", "a source that knows no parents"


def test_after_a_rewind_the_newest_branch_lives_unless_a_leaf_is_named():
    rewound = [*TALK, message("e", "b"), message("f", "e", "assistant")]
    assert uids(rewound) == "abef" and uids(rewound, "d") == "abcd" and uids(rewound, "nowhere") == "abef"


def test_parallel_tool_results_stay_with_their_turn():
    talk = [message("a"), message("b", "a", "assistant"), message("t", "b", "tool"), message("u", "b", "tool")]
    talk += [message("c", "u", "assistant")]
    assert uids(talk) == "abtuc"


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool", "system"]), st.integers(-3, 12)), max_size=12))
def test_any_tree_or_cycle_ends_and_keeps_order(shape):
    talk = [
        message(chr(97 + n), chr(97 + parent) if parent >= 0 else "", role) for n, (role, parent) in enumerate(shape)
    ]
    alive = live_path(talk)
    assert [m.uid for m in alive] == sorted(m.uid for m in alive) and {m.uid for m in alive} <= {m.uid for m in talk}
    assert bool(alive) == bool(talk)


def test_a_branch_may_leave_from_a_message_that_is_not_there():
    """The parent is in the archive, in the session that this one continues, or was no message."""
    rewound = [message("c", "b"), message("d", "c", "assistant"), message("e", "b"), message("f", "e", "assistant")]
    assert uids(rewound) == "ef" and uids(rewound, "d") == "cd"
    assert uids(rewound[:2], "b") == "" and uids(rewound[:2]) == "cd", "all was taken back; nothing was"


def test_names_and_counts():
    header = SessionHeader("k", "t", "p", "", "", metadata={"project": "shop", "count": "7", "last_id": 9})
    assert header.ref == SessionRef("shop", "k") and header.count == 7 and header.last_id == 9
    assert is_said(message("a")) and not is_said(message("a", role="tool"))
