"""Rows: appended whole, and whatever a kill or a disk made of them, the sound ones count and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catmem.index.vectors.rows import HEAD, Row, RowFile

DIMENSION = 8


def row(key: int, piece: int = 0, pieces: int = 1) -> Row:
    return Row(key, 5, piece, pieces, 0, [(key + place) % 7 - 3.0 for place in range(DIMENSION)])


def group(key: int, pieces: int) -> list[Row]:
    return [row(key, piece, pieces) for piece in range(pieces)]


@pytest.fixture
def rows(tmp_path: Path) -> RowFile:
    return RowFile(tmp_path / "memory.rows", DIMENSION)


def path_of(rows: RowFile) -> Path:
    return rows._path


def test_no_file_has_no_rows(rows: RowFile) -> None:
    assert rows.complete_keys() == set() and rows.keep({1}) == 0 and rows.state() == (0, 0, 0)


def test_what_was_appended_is_there_and_private(rows: RowFile) -> None:
    rows.append(group(1, 2))
    rows.append(group(2, 1))
    assert rows.complete_keys() == {1, 2}
    assert path_of(rows).stat().st_mode & 0o777 == 0o600


def test_a_document_of_which_a_piece_is_missing_does_not_count(rows: RowFile) -> None:
    rows.append([*group(1, 1), *group(2, 3)[:2]])
    assert rows.complete_keys() == {1}


def test_keeping_takes_out_every_byte_of_the_others(rows: RowFile) -> None:
    rows.append([*group(1, 1), *group(2, 2), *group(3, 1)])
    assert rows.keep({1, 3}) == 2 and rows.complete_keys() == {1, 3}
    assert (2).to_bytes(8, "little") not in path_of(rows).read_bytes()
    assert rows.keep({1, 3}) == 0
    assert [file.name for file in path_of(rows).parent.iterdir()] == ["memory.rows"]


def test_who_has_the_file_open_keeps_what_he_reads(rows: RowFile) -> None:
    rows.append([*group(1, 1), *group(2, 1)])
    with path_of(rows).open("rb") as file:
        rows.keep({1})
        assert len(file.read()) == 2 * rows.size


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cut=st.integers(0, 400), more=st.binary(max_size=40))
def test_a_write_cut_off_anywhere_is_gone_on_with(tmp_path: Path, cut: int, more: bytes) -> None:
    rows = RowFile(tmp_path / "cut.rows", DIMENSION)
    path_of(rows).unlink(missing_ok=True)
    rows.append([*group(1, 2), *group(2, 3)])
    whole = path_of(rows).read_bytes()
    path_of(rows).write_bytes(whole[:cut] + more[: max(0, len(whole) - cut) % rows.size])
    left = rows.complete_keys()
    assert left <= {1, 2}
    rows.keep(left)
    rows.append([row for key in {1, 2, 3} - left for row in group(key, 2)])
    assert rows.complete_keys() == {1, 2, 3}


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(place=st.integers(0, 5 * (HEAD.size + DIMENSION) - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_costs_one_row(tmp_path: Path, place: int, bit: int) -> None:
    rows = RowFile(tmp_path / "flipped.rows", DIMENSION)
    path_of(rows).unlink(missing_ok=True)
    rows.append([row(key) for key in range(5)])
    assert path_of(rows).stat().st_size == 5 * rows.size
    data = bytearray(path_of(rows).read_bytes())
    data[place % len(data)] ^= 1 << bit
    path_of(rows).write_bytes(data)
    assert len(rows.complete_keys()) == 4
