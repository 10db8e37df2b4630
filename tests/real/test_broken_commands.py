"""The commands on a machine whose data is broken: a clear sentence and a documented exit code, never a fault of ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from catmem.domain.errors import CatmemError
from tests.real.breakage import BREAKAGES, Breakage
from tests.real.machine import Machine
from tests.real.upstream import FakeUpstream

pytestmark = pytest.mark.slow

DOCUMENTED = {0, 1, *(kind.exit_code for kind in CatmemError.__subclasses__())}
COMMANDS = (
    ("status",),
    ("doctor",),
    ("recall", "tabs"),
    ("recall", "--save", "我用四个空格"),
    ("brief",),
    ("sessions",),
    ("export",),
    ("work",),
)

BROKEN = [
    pytest.param(
        breakage,
        marks=[pytest.mark.real("mount-namespace")] if breakage.mount else [],
        id=breakage.name.replace(" ", "-"),
    )
    for breakage in BREAKAGES
    if not breakage.of_the_program and not breakage.busy
]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with a session and a memory in it."""
    with FakeUpstream() as upstream:
        machine = Machine(tmp_path_factory.mktemp("known"), upstream)
        machine.install_hooks()
        machine.hook_codes()
        assert machine.left_running() == []
        machine.mem("recall", "--save", "I prefer tabs")
        machine.mem("work")
        return machine.data


@pytest.fixture
def machine(tmp_path: Path, known: Path) -> Iterator[Machine]:
    with FakeUpstream() as upstream:
        machine = Machine(tmp_path, upstream)
        machine.begin_with(known)
        yield machine


@pytest.mark.parametrize("breakage", BROKEN)
def test_a_command_says_what_is_wrong(machine: Machine, breakage: Breakage) -> None:
    mount = breakage.mount(machine) if breakage.mount else ""
    with breakage.apply(machine):
        for command in COMMANDS:
            done = machine.run_mem(*command, before=mount)
            told = f"{command} exited {done.returncode}: {done.stdout}{done.stderr}"
            assert done.returncode in DOCUMENTED, told
            assert "Traceback" not in done.stderr, told
            # `mem: …` in one or two sentences; the first line says what happened.
            assert done.returncode in (0, 1) or done.stderr.startswith("mem: "), told


@pytest.mark.parametrize("breakage", [it for it in BREAKAGES if it.of_the_data], ids=lambda it: it.name)
def test_doctor_finds_what_is_broken(machine: Machine, breakage: Breakage) -> None:
    assert machine.run_mem("doctor").returncode == 0
    with breakage.apply(machine):
        assert machine.run_mem("doctor").returncode != 0
