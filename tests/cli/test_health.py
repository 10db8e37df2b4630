"""What a check finds in what is derived: index.json against the sessions on disk."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from catmem.cli.health import findings_of
from catmem.domain.clock import seconds_of
from catmem.index import layout
from catmem.sessions.file import append
from catmem.sessions.names import place
from catmem.wiring import Catmem
from tests.cli.shell import Shell
from tests.sessions.long import NOW, talk


def put(root: Path, key: str) -> None:
    append(place(str(root), "webshop", key), key, talk(2), listing={"project": "webshop"}, durability="none")


def names(catmem: Catmem) -> list[str]:
    return [finding.name for finding in findings_of(catmem, deep=True)]


def test_a_session_that_the_index_lacks_or_has_too_much_is_found_and_put_right(tmp_path: Path) -> None:
    root = tmp_path / "data"
    root.mkdir(mode=0o700)
    put(root, "chat:1")
    catmem = Catmem(root, clock=lambda: seconds_of(NOW))
    catmem.history.write_index()
    assert names(catmem) == []
    put(root, "聊天:2")  # as a restored copy of the folder brings it
    missing = findings_of(catmem, deep=True)
    assert [finding.name for finding in missing] == ["index.json"] and missing[0].repair
    missing[0].repair()
    assert names(catmem) == []
    index = json.loads(catmem.paths.index.read_text("utf-8"))
    index["sessions"].append({**index["sessions"][0], "key": "chat:gone"})
    catmem.paths.index.write_text(json.dumps(index), "utf-8")
    assert names(catmem) == ["index.json"]
    for damage in ("", "[]", '{"sessions": 3}'):
        catmem.paths.index.write_text(damage, "utf-8")
        assert names(catmem) == ["index.json"]


def test_a_session_in_use_may_be_missing_for_a_day(tmp_path: Path) -> None:
    root = tmp_path / "data"
    root.mkdir(mode=0o700)
    put(root, "chat:1")
    catmem = Catmem(root, clock=lambda: seconds_of("2026-01-05T02:00:00.000Z"))
    catmem.history.write_index()
    put(root, "chat:2")
    assert names(catmem) == []


def test_an_index_that_lacks_what_it_says_to_have_is_found_and_made_anew(shell_in: Callable[[str], Shell]) -> None:
    shell = shell_in("zh")
    for name in ("monday", "tuesday"):
        shell.talk(name, f"Remember: the {name} database is on port 5432.", ("tool", f"log of {name}"), "谢谢")
        shell.ok("import", f"{name}.jsonl")
        shell.ok("work")
    shell.ok("recall", "monday")
    shell.ok("doctor", "--repair")  # a result whose call never came is told of, once
    assert shell.mem("doctor").code == 0
    index = shell.data / "search"
    for part, words in (("memories", "recall"), ("passages", "search"), ("outputs", "search")):
        place = next(index.glob(f"v*/{part}"))
        sound = {path.name: path.read_bytes() for path in place.iterdir()}
        meta = json.loads(sound["meta.json"])
        assert meta["segments"]
        (place / "meta.json").write_text(json.dumps({**meta, "segments": []}))  # an older state, put back
        told = shell.mem("doctor")
        assert told.code == 1 and "搜索索引" in told.out
        assert shell.mem("doctor", "--repair").code == 0 and shell.mem("doctor").code == 0
        assert shell.json(words, "tuesday", "--all-projects")["items"]


def test_what_the_next_search_adds_or_takes_away_is_no_finding(shell_in: Callable[[str], Shell]) -> None:
    shell = shell_in("en")
    shell.talk("monday", "The database is on port 5432.", "第二句")
    shell.talk("tuesday", "The cache is on port 6379.")
    shell.ok("import", "monday.jsonl")
    shell.ok("search", "port")
    shell.ok("import", "tuesday.jsonl")
    assert shell.mem("doctor").code == 0
    shell.ok("search", "port")
    shell.ok("recall", "--save", "第二句", "--project", "shop")
    shell.ok("forget", "第二句", "--purge", "--yes")
    assert shell.mem("doctor").code == 0


PLACES = ("messages", "ledger", "search", "search/{}", "search/vectors", "memory", "projects", "run", "run/locks")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("place", PLACES)
def test_a_file_where_a_folder_should_be_is_told_and_left_where_it_is(
    shell_in: Callable[[str], Shell], language: str, place: str
) -> None:
    shell = shell_in(language)
    shell.ok("recall", "--save", "We deploy with Argo CD", "--project", "shop")
    shell.ok("work")
    file = shell.data / place.format(Path(layout.index_folder("")).name)
    if file.exists():
        shutil.rmtree(file)
    file.write_text("mine", "utf-8")
    said = shell.mem("doctor")
    assert said.code == 1 and f"{file} {'is no folder' if language == 'en' else '不是文件夹'}" in said.out
    shell.mem("doctor", "--repair")
    done = shell.mem("work")
    assert done.code in (0, 8) and (done.code == 0 or str(file) in done.err), "who needs the folder says the same"
    assert file.read_text("utf-8") == "mine"
    file.unlink()
    shell.ok("work")
