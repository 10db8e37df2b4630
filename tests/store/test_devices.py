"""Several devices that exchange ledgers as a synced folder does: they converge, and obey each other's forgetting."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from catmem.capture.remember import remember
from catmem.domain.change import Change
from catmem.domain.memory import Memory
from catmem.ledger.ledger import Ledger
from catmem.ledger.lines import encode
from catmem.settings.paths import Paths
from catmem.store.memories import MemoryStore
from catmem.store.records import export_entries
from catmem.wiring import Catmem
from tests.domain.samples import changes, claim_about, distilled, said
from tests.domain.test_fold import folded


class Device:
    def __init__(self, root: Path) -> None:
        self.paths = Paths(root)
        self.ledger = Ledger(self.paths)
        self.store = MemoryStore(self.paths, self.ledger)

    def send(self, other: Device, copy: Callable[[Path, Path], None]) -> None:
        own = self.paths.ledger / f"{self.ledger.device}.jsonl"
        other.paths.make(other.paths.ledger)
        copy(own, other.paths.ledger / own.name)

    def memories(self) -> list[Memory]:
        self.store.catch_up()
        return self.store.all()


def in_place(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)


def by_rename(source: Path, target: Path) -> None:
    temporary = target.with_suffix(".tmp")
    shutil.copyfile(source, temporary)
    os.replace(temporary, target)


@pytest.fixture
def two(tmp_path):
    return Device(tmp_path / "laptop"), Device(tmp_path / "desktop")


@pytest.mark.parametrize("copy", [in_place, by_rename])
def test_two_devices_converge(two, copy):
    a, b = two
    a.store.commit([distilled(claim_about(0, "yarn", 10), 40)])
    b.store.commit([distilled(claim_about(0, "pnpm", 30, session="s2"), 41)])
    a.send(b, copy), b.send(a, copy)
    assert a.memories() == b.memories() and a.memories()[0].now.object == "pnpm"
    a.store.commit([said("edit", claim_about(0, "npm", 50), 50)])
    b.store.commit([distilled(claim_about(1, "小明", 40), 51)])
    a.send(b, copy), b.send(a, copy)
    assert a.memories() == b.memories() and len(a.memories()) == 2
    a.store.rebuild()
    assert a.memories() == b.memories()


@pytest.mark.parametrize("copy", [in_place, by_rename])
def test_a_forget_on_one_device_takes_the_words_from_the_other(two, copy):
    a, b = two
    text = "narwhal-marker 我喜欢 vim"
    claim = claim_about(text=text)
    a.store.commit([distilled(claim, 0), distilled(claim_about(1, "小明", 5), 0)])
    a.send(b, copy)
    b.memories()
    b.store.forget([claim.id])
    assert b.store.get(claim.id).now.status == "forgotten"
    for path in b.paths.root.rglob("*"):
        if path.is_file() and path.stem != a.ledger.device:
            assert text.encode() not in path.read_bytes(), path
    b.send(a, copy)
    assert a.memories() == b.memories()
    for path in a.paths.root.rglob("*"):
        assert not path.is_file() or text.encode() not in path.read_bytes(), path
    a.send(b, copy)
    assert a.memories() == b.memories() and b.store.problems() == []
    for path in b.paths.root.rglob("*"):
        assert not path.is_file() or text.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("copy", [in_place, by_rename])
def test_a_ledger_that_was_rewritten_is_read_anew_even_if_it_grew(two, copy):
    a, b = two
    old = claim_about(text="an old wording that is long enough to move every byte behind it")
    a.store.commit([distilled(old, 0)])
    a.send(b, copy)
    b.memories()
    a.store.forget([old.id])
    for number in range(5):
        a.store.commit([distilled(claim_about(1, "小明", number, session=f"s{number}"), 0)])
    a.send(b, copy)
    assert a.memories() == b.memories() and b.store.problems() == []


def test_progress_of_the_other_device_counts(two):
    a, b = two
    a.store.commit([distilled(claim_about(), 0)])
    a.send(b, in_place)
    b.memories()
    assert b.store.connection.execute("SELECT max(last_id) FROM distilled").fetchone()[0] == 9


def test_a_ledger_that_vanishes_for_a_moment_does_no_harm(two):
    a, b = two
    b.store.commit([distilled(claim_about(), 0)])
    b.send(a, in_place)
    before = a.memories()
    copied = a.paths.ledger / f"{b.ledger.device}.jsonl"
    data = copied.read_bytes()
    copied.unlink()
    assert a.memories() == before
    copied.write_bytes(data)
    assert a.memories() == before


def write_ledgers(paths: Paths, lines: list[Change]) -> None:
    paths.make(paths.ledger)
    for line in lines:
        with (paths.ledger / f"{line.device}.jsonl").open("ab") as file:
            file.write(encode(line))


@given(changes())
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_store_folds_as_the_rule_says_however_the_lines_arrive(tmp_path_factory, lines):
    root = tmp_path_factory.mktemp("arrival")
    at_once, one_by_one = Paths(root / "once"), Paths(root / "slowly")
    write_ledgers(at_once, lines)
    store = MemoryStore(at_once, Ledger(at_once))
    expected = folded(lines)
    assert {m.id: m for m in store.all()} == expected
    slow = MemoryStore(one_by_one, Ledger(one_by_one))
    for device in "cab":
        write_ledgers(one_by_one, [line for line in lines if line.device == device])
        slow.catch_up()
    assert {m.id: m for m in slow.all()} == expected
    records = tuple(entry for memory in store.all() for entry in export_entries(memory))
    empty = Paths(root / "empty")
    copy = MemoryStore(empty, Ledger(empty))
    copy.commit([Change(0, "", "", "import", "import", records=records)])
    assert [e for m in copy.all() for e in export_entries(m)] == list(records)
    for made in (store, slow, copy):
        made.close()


def test_a_ledger_that_was_written_over_costs_no_memory_and_is_put_back(tmp_path: Path) -> None:
    catmem = Catmem(tmp_path)
    id = remember(
        catmem.store, "我们用 pnpm，不用 npm", project="shop", scope="project", kind="convention",
        session="s1", redact=lambda text, source: text, clock=catmem.clock,
    )  # fmt: skip
    before = catmem.store.all()
    [ledger] = catmem.ledger.files()
    ledger.write_bytes(b"\x00garbage without an end")
    catmem.close()

    again = Catmem(tmp_path)
    assert again.store.all() == before, "what the database knows stays"
    assert [(device, start) for device, start, _ in again.store.problems()] == [(ledger.stem, 0)]
    other = remember(
        again.store, "deploys go through the pipeline", project="shop", scope="project", kind="convention",
        session="s2", redact=lambda text, source: text, clock=again.clock,
    )  # fmt: skip
    assert ledger.read_bytes() == b"\x00garbage without an end", "nothing is appended to a ruin"

    assert again.store.rescue_ledgers() == 1
    assert again.store.problems() == []
    again.store.rebuild()
    assert {memory.id for memory in again.store.live()} == {id, other}
    assert any(path.read_bytes() == b"\x00garbage without an end" for path in again.paths.quarantine.iterdir())
