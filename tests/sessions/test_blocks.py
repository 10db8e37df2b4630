from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catmem.sessions.blocks import blocks, scan_blocks
from catmem.sessions.records import scan


@given(st.binary(max_size=60).map(lambda data: data.replace(b"\x01", b"\n")), st.integers(1, 9), st.integers(0, 5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_block_by_block_is_the_whole(monkeypatch: pytest.MonkeyPatch, data: bytes, size: int, start: int) -> None:
    """Whatever the size of a block, lines longer than one included."""
    monkeypatch.setattr("catmem.sessions.blocks.BLOCK", size)
    found = list(blocks(lambda a, b: data[a:b], start, len(data)))
    assert b"".join(lines for _, lines in found) == data[start:]
    assert all(lines.endswith(b"\n") for _, lines in found[:-1])
    assert list(scan_blocks(found)) == list(scan(data[start:], start))
