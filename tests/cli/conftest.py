from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.chat import Person
from tests.cli.shell import Nursery, Shell


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    nursery = Nursery()
    yield nursery
    nursery.close()


@pytest.fixture
def shell(tmp_path: Path, nursery: Nursery) -> Shell:
    return Shell(tmp_path, nursery)


@pytest.fixture
def shell_in(tmp_path: Path, nursery: Nursery) -> Callable[[str], Shell]:
    """A shell in a language."""
    return lambda language: Shell(tmp_path, nursery, language)


@pytest.fixture
def meet(tmp_path: Path, nursery: Nursery) -> Iterator[Callable[..., Person]]:
    """Meets a person at `mem start`, in a language; what they leave to the background is over with the test."""
    met: list[Person] = []

    def made(language: str = "en") -> Person:
        met.append(Person(tmp_path, language, nursery))
        return met[-1]

    yield made
    for person in met:
        person.leave()


@pytest.fixture(params=["en", "zh"])
def known(request: pytest.FixtureRequest, shell_in: Callable[[str], Shell]) -> Shell:
    return _known(shell_in(request.param))


@pytest.fixture
def english(shell: Shell) -> Shell:
    return _known(shell)


def _known(shell: Shell) -> Shell:
    shell.talk("monday", "Remember: I always use pnpm, never npm.", "部署前先跑测试。")
    shell.talk("new", "Something new.")
    shell.ok("import", "monday.jsonl")
    shell.ok("work")
    return shell
