"""What was finally said, read message by message, is what a reading of the whole says."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from catmem.domain.message import Message
from catmem.sessions.branches import live_messages
from catmem.sessions.reading import read_file
from catmem.sessions.records import encode, mark_record, message_record
from catmem.sessions.talk import talk
from tests.sessions.support import REF, at, place_in

UIDS = st.sampled_from(["", *"abcdefgh"])
SAID = st.tuples(st.sampled_from(["user", "assistant", "system"]), UIDS, UIDS)
MARKS = st.one_of(
    st.tuples(st.just("leaf"), UIDS, UIDS),
    st.tuples(st.just("inherited"), UIDS, UIDS),
    st.tuples(st.just("known_as"), UIDS, UIDS),
)


@given(st.lists(st.one_of(SAID, MARKS), max_size=14))
@settings(max_examples=200, deadline=None)
def test_it_is_what_the_whole_says(tmp_path_factory, shape) -> None:  # type: ignore[no-untyped-def]
    place = place_in(tmp_path_factory.mktemp("talk"))
    lines = []
    for number, (name, uid, other) in enumerate(shape, 1):
        if name == "leaf":
            lines.append(mark_record("leaf", at(number), key=REF.key, uid=uid))
        elif name == "inherited":
            lines.append(mark_record("inherited", at(number), key=REF.key, uids=[uid, other]))
        elif name == "known_as":
            lines.append(mark_record("known_as", at(number), key=REF.key, uid=uid, **{"as": other, "parent": uid}))
        else:
            said = message_record(name, f"第 {number} 句 of {uid}", at(number), key=REF.key, uid=uid, parent=other)
            lines.append({**said, "id": number})
    Path(place.file).parent.mkdir(parents=True, exist_ok=True)
    Path(place.file).write_bytes(b"".join(map(encode, lines)))
    whole = live_messages(read_file(place))
    assert sorted(map(_told, talk(place))) == sorted(map(_told, whole))


def _told(message: Message) -> tuple[int, str, str, str]:
    return message.id, message.uid, message.parent, message.content
