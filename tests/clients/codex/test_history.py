from __future__ import annotations

import json
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catmem.capture.formats import format_of
from catmem.clients.codex.history import READER
from catmem.clients.port import Position
from catmem.domain.errors import BadInput, StorageFailed
from catmem.domain.session import live_path
from tests.clients.rollout import FOLDER, ID, Rollout, messages, told

ENVIRONMENT = "<environment_context>\n  <cwd>/home/kim/kettle</cwd>\n</environment_context>"
AGENTS = "# AGENTS.md instructions for /home/kim/kettle\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>"


def test_older_rollouts_hold_each_message_twice(tmp_path: Path) -> None:
    rollout = Rollout().context(AGENTS).context(ENVIRONMENT).context("sandbox", role="developer")
    rollout.asked("壶里的水几度？").item("reasoning", summary=[], encrypted_content="gAAAA")
    rollout.event("agent_message", message="90 度。").says("90 度。").asked("壶里的水几度？").says("Still 90.")
    path = rollout.write(tmp_path)
    said = [
        ("user", "壶里的水几度？"),
        ("assistant", "90 度。"),
        ("user", "壶里的水几度？"),
        ("assistant", "Still 90."),
    ]
    assert told(path) == said
    (chunk,) = READER.chunks(path)
    assert (chunk.session, chunk.cwd, chunk.problems) == (f"codex:{ID}", FOLDER, ())
    assert chunk.messages[0].timestamp == "2026-04-01T08:05:00.000Z"
    assert [m.parent for m in chunk.messages] == ["", *(m.uid for m in chunk.messages[:-1])]


def test_newer_rollouts_tell_what_was_typed_by_items(tmp_path: Path) -> None:
    rollout = Rollout().turn("t1").context(ENVIRONMENT, "<recommended_plugins>\nnone\n</recommended_plugins>")
    rollout.context("RECALLED: tea at 5", kinds=("hooks.additional_context",))
    rollout.context("茶 at 4", kinds=("user.text",)).event("user_message", message="茶 at 4").typed("茶 at 4")
    rollout.says("Noted.").context("<turn_aborted>\nstopped\n</turn_aborted>").context("looks typed")
    path = rollout.write(tmp_path)
    assert told(path) == [("user", "茶 at 4"), ("assistant", "Noted.")]
    (chunk,) = READER.chunks(path)
    assert dict(chunk.prompts) == {chunk.messages[0].uid: "t1"}


def test_a_session_that_outlives_upgrades_keeps_all_parts(tmp_path: Path) -> None:
    """Told by events first, then by the context alone, then by items."""
    rollout = Rollout().asked("old way").says("yes").context("<new_block>\nx\n</new_block>").says("hm")
    rollout.context("marked", kinds=("user.text",)).says("aha")
    rollout.turn("t2").context("new way", kinds=("user.text",)).typed("new way").says("sure")
    assert [text for _, text in told(rollout.write(tmp_path))] == [
        "old way",
        "yes",
        "hm",
        "marked",
        "aha",
        "new way",
        "sure",
    ]


def test_a_session_that_began_without_events_keeps_its_beginning(tmp_path: Path) -> None:
    rollout = Rollout().turn("t1").context("bare").says("yes").turn("t2").context("<x>\nadded\n</x>")
    path = rollout.context("itemised").typed("itemised").says("sure").context("after").write(tmp_path)
    assert [text for _, text in told(path)] == ["bare", "yes", "itemised", "sure"]
    (chunk,) = READER.chunks(path)
    assert sorted(chunk.prompts.values()) == ["t1", "t2"]


def test_without_events_the_context_tells_what_was_typed(tmp_path: Path) -> None:
    rollout = Rollout().context(AGENTS, ENVIRONMENT).context("make it 8").says("8 it is")
    rollout.context("<user_shell_command>\nls\n</user_shell_command>").context(
        "<image name=[Image #1]>", "plain <b>tag</b> 文字"
    )
    rollout.context("mine", "not mine", kinds=("user.text", "skills.selected_skill_instructions"))
    rollout.item("message", role="user", content="copied", metadata={"inherited_user_message": True})
    assert told(rollout.write(tmp_path)) == [
        ("user", "make it 8"),
        ("assistant", "8 it is"),
        ("system", "ls"),
        ("user", "plain <b>tag</b> 文字"),
        ("user", "mine"),
    ]


def test_an_editor_wraps_the_request(tmp_path: Path) -> None:
    wrapped = "# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\n改名\n"
    rollout = Rollout().asked(wrapped).says("ok").asked("about ## My request for Codex: what is it")
    assert [text for role, text in told(rollout.write(tmp_path)) if role == "user"] == [
        "改名",
        "about ## My request for Codex: what is it",
    ]


def test_calls_and_their_results(tmp_path: Path) -> None:
    rollout = Rollout().asked("run")
    rollout.item("function_call", name="exec_command", arguments='{"cmd":"ls"}', call_id="c1")
    rollout.item("function_call_output", call_id="c1", output="a.py\n")
    rollout.item("custom_tool_call", name="apply_patch", input="*** Begin", call_id="c2")
    rollout.item("custom_tool_call_output", call_id="c2", output={"output": "Success.", "metadata": {}})
    rollout.item("function_call", name="recall", namespace="mcp__catmem", arguments="{}", call_id="c3")
    rollout.item("function_call_output", call_id="c3", output=[{"type": "input_text", "text": "likes tea"}])
    rollout.event("token_count", info={"last_token_usage": {"input_tokens": 9, "output_tokens": 2}})
    found = messages(rollout.write(tmp_path))[1:]
    assert [(m.role, m.content, m.tool_call_id) for m in found] == [
        ("assistant", "", ""),
        ("tool", "a.py\n", "c1"),
        ("assistant", "", ""),
        ("tool", "Success.", "c2"),
        ("assistant", "", ""),
        ("tool", "[recalled memories, not kept here]", "c3"),
    ]
    assert [(c.name, json.loads(c.arguments)) for m in found for c in m.tool_calls] == [
        ("exec_command", {"cmd": "ls"}),
        ("apply_patch", {"input": "*** Begin"}),
        ("mcp__catmem__recall", {}),
    ]
    assert found[4].usage == {"input_tokens": 9, "output_tokens": 2}


def test_a_compaction_is_a_summary_and_no_reply(tmp_path: Path) -> None:
    rollout = Rollout().asked("one").says("1").says("They counted.")
    rollout.line("compacted", {"message": "Here is the summary:\nThey counted.", "replacement_history": [{}]})
    rollout.asked("two").says("2")
    found = messages(rollout.write(tmp_path))
    assert [(m.role, m.kind) for m in found][1:4] == [("assistant", ""), ("system", "summary"), ("user", "")]
    assert "They counted." not in [m.content for m in found if m.role == "assistant"]


def test_turns_that_were_taken_back_are_a_dead_branch(tmp_path: Path) -> None:
    rollout = Rollout().asked("start").says("go").asked("red").says("red it is")
    rollout.event("thread_rolled_back", num_turns=1).asked("green").says("green it is")
    found = messages(rollout.write(tmp_path))
    assert len(found) == 6
    assert [m.content for m in live_path(found)] == ["start", "go", "green", "green it is"]


def test_the_bare_form(tmp_path: Path) -> None:
    lines = [
        {"id": ID, "timestamp": "2025-06-01T10:00:00Z", "instructions": "be brief", "git": {}},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ENVIRONMENT}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "你好"}]},
        {"record_type": "state"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]},
    ]
    path = tmp_path / f"rollout-2025-06-01T10-00-00-{ID}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert format_of(path) == "codex"
    assert [(m.role, m.content, m.timestamp) for m in messages(path)] == [
        ("user", "你好", "2025-06-01T10:00:00.000Z"),
        ("assistant", "hi", "2025-06-01T10:00:00.000Z"),
    ]
    document = tmp_path / f"rollout-2025-05-01-{ID}.json"
    document.write_text(json.dumps({"session": lines[0], "items": lines[1:]}, indent=1))
    assert format_of(document) == "codex"
    assert told(document) == [("user", "你好"), ("assistant", "hi")]
    document.write_text('{"session": {}, "items": [')
    with pytest.raises(BadInput):
        told(document)


def test_a_compressed_file_is_its_plain_twin(tmp_path: Path) -> None:
    path = Rollout().asked("茶").says("tea").write(tmp_path)
    before = messages(path)
    twin = path.with_name(path.name + ".zst")
    twin.write_bytes(zstandard.compress(path.read_bytes()))
    assert format_of(twin) == "codex"
    assert messages(twin) == []
    path.unlink()
    assert messages(twin) == before
    (chunk,) = READER.chunks(twin)
    assert [m for c in READER.chunks(twin, chunk.position) for m in c.messages] == []


def test_a_damaged_compressed_file_gives_what_is_whole(tmp_path: Path) -> None:
    rollout = Rollout().asked("first").says("1")
    whole = zstandard.compress(rollout.data()) + zstandard.compress(b"rest " * 500)[:-9]
    path = tmp_path / "rollout-x.jsonl.zst"
    path.write_bytes(whole + b"\x00" * 40)
    (chunk,) = READER.chunks(path)
    assert [m.content for m in chunk.messages] == ["first", "1"]
    assert any("compressed file is damaged" in problem.reason for problem in chunk.problems)


PARENT = "0199aaaa-0000-7000-8000-000000000001"


def parent() -> Rollout:
    return Rollout(PARENT).turn("t1").context(ENVIRONMENT).context("one").typed("one").says("1")


def forked(**meta: object) -> Rollout:
    copy = Rollout(ID, 2, **meta).line("session_meta", {"id": PARENT, "cwd": "/elsewhere"})
    copy.turn("t1").context(ENVIRONMENT).context("one").typed("one").says("1")
    return copy.turn("t9").context("another way").typed("another way").says("done")


@pytest.mark.parametrize("folder", ["sessions/2026/04/01", "archived_sessions"])
def test_a_fork_keeps_only_its_own_part(tmp_path: Path, folder: str) -> None:
    parent().write(tmp_path / folder)
    path = forked(forked_from_id=PARENT).write(tmp_path / "sessions/2026/04/02")
    assert told(path) == [("user", "another way"), ("assistant", "done")]
    (chunk,) = READER.chunks(path)
    assert (chunk.session, chunk.cwd, chunk.forked) == (f"codex:{ID}", FOLDER, True)


def test_a_fork_without_turns_is_told_by_what_it_says(tmp_path: Path) -> None:
    Rollout(PARENT).asked("one").says("1").asked("go on").says("2").write(tmp_path)
    fork = Rollout(ID, 2, forked_from_id=PARENT).asked("one").says("1").asked("stop").says("ok").asked("go on")
    assert [text for _, text in told(fork.write(tmp_path))] == ["stop", "ok", "go on"]


def test_a_fork_without_its_parent_keeps_all(tmp_path: Path) -> None:
    assert [text for _, text in told(forked(forked_from_id=PARENT).write(tmp_path))] == [
        "one",
        "1",
        "another way",
        "done",
    ]


def test_a_subagent_is_no_person(tmp_path: Path) -> None:
    spawned = forked(source={"subagent": {"thread_spawn": {"parent_thread_id": PARENT}}})
    spawned.item("function_call", name="ls", arguments="{}", call_id="c")
    assert {m.kind for m in messages(spawned.write(tmp_path))} == {"agent"}
    assert {m.role for m in messages(spawned.write(tmp_path))} == {"system"}


def test_titles_come_from_the_index(tmp_path: Path) -> None:
    path = Rollout().asked("x").write(tmp_path / "sessions")
    named = [{"id": ID, "thread_name": "first"}, {"id": ID, "thread_name": "水壶"}, {"id": "o", "thread_name": "other"}]
    (tmp_path / "session_index.jsonl").write_text("".join(json.dumps(one) + "\n" for one in named))
    (chunk,) = READER.chunks(path)
    assert chunk.title == "水壶"


def test_damage_costs_its_line(tmp_path: Path) -> None:
    rollout = Rollout().asked("one")
    rollout.lines.insert(2, '{"timestamp": "2026", "type": broken')
    rollout.lines += ["\x00" * 9, "7"]
    path = rollout.says("1").write(tmp_path)
    with path.open("ab") as file:
        file.write(b'{"timestamp": "2026-04-01T09:00:00Z", "ty')
    (chunk,) = READER.chunks(path)
    assert [m.content for m in chunk.messages] == ["one", "1"]
    assert [problem.line for problem in chunk.problems] == [3, 5, 6, 8]
    path.write_bytes("\ufeff".encode("utf-16"))
    with pytest.raises(BadInput):
        list(READER.chunks(path))
    with pytest.raises(StorageFailed):
        list(READER.chunks(tmp_path / "gone.jsonl"))


def test_reading_on_where_it_was_left(tmp_path: Path) -> None:
    rollout = Rollout().turn("t1").context("one").typed("one").says("1")
    path = rollout.write(tmp_path)
    (first,) = READER.chunks(path)
    rollout.turn("t2").context("two").typed("two").says("2").write(tmp_path)
    (more,) = READER.chunks(path, first.position)
    assert (*first.messages, *more.messages) == tuple(messages(path))
    assert (first.first, more.first, dict(more.prompts)) == (True, False, {more.messages[0].uid: "t2"})


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(st.sampled_from(["asked", "typed", "says", "call", "turn", "roll"]), max_size=25),
    limit=st.integers(1, 900),
)
def test_any_cutting_gives_the_same_messages(tmp_path: Path, steps: list[str], limit: int) -> None:
    rollout = Rollout()
    for number, step in enumerate(steps):
        if step == "call":
            rollout.item("function_call", name="ls", arguments="{}", call_id=f"c{number}")
            rollout.item("function_call_output", call_id=f"c{number}", output="x")
        elif step == "roll":
            rollout.event("thread_rolled_back", num_turns=1)
        else:
            getattr(rollout, step)(f"{step} 第{number}")
    path = rollout.write(tmp_path)
    (whole,) = READER.chunks(path)
    parts = list(READER.chunks(path, limit=limit))
    assert [m for part in parts for m in part.messages] == list(whole.messages)
    assert [part.at_end for part in parts] == [False] * (len(parts) - 1) + [True]
    assert parts[-1].position == whole.position
    assert isinstance(whole.position, Position)
