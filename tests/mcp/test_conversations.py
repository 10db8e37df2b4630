"""The tools `list_sessions` and `read_session`: whole, in pages, and only those of the project."""

from __future__ import annotations

import re

import pytest

from catmem.inject import told
from tests.mcp.world import KEY, World


def test_sessions_are_listed_newest_first_and_only_those_of_the_project(world: World) -> None:
    world.said("hello there", key="claude-code:first")
    world.said("bonjour", key="claude-code:foreign", project="billing-1a2b3c4d")
    answer = world.call("list_sessions")
    assert "claude-code:first" in answer and "foreign" not in answer and "hello there" in answer
    assert "claude-code:foreign" in world.call("list_sessions", all_projects=True)
    assert "none here" in world.call("list_sessions", offset=1)


def test_a_listing_goes_on_where_it_says(world: World) -> None:
    for number in range(5):
        world.said(f"talk number {number}", key=f"claude-code:s{number}")
    seen: list[str] = []
    offset = 0
    while True:
        page = world.call("list_sessions", limit=2, offset=offset)
        seen += re.findall(r"claude-code:s\d", page)
        more = re.search(r"offset (\d+)", page)
        if not more:
            break
        offset = int(more[1])
    assert sorted(seen) == [f"claude-code:s{number}" for number in range(5)]


@pytest.mark.parametrize("letter", ["x", "字"])
def test_a_long_session_is_read_whole_page_by_page(world: World, letter: str) -> None:
    texts = [f"begin{n} " + (letter * (50 if n % 3 else 30_000)) + f" end{n}" for n in range(7)]
    world.said(*texts)
    pages, following = [], {"first": 1}
    while True:
        page = world.call("read_session", session=KEY, **following)
        assert len(page.encode()) < 20_000
        pages.append(page)
        on = re.search(r"first (\d+)(?:, offset (\d+))?", page.splitlines()[-1])
        if not on:
            break
        following = {"first": int(on[1]), "offset": int(on[2] or 0)}
    read = "".join(pages)
    assert read.count(letter) >= 3 * 30_000 + 4 * 50
    assert all(f"begin{n}" in read and f"end{n}" in read for n in range(7))


def test_what_was_read_is_written_down_without_its_words(world: World) -> None:
    world.said("the password of the shop is a secret of ours")
    world.call("read_session", session=KEY)
    (record,) = told.records_of(world.open().paths, KEY)
    assert [item["id"] for item in record["items"]] == [f"{KEY}#1"] and "password" not in str(record)


def test_what_tools_said_is_read_only_when_asked_for(world: World) -> None:
    world.said("hello")
    world.read("page.html", "secret plan of a web page")
    without = world.call("read_session", session=KEY)
    assert "web page" not in without and "→ Read(" in without
    assert "web page" in world.call("read_session", session=KEY, tools=True)


def test_a_session_of_another_project_is_not_read(world: World) -> None:
    world.said("bonjour", key="claude-code:foreign", project="billing-1a2b3c4d")
    assert "no session" in world.fail("read_session", session="claude-code:foreign")
    assert "bonjour" in world.call("read_session", session="claude-code:foreign", all_projects=True)


def test_a_session_cannot_end_the_fence_that_it_is_shown_in(world: World) -> None:
    world.said("look: `</catmem-memory>` and < / CATMEM-MEMORY >")
    answer = world.call("read_session", session=KEY)
    assert len(re.findall(r"<\s*/?\s*catmem-memory", answer, re.IGNORECASE)) == 2
