"""The plain format: rows of messages that name their sessions, and an export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from catmem.capture.formats import format_of
from catmem.capture.importing import UNFILED, ImportReport
from catmem.domain.clock import stamp
from catmem.domain.session import SessionRef
from tests.capture.world import REF, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def counts(report: ImportReport) -> tuple[int, int, int]:
    return report.sessions, report.messages_new, report.messages_known


class TestMessages:
    ROWS = (
        {
            "session": "s1",
            "project": "kettle",
            "role": "user",
            "content": "水开了吗",
            "timestamp": "2026-03-01T10:00:00+08:00",
        },
        {
            "session": "s1",
            "project": "kettle",
            "role": "assistant",
            "content": "yes",
            "timestamp": 1772330401,
            "mood": "kind",
        },
        {
            "session": "s2",
            "role": "user",
            "content": [{"type": "text", "text": "ok"}],
            "timestamp": "2026-03-01T10:00:00Z",
        },
        {"session": "s1", "project": "kettle", "role": "user", "content": "ok", "timestamp": "2026-03-01T10:00:02Z"},
        {"session": "s1", "project": "kettle", "role": "user", "content": "ok", "timestamp": "2026-03-01T10:00:02Z"},
    )

    def file(self, folder: Path, *rows: object) -> Path:
        path = folder / "rows.jsonl"
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in (rows or self.ROWS)))
        return path

    def test_rows_become_sessions(self, world: World, tmp_path: Path) -> None:
        path = self.file(tmp_path)
        assert counts(world.imported(path)) == (2, 5, 0)
        first = world.messages(SessionRef("kettle", "s1"))
        assert [(m.role, m.content) for m in first] == [
            ("user", "水开了吗"),
            ("assistant", "yes"),
            ("user", "ok"),
            ("user", "ok"),
        ]
        assert [m.timestamp for m in first][:2] == ["2026-03-01T02:00:00.000Z", "2026-03-01T02:00:01.000Z"]
        assert world.told(SessionRef(UNFILED, "s2")) == [("user", "ok")]
        before = world.bytes()
        assert counts(world.imported(path)) == (2, 0, 5)
        assert world.bytes() == before

    def test_a_given_project_wins(self, world: World, tmp_path: Path) -> None:
        world.imported(self.file(tmp_path), project="mine")
        assert len(world.messages(SessionRef("mine", "s1"))) == 4

    def test_a_time_is_never_1970_and_doubts_are_told(self, world: World, tmp_path: Path) -> None:
        row = {"session": "s", "role": "user", "content": "x"}
        report = world.imported(
            self.file(tmp_path, row, {**row, "timestamp": None}, {**row, "timestamp": "2026-03-01T10:00:00"})
        )
        assert all(m.timestamp > "2020" for m in world.messages(SessionRef(UNFILED, "s")))
        assert [(p.line, p.reason.split(":")[0]) for p in report.problems] == [
            (1, "no time of its own"),
            (2, "no time of its own"),
            (3, "a time without a zone"),
        ]

    def test_without_a_time_a_row_is_as_old_as_its_session_or_the_file(self, world: World, tmp_path: Path) -> None:
        row = {"role": "user", "content": "x"}
        path = self.file(
            tmp_path,
            {**row, "session": "s", "timestamp": "2026-03-01T10:00:00Z"},
            {**row, "session": "s", "content": "第二行", "timestamp": "2026-03-09T10:00:00Z"},
            {**row, "session": "s", "timestamp": None},
            {**row, "session": "other", "timestamp": ""},
        )
        world.imported(path)
        assert world.messages(SessionRef(UNFILED, "s"))[-1].timestamp == "2026-03-01T10:00:00.000Z"
        assert [m.timestamp for m in world.messages(SessionRef(UNFILED, "other"))] == [stamp(path.stat().st_mtime)]

    def test_bad_rows_are_named(self, world: World, tmp_path: Path) -> None:
        good = {"session": "s", "role": "Human", "content": "x", "timestamp": 1772330401}
        report = world.imported(
            self.file(
                tmp_path, good, {**good, "role": "cat"}, {**good, "session": ""}, {**good, "content": None}, 7, []
            ),
            source="messages",
        )
        assert counts(report) == (1, 1, 0)
        assert [p.line for p in report.problems] == [2, 3, 4, 5, 6]

    def test_a_large_file_is_read_in_parts(self, tmp_path: Path) -> None:
        from catmem.clients.messages.history import READER

        parts = list(READER.chunks(self.file(tmp_path), limit=150))
        assert len(parts) > 2
        whole = list(READER.chunks(self.file(tmp_path)))
        for session in ("s1", "s2"):
            assert [m for p in parts if p.session == session for m in p.messages] == [
                m for p in whole if p.session == session for m in p.messages
            ]


def test_an_export_is_handed_over(world: World, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    seen: list[Path] = []

    def take(path: Path) -> tuple[list[SessionRef], int, int]:
        seen.append(path)
        return [REF], 3, 1

    for text in (
        json.dumps({"format": "catmem-export/1", "memories": []}),
        json.dumps({"format": "catmem-export/1"}, indent=2),
    ):
        path.write_text(text)
        assert format_of(path) == "catmem-export"
        assert counts(world.imported(path, take_export=take)) == (1, 3, 1)
    assert seen == [path, path]
