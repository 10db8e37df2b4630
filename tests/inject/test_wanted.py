"""A worker that finds another one at it leaves, and what it was wanted for is done all the same."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from catmem.cli.work import only_worker, run_work
from catmem.inject.wanted import is_wanted, take, want
from catmem.inject.worker import wait_for_worker
from catmem.llm.hashed import HashedEmbedder
from catmem.llm.port import Purpose
from catmem.sessions.file import append
from catmem.sessions.names import place
from catmem.settings.places import Places
from catmem.wiring import Catmem
from tests.inject.person import Person
from tests.sessions.long import talk

SAID = ["The staging database is on port 5433.", "测试数据库的端口是 5433。"]


@pytest.mark.parametrize("said", SAID)
def test_who_ends_while_another_is_at_work_is_distilled_afterwards(person: Person, said: str) -> None:
    with only_worker(Catmem(person.data), wait=30):
        person.hook("UserPromptSubmit", prompt=said)
        person.hook("Stop", last_assistant_message="OK 好的")
        person.ends()
        wait_until(lambda: not processes_in(person.data))
        assert not person.knows("5433")
    assert person.learns("5433")


def test_a_strong_sentence_meanwhile_is_not_left_to_the_end_of_the_session(person: Person) -> None:
    with only_worker(Catmem(person.data), wait=30):
        person.hook("UserPromptSubmit", prompt="记住：we always use pnpm here.")
        wait_until(lambda: not processes_in(person.data))
    assert person.learns("pnpm")


def test_the_vectors_of_a_long_history_keep_nobody_from_being_distilled(tmp_path: Path) -> None:
    catmem = Catmem(tmp_path)
    append(place(str(tmp_path), "shop", "long"), "long", talk(20), listing={"project": "shop"}, durability="none")

    class Interrupted(HashedEmbedder):
        def embed(self, texts: Sequence[str], purpose: Purpose) -> list[list[float]]:
            want(catmem.paths)
            return super().embed(texts, purpose)

    embedder = vars(catmem)["embedder"] = Interrupted()
    for rounds in range(1, 5):
        with only_worker(catmem, wait=0):
            run_work(catmem, everything=False)
            coverage = catmem.vectors.coverage(embedder)
            assert coverage.done == min(16 * rounds, coverage.wanted), "a batch each time"
            take(catmem.paths)  # Else another process would start.
    assert coverage.done == coverage.wanted > 32


def test_a_new_session_waits_for_what_was_wanted_a_moment_ago(tmp_path: Path) -> None:
    places = Places(str(tmp_path))
    want(places)
    began = time.monotonic()
    wait_for_worker(places, 0.2)
    assert time.monotonic() - began >= 0.2
    take(places)
    wait_for_worker(places, 60.0)
    want(places)
    (file,) = Path(places.wanted).iterdir()
    os.utime(file, (0, 0))
    wait_for_worker(places, 60.0)  # Whoever was started for it never came.
    assert is_wanted(places)


def test_each_session_is_taken_once_and_what_comes_later_is_left(tmp_path: Path) -> None:
    places = Places(str(tmp_path))
    assert take(places) == [] and not is_wanted(places)
    for _ in range(2):
        want(places, "shop", "claude-code:1")
        want(places, "商店", "codex:2")
        want(places)
    Path(places.wanted, "half.json.17").write_text("[")
    Path(places.wanted, "garbage.json").write_bytes(b"\xff{")
    assert sorted(take(places)) == [("shop", "claude-code:1"), ("商店", "codex:2")]
    assert not is_wanted(places) and take(places) == []
    want(places, "shop", "claude-code:1")
    assert is_wanted(places) and take(places) == [("shop", "claude-code:1")]


def test_where_nothing_can_be_noted_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("in the way")
    places = Places(str(tmp_path))
    want(places, "shop", "claude-code:1")
    assert not is_wanted(places) and take(places) == []


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def processes_in(data: Path) -> list[str]:
    """The command lines of those that work on this data."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and folder.name != str(os.getpid()):
            try:
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if str(data) in line:
                found.append(line)
    return found
