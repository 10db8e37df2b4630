"""Which sessions are compacted and when, what a refused summary changes (nothing), and how failures come to an end."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from catmem.domain.clock import seconds_of
from catmem.domain.errors import ModelFailed
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.dream.compact import AutoCompact, Compacted, Summary, refusal
from catmem.sessions.digests import read_digests
from catmem.sessions.file import append
from catmem.sessions.history import History
from catmem.sessions.locks import session_lock
from catmem.sessions.names import Place, place
from catmem.sessions.trim import live_bound
from catmem.settings.paths import Paths
from catmem.settings.schema import Settings
from tests.sessions.long import archived_lines, live_lines, said, talk
from tests.sessions.support import at, history_in

MINUTE = 60.0
# Just after the last message of any talk here.
START = seconds_of(at(0)) + 900


class World:
    """A data directory, a clock that stands still, and a summariser that does as it is told."""

    def __init__(self, root: Path, **settings: Any) -> None:
        self.root, self.time = root, START
        self.settings = Settings(**{"max_messages": 20, **settings})
        self.history: History = history_in(root, clock=lambda: self.time)
        self.summarise: Callable[..., Any] | None = None
        self.asked: list[list[int]] = []

    def compactor(self) -> AutoCompact:
        return AutoCompact(
            self.history,
            Paths(self.root),
            self.settings,
            digest=lambda ref, messages: f"digest of {ref.key} {messages[0].id}-{messages[-1].id}",
            summarise=self._asked if self.summarise else None,
            clock=lambda: self.time,
        )

    def _asked(self, ref: SessionRef, messages: Sequence[Message]) -> Any:
        self.asked.append([m.id for m in messages])
        assert self.summarise
        return self.summarise(ref, messages)

    def talk(self, key: str, turns: int = 10, **fields: Any) -> Place:
        there = place(str(self.root), "webshop", key)
        append(there, key, [*talk(turns), *fields.pop("more", ())], listing={"project": "webshop"}, durability="none")
        return there

    def digests(self) -> list[str]:
        return [digest["content"] for digest in read_digests(Paths(self.root), "webshop")]

    def files(self) -> dict[Path, bytes]:
        return {p: p.read_bytes() for p in self.root.rglob("*") if p.is_file() and "run" not in p.parts}


def test_a_long_idle_session_is_summarised_and_bounded_once(tmp_path: Path) -> None:
    world = World(tmp_path)
    there = world.talk("chat:1")
    lines = live_lines(there)
    world.time = START - 10 * MINUTE
    assert world.compactor().run() == Compacted(), "it is in use"
    world.time = START + 10 * MINUTE
    assert world.compactor().run(active=[SessionRef("webshop", "chat:1")]) == Compacted()
    assert world.compactor().run() == Compacted(1, 0)
    assert set(live_lines(there)) == set(range(29 + 4, 41)) or len(live_lines(there)) >= 10
    assert {**archived_lines(there), **live_lines(there)} == lines and not set(archived_lines(there)) & set(
        live_lines(there)
    )
    assert world.digests() == [f"digest of chat:1 1-{max(archived_lines(there))}"]
    files = world.files()
    assert world.compactor().run(rounds=0) == Compacted() and world.files() == files


def test_the_largest_and_longest_idle_come_first_and_a_round_has_its_end(tmp_path: Path) -> None:
    world = World(tmp_path, compact={"sessions_per_round": 2, "idle_minutes": 15, "backoff_base_minutes": 5})
    places = [world.talk(f"chat:{turns}", turns) for turns in (6, 9, 12, 3)]
    world.time += 20 * MINUTE
    assert world.compactor().run() == Compacted(2, 0)
    assert [Path(p.archive).exists() for p in places] == [False, True, True, False]
    assert world.compactor().run(rounds=0) == Compacted(1, 0)
    assert [Path(p.archive).exists() for p in places] == [True, True, True, False]


BAD = ["", "  \n", Summary(""), Summary("cut", complete=False), Summary("长" * 4000), {"summary": "x"}, None, 7, ["x"]]


@pytest.mark.parametrize("bad", BAD)
def test_a_summary_that_is_none_removes_nothing(tmp_path: Path, bad: Any) -> None:
    world = World(tmp_path)
    there = world.talk("chat:1")
    lines = live_lines(there)
    world.summarise = lambda ref, messages: bad
    world.time += 20 * MINUTE
    assert world.compactor().run() == Compacted(0, 1)
    assert live_lines(there) == lines and world.digests() == []
    assert archived_lines(there).items() <= lines.items()
    assert [m.id for m in world.history.messages(SessionRef("webshop", "chat:1"))] == list(lines)
    assert world.history.check(SessionRef("webshop", "chat:1")) == []


def test_the_wait_doubles_to_a_ceiling_and_is_kept_on_disk(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.talk("chat:1")
    answers = iter(range(100))

    def refused(ref: SessionRef, messages: Sequence[Message]) -> Summary:
        raise ModelFailed(f"no answer {next(answers)}", "没有回答")

    world.summarise = refused
    world.time += 20 * MINUTE
    waits = []
    for _ in range(5):
        assert world.compactor().run() == Compacted(0, 1)
        (trouble,) = world.compactor().troubled().values()
        waits.append(round((seconds_of(trouble.not_before) - world.time) / 60))
        world.time += (waits[-1] - 1) * MINUTE
        assert world.compactor().run(rounds=0) == Compacted(), "not before its time"
        world.time += MINUTE
    assert waits == [5, 10, 20, 40, 80]
    assert len(world.asked) == 5 and len({tuple(asked) for asked in world.asked}) == 1, "always the raw originals"
    world.compactor().run()
    world.time += 24 * 60 * MINUTE
    assert world.compactor().run() == Compacted(1, 0), "a failure that is new each time ends in the rules' digest"
    assert len(world.asked) == 6 and len(world.digests()) == 1 and world.compactor().troubled() == {}


def test_after_three_equal_failures_the_rules_make_it(tmp_path: Path) -> None:
    world = World(tmp_path)
    there = world.talk("chat:1")
    world.summarise = lambda ref, messages: Summary("", complete=False)
    world.time += 20 * MINUTE
    for attempt in range(1, 4):
        assert world.compactor().run() == Compacted(0, 1)
        assert [t.equal for t in world.compactor().troubled().values()] == [attempt]
        world.time += 24 * 60 * MINUTE
    assert world.compactor().run() == Compacted(1, 0)
    assert len(world.asked) == 3 and world.digests() == [f"digest of chat:1 1-{max(archived_lines(there))}"]


def test_a_range_whose_summary_failed_is_summarised_later_although_the_session_went_on(tmp_path: Path) -> None:
    world = World(tmp_path)
    there = world.talk("chat:1")
    world.summarise = lambda ref, messages: Summary("")
    world.time += 20 * MINUTE
    world.compactor().run()
    archived = archived_lines(there)
    append(there, "chat:1", talk(3, first=100), durability="none")
    world.summarise = lambda ref, messages: Summary("部署 by docker; 连接池 25.")
    world.time += 60 * MINUTE
    assert world.compactor().run() == Compacted(1, 0)
    assert archived_lines(there).items() >= archived.items() and world.asked[0] == world.asked[1] == list(archived)
    assert world.digests()[0] == "部署 by docker; 连接池 25."
    assert not set(live_lines(there)) & set(archived)


def test_what_arrives_while_a_summary_is_made_stays(tmp_path: Path) -> None:
    world = World(tmp_path)
    there = world.talk("chat:1")

    def slow(ref: SessionRef, messages: Sequence[Message]) -> Summary:
        with session_lock(there.lock, 0):
            pass  # nobody holds it while a model thinks
        append(there, "chat:1", [said(500, "user", "等一下，改用 Postgres")], durability="none")
        return Summary("short")

    world.summarise = slow
    world.time += 20 * MINUTE
    assert world.compactor().run() == Compacted(1, 0)
    assert b"Postgres" in live_lines(there)[41] and live_bound(there) < 41


def test_a_session_that_is_locked_is_skipped_without_counting_against_it(tmp_path: Path) -> None:
    world = World(tmp_path)
    there = world.talk("chat:1")
    world.time += 20 * MINUTE
    with session_lock(there.lock):
        assert world.compactor().run(rounds=0) == Compacted(0, 0)
    assert world.compactor().troubled() == {} and world.compactor().run() == Compacted(1, 0)


def test_in_the_middle_of_a_turn_it_waits_until_the_turn_is_over_or_dead(tmp_path: Path) -> None:
    world = World(tmp_path)
    there = world.talk("chat:1", more=[said(90, "user", "and now?")])
    world.time += 60 * MINUTE
    assert world.compactor().run(rounds=0) == Compacted()
    append(there, "chat:1", [said(91, "assistant")], durability="none")
    assert world.compactor().run() == Compacted(1, 0)
    other = world.talk("chat:2", more=[said(90, "user", "还有吗")])
    world.time += 25 * 60 * MINUTE
    assert world.compactor().run() == Compacted(1, 0) and Path(other.archive).exists()


def test_nothing_said_is_done_without_a_digest(tmp_path: Path) -> None:
    world = World(tmp_path)
    blank = [said(1, "user", " "), *(said(n, "tool" if n % 2 else "system") for n in range(2, 30))]
    there = place(str(tmp_path), "webshop", "chat:1")
    append(there, "chat:1", [*blank, *talk(2, 100)], listing={"project": "webshop"}, durability="none")
    world.time += 20 * MINUTE
    assert world.compactor().run() == Compacted(1, 0) and world.digests() == []
    assert world.compactor().run(rounds=0) == Compacted()


def test_one_long_turn_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path)
    there = place(str(tmp_path), "webshop", "chat:1")
    one = [said(1, "user"), *(said(n, "assistant") for n in range(2, 60))]
    append(there, "chat:1", one, listing={"project": "webshop"}, durability="none")
    world.time += 20 * MINUTE
    assert world.compactor().run(rounds=0) == Compacted()
    monkeypatch.setattr("catmem.dream.compact.archive_oldest", None)
    assert world.compactor().run(rounds=0) == Compacted()
    monkeypatch.undo()
    append(there, "chat:1", talk(8, 100), durability="none")
    world.time += 20 * MINUTE
    assert world.compactor().run() == Compacted(1, 0)


def test_an_old_session_is_archived_whole_however_short_and_once(tmp_path: Path) -> None:
    world = World(tmp_path, archive_raw_after_days=30)
    there = world.talk("chat:1", 1)
    before = [m.content for m in world.history.messages(SessionRef("webshop", "chat:1"))]
    world.time += 29 * 1440 * MINUTE
    assert world.compactor().run(rounds=0) == Compacted()
    world.time += 2 * 1440 * MINUTE
    assert world.compactor().run(rounds=0) == Compacted(1, 0)
    assert live_lines(there) == {} and len(archived_lines(there)) == 4 and world.digests() == []
    assert [m.content for m in world.history.messages(SessionRef("webshop", "chat:1"))] == before
    assert world.compactor().run(rounds=0) == Compacted()
    world.settings = Settings(archive_raw_after_days=0)
    world.talk("chat:2", 1)
    assert world.compactor().run(rounds=0) == Compacted(), "0 is off"


def test_an_import_without_times_is_bounded_too(tmp_path: Path) -> None:
    world = World(tmp_path, archive_raw_after_days=0)
    there = place(str(tmp_path), "webshop", "timeless")
    timeless = [{**record, "timestamp": ""} for record in talk(10)]
    append(there, "timeless", timeless, listing={"project": "webshop"}, durability="none")
    assert world.compactor().run() == Compacted(1) and live_bound(there) <= 20
    assert world.compactor().run() == Compacted()


def test_a_disk_that_refuses_is_no_loss_and_is_tried_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path)
    there = world.talk("chat:1")
    lines = live_lines(there)
    world.time += 20 * MINUTE

    def refuse(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("catmem.sessions.archive.replace_file", refuse)
        assert world.compactor().run() == Compacted(0, 1)
    assert live_lines(there) == lines and "No space" in next(iter(world.compactor().troubled().values())).error
    world.time += 6 * MINUTE
    assert world.compactor().run() == Compacted(1, 0)


def test_a_damaged_state_is_none(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.talk("chat:1")
    (tmp_path / "run").mkdir(exist_ok=True)
    for text in ("", "{}", "[]", json.dumps({"sessions": [{"project": "p"}]})):
        (tmp_path / "run" / "compact.json").write_text(text)
        assert world.compactor().troubled() == {}
    world.time += 20 * MINUTE
    assert world.compactor().run() == Compacted(1, 0)


def test_words_of_one_session_do_not_reach_the_digest_of_another(tmp_path: Path) -> None:
    from catmem.distil.summary import summary_of

    world = World(tmp_path)
    for key, word in (("chat:1", "Postgres"), ("chat:2", "RabbitMQ")):
        world.talk(
            key,
            more=[
                said(n, "user" if n % 2 else "assistant", f"We decided to use {word} {n} 以后都用它。")
                for n in range(91, 131)
            ],
        )
    world.time += 20 * MINUTE
    compactor = AutoCompact(world.history, Paths(tmp_path), world.settings, digest=summary_of, clock=lambda: world.time)
    assert compactor.run() == Compacted(2, 0)
    found = {d["session"]: d["content"] for d in read_digests(Paths(tmp_path), "webshop")}
    assert "Postgres" in found["chat:1"] and "RabbitMQ" not in found["chat:1"]
    assert "RabbitMQ" in found["chat:2"] and "Postgres" not in found["chat:2"]


def test_what_is_refused() -> None:
    messages = [Message("user", "一二三四五六七八九十", at(1), "u1")]
    assert refusal(Summary("短"), messages) is None
    for bad in (*BAD, Summary("一二三四五六七八九十")):
        found = refusal(bad, messages)
        assert found and found[0].isascii() and not found[1].isascii()
