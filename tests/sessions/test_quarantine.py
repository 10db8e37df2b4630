from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from catmem.sessions.quarantine import bytes_of, drop, entries, keep


@given(st.lists(st.binary(), max_size=5))
def test_any_bytes_come_back(pieces: list[bytes]) -> None:
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "s.jsonl")
        keep(path, [(number, raw, "r") for number, raw in enumerate(pieces)])
        assert [bytes_of(entry) for entry in entries(path)] == pieces


def test_pieces_are_kept_once_with_offset_and_reason(tmp_path: Path) -> None:
    path = str(tmp_path / "quarantine" / "webshop" / "s.jsonl")
    pieces = [(10, b"bad\n", "not JSON"), (20, "忆".encode()[:2], "not UTF-8")]
    keep(path, pieces)
    keep(path, [*pieces, (30, b"bad\n", "not JSON")])
    found = entries(path)
    assert [(e["offset"], e["length"], e["reason"]) for e in found] == [
        (10, 4, "not JSON"),
        (20, 2, "not UTF-8"),
        (30, 4, "not JSON"),
    ]
    assert [bytes_of(e) for e in found] == [b"bad\n", "忆".encode()[:2], b"bad\n"]
    assert Path(path).stat().st_mode & 0o077 == 0


def test_a_torn_line_of_the_quarantine_stays_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"offset":1,"len')
    keep(str(path), [(5, b"x", "r")])
    assert [e["offset"] for e in entries(str(path))] == [5]


def test_dropping_what_is_to_be_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    keep(str(path), [(1, "忘记 this".encode(), "r"), (2, b"that", "r")])
    assert drop(str(path), lambda raw: b"this" in raw) == 1
    assert [bytes_of(e) for e in entries(str(path))] == [b"that"]
    assert drop(str(path), lambda raw: b"this" in raw) == 0
    assert drop(str(path), lambda raw: True) == 1 and not path.exists()
    assert drop(str(path), lambda raw: True) == 0
