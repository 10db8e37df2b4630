"""Our copies of coded bodies: read as any program would, and no bomb."""

from __future__ import annotations

import contextlib
import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.proxy import coding
from catmem.proxy.coding import Unreadable, coded, plain

CODINGS = ["gzip", "x-gzip", "deflate", "br", "zstd", "", "identity", "gzip, zstd", "GZIP", " br ,identity"]


@given(st.binary(max_size=5000), st.sampled_from(CODINGS))
def test_there_and_back(body: bytes, name: str) -> None:
    assert plain(coded(body, name), name) == body


def test_deflate_without_its_frame_and_gzip_in_several_parts() -> None:
    machine = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    assert plain(machine.compress(b"tea") + machine.flush(), "deflate") == b"tea"
    assert plain(gzip.compress(b"te") + gzip.compress(b"a"), "gzip") == b"tea"


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd", "compress", "nonsense"])
def test_what_cannot_be_read_is_said(name: str) -> None:
    with pytest.raises(Unreadable):
        plain(b"this is not coded at all", name)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_is_not_unpacked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coding, "LONGEST_PLAIN", 1 << 16)
    with pytest.raises(Unreadable):
        plain(coded(b"x" * (1 << 22), name), name)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_of_a_stream_that_was_cut_off_there_is_what_there_is_or_nothing(name: str) -> None:
    whole = coded(bytes(range(256)) * 100, name)
    with contextlib.suppress(Unreadable):
        assert (bytes(range(256)) * 100).startswith(plain(whole[:-9], name))
