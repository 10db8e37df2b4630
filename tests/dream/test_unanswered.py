"""Which sessions are looked at for calls that were broken off, and until when."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from catmem.domain.clock import seconds_of
from catmem.domain.errors import StorageFailed
from catmem.dream.unanswered import answer_calls
from catmem.settings.paths import Paths
from tests.sessions.long import put, said, talk
from tests.sessions.support import REF, at, history_in, place_in

HOUR = 3600.0


class World:
    def __init__(self, root: Path) -> None:
        self.root, self.time = root, seconds_of(at(0)) + 60
        self.history = history_in(root, clock=lambda: self.time)

    def run(self, *news: object) -> int:
        return answer_calls(self.history, Paths(self.root), list(news), clock=lambda: self.time)  # type: ignore[arg-type]

    def remembered(self) -> list[str]:
        return [row["key"] for row in json.loads((Paths(self.root).run / "open_calls.json").read_bytes())["sessions"]]


def test_a_session_in_use_is_looked_at_until_its_turn_is_over(tmp_path: Path) -> None:
    world = World(tmp_path)
    put(place_in(tmp_path), *talk(2), said(20, "user"), said(21, "assistant", calls=["部署"]))
    assert world.run(REF) == 0 and world.remembered() == [REF.key]
    world.time += HOUR
    assert world.run() == 0 and world.remembered() == [REF.key], "the build may still go on"
    world.time += 25 * HOUR
    assert world.run() == 1 and world.remembered() == []
    assert world.run() == world.run(REF) == 0
    assert strings(world) == ["interrupted:u21:0"]


def strings(world: World) -> list[str]:
    return [m.uid for m in world.history.messages(REF) if m.uid.startswith("interrupted")]


def test_a_session_without_open_calls_is_forgotten_at_once(tmp_path: Path) -> None:
    world = World(tmp_path)
    put(place_in(tmp_path), *talk(2), {"mark": "end", "timestamp": at(50), "reason": "clear"})
    assert world.run(REF) == 0 and not (Paths(tmp_path).run / "open_calls.json").exists()


def test_what_there_was_no_time_for_is_remembered(tmp_path: Path) -> None:
    world = World(tmp_path)
    put(place_in(tmp_path), said(1, "user"), said(2, "assistant", calls=["a"]))
    world.time += 30 * HOUR
    assert answer_calls(world.history, Paths(tmp_path), [REF], clock=lambda: world.time, stop=lambda: True) == 0
    assert world.run() == 1


def test_a_session_that_cannot_be_read_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path)
    put(place_in(tmp_path), said(1, "user"), said(2, "assistant", calls=["a"]))
    world.time += 30 * HOUR

    def refuse(ref: object) -> tuple[int, int]:
        raise StorageFailed("no", "不")

    monkeypatch.setattr(world.history, "settle", refuse)
    assert world.run(REF) == 0


@pytest.mark.parametrize("damage", ["", "[]", '{"sessions": 5}', '{"sessions": [{"key": 1}]}', "\x00"])
def test_a_damaged_list_is_none(tmp_path: Path, damage: str) -> None:
    world = World(tmp_path)
    put(place_in(tmp_path), said(1, "user"), said(2, "assistant", calls=["a"]))
    world.time += 30 * HOUR
    Paths(tmp_path).make(Paths(tmp_path).run)
    (Paths(tmp_path).run / "open_calls.json").write_text(damage)
    assert world.run() == 0 and world.run(REF) == 1
