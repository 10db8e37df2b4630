from __future__ import annotations

from pathlib import Path

from catmem.domain.session import SessionRef
from catmem.sessions import header as line1
from tests.sessions.support import KEY, REF, history_in, message, place_in


def test_listing_reads_line_1_only(tmp_path: Path) -> None:
    history = history_in(tmp_path)
    for number in range(40):
        history.append(SessionRef(f"p{number % 4}", f"codex:{number}"), [message(n, "x" * 500) for n in range(1, 41)])
    headers = list(history.headers())
    assert len(headers) == 40 and {h.count for h in headers} == {40}
    assert history.bytes_read == 40 * line1.ROOM
    total = sum(path.stat().st_size for path in tmp_path.rglob("*.jsonl"))
    assert history.bytes_read * 10 < total
    assert history.projects() == ["p0", "p1", "p2", "p3"]
    assert len(list(history.headers("p1"))) == 10 and list(history.headers("nowhere")) == []


def test_a_damaged_or_stale_line_1_is_derived_and_put_right(tmp_path: Path) -> None:
    history, file = history_in(tmp_path), Path(place_in(tmp_path).file)
    history.append(REF, [message(1), message(2)], title="部署")
    (before,) = history.headers()
    sound = file.read_bytes()
    history.append(REF, [message(3)])
    longer = file.read_bytes()
    for damaged in (b"#" * 2047 + b"\n" + longer[2048:], longer[2048:], sound[:2048] + longer[2048:]):
        file.write_bytes(damaged)
        (found,) = history.headers()
        assert (found.count, found.title, found.metadata["cwd"]) == (3, before.title, before.metadata["cwd"])
        read = history.bytes_read
        assert list(history.headers()) == [found] and history.bytes_read - read == line1.ROOM


def test_the_same_key_in_two_projects_is_two_sessions(tmp_path: Path) -> None:
    history = history_in(tmp_path)
    one, other = SessionRef("a", KEY), SessionRef("A", KEY)
    history.append(one, [message(1, "只在 a")])
    history.append(other, [message(2, "only in A")])
    assert [m.content for m in history.messages(one)] == ["只在 a"]
    assert [m.content for m in history.messages(other)] == ["only in A"]
    assert {h.ref for h in history.headers()} == {one, other}
    assert [h.ref for h in history.headers("A")] == [other]


def test_keys_and_projects_of_any_characters_are_listed_as_they_are(tmp_path: Path) -> None:
    history = history_in(tmp_path)
    keys = ["", "..", "/etc/passwd", "C:\\x", "CON", "con", "a/b", "a:b", "A:b", "忆🐈", "x" * 5000, "a\u2028b\n\x1c"]
    for project in ("", "网店-1", "../up"):
        for key in keys:
            history.append(SessionRef(project, key), [message(1, f"{project} {key[:9]}")])
    assert {h.ref for h in history.headers()} == {SessionRef(p, k) for p in ("", "网店-1", "../up") for k in keys}
    assert {h.key for h in history.headers("../up")} == set(keys)
    assert history.projects() == ["", "../up", "网店-1"]
    assert {p.name for p in tmp_path.iterdir()} == {"messages", "run"}


def test_copies_are_not_sessions_but_are_named(tmp_path: Path) -> None:
    history, file = history_in(tmp_path), Path(place_in(tmp_path).file)
    history.append(REF, [message(1)])
    copy = file.with_name(file.stem + ".sync-conflict-20260105.jsonl")
    copy.write_bytes(file.read_bytes())
    junk = file.with_name("junk.jsonl")
    junk.write_bytes(b"\xff\xfe junk")
    file.with_name("begun.jsonl").touch()
    assert [h.ref for h in history.headers()] == [REF]
    assert set(history.strays()) == {copy, junk}
    assert junk.read_bytes() == b"\xff\xfe junk"


def test_an_empty_directory_has_no_sessions(tmp_path: Path) -> None:
    history = history_in(tmp_path / "none")
    assert list(history.headers()) == [] and history.projects() == [] and history.strays() == []
