from __future__ import annotations

import os
from pathlib import Path

import pytest

from catmem.capture import transcript as module
from catmem.capture.known import Known, is_same_text
from catmem.capture.transcript import catch_up_transcripts
from catmem.domain.session import SessionRef
from tests.capture.world import PROJECT, REF, World
from tests.clients.talk import Talk


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def write(world: World, talk: Talk) -> None:
    talk.write(world.transcript.parent)


def uids(world: World) -> list[str]:
    return [m.uid for m in Known(world.history, REF).messages]


@pytest.mark.parametrize(
    "typed", ["把 cache 关掉", "use sk_secret here", "keep <private>x</private>this", "two  blanks\nand lines"]
)
def test_without_an_id_the_words_tell(world: World, typed: str) -> None:
    world.prompt(typed)
    write(world, Talk().user("u1", typed).says("a1", "好"))
    world.stop("好")
    assert [m.role for m in world.messages()] == ["user", "assistant"]
    assert uids(world) == ["u1", "a1"]


def test_the_same_words_again_are_another_message(world: World) -> None:
    talk = Talk()
    for number in range(3):
        world.now += 60
        world.prompt("yes")
        talk.user(f"u{number}", "yes").says(f"a{number}", f"done {number}")
        write(world, talk)
        world.stop(f"done {number}")
    assert uids(world) == ["u0", "a0", "u1", "a1", "u2", "a2"]


def test_a_prompt_that_the_hook_missed_comes_from_the_transcript(world: World) -> None:
    world.prompt("second", "p2")
    write(world, Talk().user("u1", "first", promptId="p1").says("a1", "x").user("u2", "second", promptId="p2"))
    world.stop()
    assert sorted(uids(world)) == ["a1", "u1", "u2"]
    assert len(world.messages()) == 3


class TestWithoutATranscript:
    def test_the_named_reply_is_kept_once(self, world: World) -> None:
        world.prompt("which port?", "p1")
        assert world.stop("端口是 8123", "p1")["new"] == [2]
        assert world.stop("端口是 8123", "p1")["new"] == []
        assert world.told() == [("user", "which port?"), ("assistant", "端口是 8123")]

    def test_the_same_reply_to_another_prompt_is_another(self, world: World) -> None:
        for _ in range(2):
            world.now += 60
            world.prompt("again")
            world.stop("Done.")
        assert [m.content for m in world.messages()] == ["again", "Done.", "again", "Done."]

    def test_a_reply_alone_makes_a_session(self, world: World) -> None:
        world.stop("Done: port is 8123.", "p1")
        world.stop("Done: port is 8123.", "p1")
        assert world.told() == [("assistant", "Done: port is 8123.")]

    def test_it_stays_one_when_the_transcript_comes_late(self, world: World) -> None:
        world.prompt("go", "p1")
        talk = Talk().user("u1", "go", promptId="p1").calls("a1", "t1", command="x").result("x1", "t1", "out")
        write(world, talk)
        world.stop("All done.\nReally.", "p1")
        assert [m.role for m in world.messages()] == ["user", "assistant", "tool", "assistant"]
        talk.says("a2", "First this.\n\nAll done.\nReally.")
        write(world, talk)
        world.stop("", "p1")
        assert uids(world) == ["u1", "a1", "x1", "a2"]


def test_tool_calls_and_results_are_kept(world: World) -> None:
    write(
        world,
        Talk().user("u1", "go").calls("a1", "t1", command="ls").result("x1", "t1", "a.txt").says("a2", "one file"),
    )
    world.stop("one file")
    messages = world.messages()
    assert messages[1].tool_calls[0].name == "Bash"
    assert (messages[2].role, messages[2].tool_call_id, messages[2].content) == ("tool", "t1", "a.txt")


def test_reading_goes_on_where_it_was_left(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = Talk().user("u1", "one").says("a1", "first")
    write(world, talk)
    world.stop("first")
    offset = world.marks("source")[-1]["offset"]
    assert offset == world.transcript.stat().st_size
    write(world, talk.user("u2", "two").says("a2", "second"))
    asked: list[int] = []
    reader = module.reader_of("claude-code")

    class Watched:
        def chunks(self, path, position, **options):  # type: ignore[no-untyped-def]
            asked.append(position.offset)
            return reader.chunks(path, position, **options)

    monkeypatch.setattr(module, "reader_of", lambda client: Watched())
    world.stop("second")
    assert asked == [offset]
    assert uids(world) == ["u1", "a1", "u2", "a2"]


def test_a_transcript_that_was_rewritten_is_read_anew_without_doubling(world: World) -> None:
    write(world, Talk().user("u1", "one " * 50).says("a1", "first"))
    world.stop("first")
    write(
        world, Talk().user("u0", "before").user("u1", "one " * 50).says("a1", "first").user("u2", "two").says("a2", "x")
    )
    world.stop("x")
    assert sorted(uids(world)) == ["a1", "a2", "u0", "u1", "u2"]


def test_a_long_transcript_is_taken_in_parts_and_the_worker_takes_the_rest(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_HOOK_STEP", 1000)
    monkeypatch.setattr(module.follow, "__kwdefaults__", {**(module.follow.__kwdefaults__ or {}), "limit": 3000})
    talk = Talk()
    for turn in range(20):
        talk.user(f"u{turn}", f"第 {turn} 步 " + "x" * 200).says(f"a{turn}", f"done {turn}")
    write(world, talk)
    assert world.stop()["left"]
    assert 0 < len(world.messages()) < 40
    settled(world)
    assert catch_up_transcripts(world.history, lambda: world.now) > 0
    assert catch_up_transcripts(world.history, lambda: world.now) == 0
    assert uids(world) == [f"{who}{turn}" for turn in range(20) for who in "ua"]


def settled(world: World) -> None:
    """The transcript as if nobody had written to it for a while."""
    world.now += 3600
    os.utime(world.transcript, (world.now - 1800, world.now - 1800))


def test_a_session_that_was_killed_gets_its_answers_from_the_transcript(world: World) -> None:
    world.prompt("which port?", "p1")
    write(world, Talk().user("u1", "which port?", promptId="p1").says("a1", "端口 8123"))
    os.utime(world.transcript, (world.now, world.now))
    assert catch_up_transcripts(world.history, lambda: world.now + 5) == 0
    assert catch_up_transcripts(world.history, lambda: world.now + 600) == 1
    assert world.told() == [("user", "which port?"), ("assistant", "端口 8123")]


def test_a_transcript_that_is_gone_is_no_fault(world: World) -> None:
    world.prompt("which port?", "p1")
    assert catch_up_transcripts(world.history, lambda: world.now + 600) == 0


def test_time_running_out_leaves_the_rest(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HOOK_STEP", 200)
    talk = Talk()
    for turn in range(6):
        talk.user(f"u{turn}", f"step {turn}").says(f"a{turn}", f"done {turn}")
    write(world, talk)
    assert world.hook("Stop", stop=True)["left"]
    assert not world.hook("PreCompact", trigger="auto")["left"]
    assert uids(world) == [f"{who}{turn}" for turn in range(6) for who in "ua"]


def test_the_end_is_marked_and_words_typed_ahead_count_then(world: World) -> None:
    write(world, Talk().user("u1", "go").queue("enqueue", 2, "还有一件事").says("a1", "ok"))
    world.stop("ok")
    assert len(world.messages()) == 2
    world.hook("SessionEnd", reason="clear")
    assert world.told()[-1] == ("user", "还有一件事")
    assert world.marks("end")[-1]["reason"] == "clear"


def test_words_typed_ahead_and_sent_later_are_one_message(world: World) -> None:
    talk = Talk().user("u1", "go").queue("enqueue", 2, "and tea").says("a1", "ok")
    write(world, talk)
    world.hook("SessionEnd", reason="other")
    world.prompt("and tea", "p2")
    write(world, talk.queue("dequeue", 3).user("u2", "and tea", promptId="p2").says("a2", "tea"))
    world.stop("tea")
    assert list(dict.fromkeys(uids(world))) == ["u1", "a1", "u2", "a2"]


def test_a_rewind_shows_although_the_prompts_came_by_hook(world: World) -> None:
    talk = Talk().user("u1", "colours?", promptId="p1").says("a1", "which?")
    world.prompt("colours?", "p1")
    write(world, talk)
    world.stop("which?", "p1")
    for number, (colour, parent) in enumerate((("red", "a1"), ("green", "a1")), start=2):
        world.prompt(colour, f"p{number}")
        talk.user(f"u{number}", colour, promptId=f"p{number}", parent=parent).says(f"a{number}", f"ok {colour}")
        write(world, talk)
        world.stop(f"ok {colour}", f"p{number}")
    known = Known(world.history, REF)
    assert [(m.uid, m.parent) for m in known.messages if m.role == "user"] == [("u1", ""), ("u2", "a1"), ("u3", "a1")]
    assert world.marks("leaf")[-1]["uid"] == "a3"


def test_a_helper_of_ours_leaves_no_trace(world: World) -> None:
    write(world, Talk().user("u1", "[memory-helper v1] List facts as JSON.").says("a1", "[]"))
    assert world.stop("[]") == {}
    assert world.bytes() == {}


@pytest.mark.parametrize("imported", [True, False])
def test_a_fork_of_a_session_that_hooks_captured(world: World, tmp_path: Path, imported: bool) -> None:
    world.prompt("茶壶", "p1")
    talk = Talk().user("u1", "茶壶", promptId="p1").says("a1", "teapot")
    write(world, talk)
    world.stop("teapot", "p1")

    fork = Talk("0f0e0d0c-0000-4000-8000-00000000f04c")
    fork.user("u1", "茶壶", promptId="p1").says("a1", "teapot").user("u2", "other", promptId="p2", minute=90)
    path = fork.says("a2", "way", minute=91).write(tmp_path)
    if imported:
        world.imported(path)
    else:
        world.now += 5400
        world.prompt("other", "p2", session_id=fork.session, transcript_path=str(path))
        world.stop("way", "p2", session_id=fork.session, transcript_path=str(path))
    ref = SessionRef(PROJECT, f"claude-code:{fork.session}")
    assert [m.uid for m in Known(world.history, ref).messages] == ["u2", "a2"]
    assert world.marks("continues", ref)[0]["key"] == REF.key
    assert uids(world) == ["u1", "a1"]


def test_titles_reach_the_listing(world: World) -> None:
    write(world, Talk().user("u1", "go").note("ai-title", aiTitle="下午茶 plan"))
    world.stop()
    assert next(world.history.headers()).title == "下午茶 plan"


@pytest.mark.parametrize(
    ("stored", "raw", "same"),
    [
        ("a b", " a\nb ", True),
        ("key [secret:aws:12ab34cd]!", "key AKIA123!", True),
        ("key [secret:aws:12ab34cd]", "another AKIA123", False),
        ("写完了", "<private>x</private>写完了", True),
        ("a", "b", False),
    ],
)
def test_texts_are_the_same_behind_the_door(stored: str, raw: str, same: bool) -> None:
    assert is_same_text(stored, raw) is same
