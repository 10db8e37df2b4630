"""A session that is longer than what is looked at together: in parts it leaves what it would leave as a whole."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from catmem.distil import worker
from catmem.domain.errors import CatmemError
from catmem.domain.session import SessionRef
from catmem.store.memories import MemoryStore
from catmem.wiring import Catmem
from tests.distil.talks import talk

REF = SessionRef("orchard", "s1")

# Parts of 8 messages end before #9, and from then on before each fourth one: 13, 17, 21 …
TALK = (
    "U: Remember: our releases are tagged by the bot, never by hand.",  # 1
    "A: Noted.",
    "U: why is the upload slow",
    "A: It retries too early.",
    "U: 记住，我们的数据库统一用 Postgres。",  # 5
    "A: 好的。",
    "U: From now on always write the tests with pytest.",  # 7: taken back beyond the first seam
    "A: I propose to keep the job queue in Redis, with one stream per tenant.",  # 8: accepted beyond it
    "U: Yes, let's do that.",  # 9
    "A: Done.",
    "U: Scratch that about pytest, forget it.",  # 11
    "A: All right.",
    "U: and where is the log of the worker",  # 13
    "A: In var/log.",
    "U: Remember: our releases are tagged by the bot, never by hand.",  # 15: said again
    "A: I know.",
    "U: Remember: the upload timeout is 30 seconds.",  # 17
    "A: Noted.",
    "U: what does this trace mean",
    "A: A timeout of the bucket.",
    "U: Remember: the upload timeout is 60 seconds.",  # 21: in place of #17
    "A: Understood.",
    "U: thanks",
    "A: You are welcome.",
    "U: 以后提交信息都用英文写。",  # 25
    "A: 好的。",
)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "MOST_MESSAGES", 8)


def _kept(root: Path) -> Catmem:
    catmem = Catmem(root)
    catmem.history.append(REF, talk(*TALK), client="test")
    return catmem


def _remembered(store: MemoryStore) -> set[tuple[str, str, frozenset[int]]]:
    """What is in force, with the messages that say so."""
    store.catch_up()
    live = (memory.now for memory in store.live(REF.project) if memory.now.status == "live")
    return {(now.text, now.kind, frozenset(e.message_id for e in now.evidence)) for now in live}


def _whole(root: Path) -> set[tuple[str, str, frozenset[int]]]:
    catmem = _kept(root)
    assert catmem.distiller.run(everything=True).distilled == 1
    assert len(_lines(catmem)) == 1
    return _remembered(catmem.store)


def _lines(catmem: Catmem) -> list[tuple[int, int]]:
    """The ranges that the ledger says were distilled."""
    changes = (line.change for path in catmem.ledger.files() for line in catmem.ledger.read(path))
    jobs = (change.job for change in changes if change and change.op == "distilled")
    return [(job.first_id, job.last_id) for job in jobs if job]


class TestInParts:
    def test_leave_what_the_whole_leaves(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = _whole(tmp_path / "whole")
        assert len(whole) >= 4
        monkeypatch.setattr(worker, "MOST_MESSAGES", 8)
        parted = _kept(tmp_path / "parted")
        assert parted.distiller.run(everything=True).distilled == 1
        assert _remembered(parted.store) == whole

    def test_settle_every_message_once(self, tmp_path: Path, small: None) -> None:
        catmem = _kept(tmp_path)
        catmem.distiller.run(everything=True)
        ranges = _lines(catmem)
        assert len(ranges) > 3
        assert ranges[0][0] == 1
        assert ranges[-1][1] == len(TALK)
        assert all(before[1] + 1 == after[0] for before, after in pairwise(ranges))

    def test_run_again_change_nothing(self, tmp_path: Path, small: None) -> None:
        catmem = _kept(tmp_path)
        catmem.distiller.run(everything=True)
        before = _lines(catmem), _remembered(catmem.store)
        assert catmem.distiller.run(everything=True).distilled == 0
        assert (_lines(catmem), _remembered(catmem.store)) == before

    def test_what_is_taken_back_beyond_a_seam_is_gone(self, tmp_path: Path, small: None) -> None:
        catmem = _kept(tmp_path)
        catmem.distiller.run(everything=True)
        assert not [text for text, _, _ in _remembered(catmem.store) if "pytest" in text]

    def test_what_is_accepted_beyond_a_seam_is_decided(self, tmp_path: Path, small: None) -> None:
        catmem = _kept(tmp_path)
        catmem.distiller.run(everything=True)
        decided = [said for text, kind, said in _remembered(catmem.store) if kind == "decision" and "Redis" in text]
        assert decided == [frozenset({8, 9})]


@pytest.mark.usefixtures("small")
class TestStoppedBetweenParts:
    @pytest.mark.parametrize("parts", [1, 2, 3])
    def test_goes_on_where_it_was(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: int) -> None:
        unbroken = _kept(tmp_path / "unbroken")
        unbroken.distiller.run(everything=True)
        broken = _kept(tmp_path / "broken")
        with monkeypatch.context() as patched:
            _fail_after(patched, parts)
            assert broken.distiller.run(everything=True).failed == 1
        assert len(_lines(broken)) == parts
        again = Catmem(tmp_path / "broken")  # another process
        assert again.distiller.run(everything=True).distilled == 1
        assert _lines(again) == _lines(unbroken)
        assert _remembered(again.store) == _remembered(unbroken.store)

    def test_waits_for_the_next_run(self, tmp_path: Path) -> None:
        catmem = _kept(tmp_path)
        asked = iter((False, True))  # before the session, and after its first part
        done = catmem.distiller.run(everything=True, stop=lambda: next(asked, True))
        assert (done.distilled, done.pending, len(_lines(catmem))) == (0, 1, 1)
        assert catmem.distiller.run(everything=True).distilled == 1


def _fail_after(patched: pytest.MonkeyPatch, parts: int) -> None:
    """The process dies before the next part is in the ledger."""
    settled = 0
    propose = worker.propose

    def failing(*arguments: object, **options: object) -> object:
        nonlocal settled
        settled += 1
        if settled > parts:
            raise CatmemError("killed", "被终止")
        return propose(*arguments, **options)  # type: ignore[arg-type]

    patched.setattr(worker, "propose", failing)
