"""What a check sees of a file without holding it: the same as who reads it whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from catmem.sessions import blocks
from catmem.sessions.outline import without_words
from catmem.sessions.reading import bytes_of, parse
from catmem.sessions.records import is_message
from catmem.sessions.survey import survey
from tests.sessions.support import REF, history_in, message


@pytest.mark.parametrize("block", [64, 1 << 22])
@pytest.mark.parametrize("damage", ["none", "a line", "line 1", "no line 1", "another's", "torn end"])
def test_it_is_what_a_reading_of_the_whole_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, damage: str
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", block)
    history = history_in(tmp_path)
    history.append(REF, [message(n, f"why is the queue full? 第 {n} 次") for n in range(1, 8)], title="a talk")
    history.append(REF, (), marks=[{"mark": "end", "reason": "clear"}])
    place = history.place(REF)
    file = Path(place.file)
    lines = file.read_bytes().splitlines(keepends=True)
    match damage:
        case "a line":
            lines[3] = lines[3][:20] + b"\n"
        case "line 1":
            lines[0] = b"{" + lines[0][9:]
        case "no line 1":
            lines = lines[1:]
        case "another's":
            lines[2] = lines[2].replace(REF.key.encode(), b"another")
        case "torn end":
            lines[-1] = lines[-1][:-5]
    file.write_bytes(b"".join(lines))
    whole, seen = parse(bytes_of(place.file)), survey(place)
    assert seen.header == whole.header
    assert seen.records == tuple(without_words(r) if is_message(r) else r for r in whole.records)
    assert [(d.offset, d.length, d.reason) for d in seen.damage] == [(at, len(raw), why) for at, raw, why in whole.bad]
    assert (seen.line1, seen.size) == (lines[0], file.stat().st_size)
