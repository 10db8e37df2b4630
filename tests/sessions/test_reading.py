from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.domain.errors import NotFound, StorageFailed
from catmem.sessions import header as line1
from catmem.sessions.file import append
from catmem.sessions.locks import session_lock
from catmem.sessions.names import Place
from catmem.sessions.quarantine import entries
from catmem.sessions.reading import message_of, parse, read_file
from catmem.sessions.records import encode
from tests.sessions.support import KEY, LISTING, TEXTS, place_in, record


def made(root: Path, number: int = 3) -> Place:
    place = place_in(root)
    append(place, KEY, [record(n) for n in range(1, number + 1)], listing=LISTING, durability="none")
    return place


@given(st.binary(max_size=600), st.integers(0, 3))
def test_no_bytes_raise_and_whole_records_among_them_are_found(noise: bytes, where: int) -> None:
    lines = [encode({**record(n), "id": n, "sessionKey": KEY}) for n in (1, 2, 3)]
    lines.insert(where, noise.replace(b"\n", b" ") + b"\n")
    found = parse(b"".join(lines))
    assert [r["id"] for r in found.records if "id" in r and r.get("content") in TEXTS] == [1, 2, 3]
    assert found.header["key"] == KEY


def test_a_file_that_another_program_wrote_by_hand_is_read(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    Path(place.file).parent.mkdir(parents=True)
    head = b'\xef\xbb\xbf{"key":"' + KEY.encode() + b'","title":"T","metadata":{"project":"webshop","cwd":"/w"}}\r\n'
    bare = b'{"id":1,"role":"user","content":"\xe4\xbd\xa0\xe5\xa5\xbd"}\r\n'
    Path(place.file).write_bytes(head + bare)
    content = read_file(place)
    assert (content.header.key, content.header.title, content.header.metadata["cwd"]) == (KEY, "T", "/w")
    assert [(m.content, m.session_key, m.uid) for m in content.messages] == [("你好", KEY, "")]
    append(place, KEY, [record(2)], listing=LISTING, durability="none")
    content = read_file(place)
    assert [m.id for m in content.messages] == [1, 2] and content.damage == () and content.header.title == "T"


def test_a_record_that_is_there_twice_is_read_once(tmp_path: Path) -> None:
    place = made(tmp_path)
    data = Path(place.file).read_bytes()
    Path(place.file).write_bytes(data + data[line1.ROOM :])
    content = read_file(place)
    assert [m.id for m in content.messages] == [1, 2, 3] and content.header.count == 3


def test_an_append_in_flight_is_not_taken_for_damage(tmp_path: Path) -> None:
    place = made(tmp_path)
    data = Path(place.file).read_bytes()
    half = encode({**record(4), "id": 4, "sessionKey": KEY})
    held, seen = threading.Event(), threading.Event()

    def write_slowly() -> None:
        with session_lock(place.lock):
            Path(place.file).write_bytes(data + half[:30])
            held.set()
            seen.wait(5)
            Path(place.file).write_bytes(data + half)

    writer = threading.Thread(target=write_slowly)
    writer.start()
    held.wait(5)
    threading.Timer(0.05, seen.set).start()
    content = read_file(place)
    writer.join()
    assert [m.id for m in content.messages] == [1, 2, 3, 4] and content.damage == ()
    assert entries(place.quarantine) == []


def test_what_is_missing_or_cannot_be_read_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_file(place_in(tmp_path))
    Path(place_in(tmp_path).file).mkdir(parents=True)
    with pytest.raises(StorageFailed):
        read_file(place_in(tmp_path))


def test_damage_is_reported_where_nothing_can_be_written(tmp_path: Path) -> None:
    place = made(tmp_path)
    with Path(place.file).open("ab") as file:
        file.write(b"garbage\n")
    Path(place.quarantine).parent.parent.parent.joinpath("quarantine").write_text("a file in its way")
    assert [d.reason for d in read_file(place).damage] == ["not JSON"]


def test_fields_of_a_wrong_type_count_as_missing() -> None:
    found = message_of(
        {
            "id": 1,
            "role": "assistant",
            "content": "x",
            "parent": 3,
            "kind": None,
            "toolCalls": [1, {"id": 5, "name": "Bash"}],
            "usage": {"input_tokens": 4, "tier": "standard"},
        }
    )
    assert (found.parent, found.kind, found.usage) == ("", "", {"input_tokens": 4})
    assert [(c.id, c.name) for c in found.tool_calls] == [("", "Bash")]


def test_a_reader_in_another_process_sees_only_whole_records(tmp_path: Path) -> None:
    place = made(tmp_path)
    script = (
        "import sys\n"
        "from catmem.sessions.file import append\n"
        "from catmem.sessions.names import place\n"
        "from catmem.sessions.records import message_record\n"
        "for n in range(300):\n"
        "    made = message_record('user', '忆🐈' * (n % 50 * 40), '2026-01-05T03:32:10.285Z', uid=f'w{n}')\n"
        f"    append(place(sys.argv[1], 'webshop', {KEY!r}), {KEY!r}, [made], durability='none')\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)])
    counts = []
    while writer.poll() is None:
        content = read_file(place)
        assert content.damage == ()
        counts.append(len(content.messages))
    assert counts == sorted(counts) and len(read_file(place).messages) == 303
    assert entries(place.quarantine) == []
