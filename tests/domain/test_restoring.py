"""The way back: what comes into force again and what gives way, and that nothing but the user undoes it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catmem.domain.change import Change
from catmem.domain.errors import BadInput, NotFound
from catmem.domain.forgetting import tombstones_of, without_words
from catmem.domain.history import says_other
from catmem.domain.memory import Memory, memory_id
from catmem.domain.restoring import Restoring, restoring
from catmem.domain.state import is_restored
from catmem.dream.promote import candidates
from catmem.store.records import export_entries
from tests.domain.samples import changes, claim_about, distilled, forget, moment, said
from tests.domain.test_fold import folded

LATER = 2000


def way_back(lines: Sequence[Change], id: str, **how: object) -> Restoring | None:
    memories = folded(lines)
    touching = sorted((line for line in lines if id in line.touches()), key=lambda line: line.at)
    hashes = tombstones_of(lines).hashes
    return restoring(memories[id], touching, hashes, memories.get, **how)  # type: ignore[arg-type]


def reverted(lines: Sequence[Change], id: str, at: int = LATER, seq: int = 900, **how: object) -> list[Change]:
    """The lines with that of the restore."""
    way = way_back(lines, id, **how)
    assert way is not None
    return [*lines, dataclasses.replace(way.change(moment(at)), seq=seq, device="a")]


@st.composite
def jobs_later(draw: st.DrawFn) -> list[Change]:
    """What any other device and any background step may write after the restore, of any time."""
    lines = [line for line in draw(changes(8)) if line.by != "user"]
    moved = []
    for number, line in enumerate(lines, 1):
        late = draw(st.booleans())
        claims = tuple(dataclasses.replace(c, valid_from=moment(LATER + number) if late else c.valid_from)
                       for c in line.claims)  # fmt: skip
        moved.append(dataclasses.replace(line, at=moment(LATER + 10 * number), device="z", seq=number, claims=claims))
    return moved


def _was_forgotten(way: Restoring, lines: Sequence[Change]) -> bool:
    return any(memory.id in tombstones_of(lines).last for memory, _ in way.back)


@given(changes(), jobs_later(), st.integers(0, 5), st.randoms())
@settings(max_examples=150, deadline=None)
def test_what_was_brought_back_stands_against_every_job_in_any_order_of_arrival(lines, jobs, which, random):
    memories = folded(lines)
    ways = {}
    for id in memories:
        try:
            ways[id] = way_back(lines, id)
        except (BadInput, NotFound):
            continue
    # Remembered after a forget, as these samples are not, a statement has evidence of after it.
    found = sorted(id for id, way in ways.items() if way and not _was_forgotten(way, lines))
    if not found:
        return
    id = found[which % len(found)]
    way, done = ways[id], reverted(lines, id)
    told = {memory.id: revision for memory, revision in way.back}
    after = folded(done)
    for restored, revision in told.items():
        assert is_restored(after[restored].now) and not says_other(after[restored].now, revision)
    assert all(after[memory.id].now.status == "superseded" for memory in way.out)
    assert way_back(done, id) is None, "run twice it changes nothing"

    # What the jobs did is imported once more, as it stood before and as it stands.
    exports = [export_entries(memory) for state in (memories, after) for memory in state.values()]
    brought = [Change(1 + n, moment(LATER + 500 + n), "y", "import", "import", records=tuple(e))
               for n, e in enumerate(exports)]  # fmt: skip
    arrived = [*done, *jobs, *lines, *brought]
    random.shuffle(arrived)
    end = folded(arrived)
    assert end == folded([*done, *jobs, *brought])
    for restored, revision in told.items():
        assert is_restored(end[restored].now) and not says_other(end[restored].now, revision)
        assert end[restored] not in candidates(end.values())


@given(changes(), st.integers(0, 5), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_restore_that_lost_its_words_gives_the_same_memories(lines, which, known):
    ids = sorted(folded(lines)) or [""]
    try:
        done = reverted(lines, ids[which % len(ids)])
    except (BadInput, NotFound, AssertionError, KeyError):
        return
    # Another device forgets it, before it has seen the restore or after it.
    id = done[-1].claims[0].id
    texts = [revision.text for revision in folded(lines)[id].revisions]
    done.append(forget([id], texts, LATER + (10 if known else -10), seq=901, device="b"))
    stones = tombstones_of(done)
    assert folded(done)[id].now.status == "forgotten"
    bare = [without_words(line, stones) for line in done]
    assert folded(bare) == folded(done)
    said_of_it = {claim.text for line in bare if line.op == "restore" for claim in line.claims if claim.id == id}
    assert said_of_it == {""}


def replaced() -> tuple[list[Change], str, str]:
    """One memory that another one replaced."""
    old, new = claim_about(0, "yarn", 10, many=True), claim_about(0, "包管理用 bun", 30, many=True, session="s2")
    new = dataclasses.replace(new, supersedes=(old.id,))
    return [distilled(old, 20, 1), distilled(new, 40, 2)], old.id, new.id


def test_what_another_memory_replaced_takes_its_place_again():
    lines, old, new = replaced()
    done = reverted(lines, old)
    after = folded(done)
    assert after[old].now.status == "live" and after[old].superseded_by == ""
    assert (after[new].now.status, after[new].superseded_by, after[new].now.why) == ("superseded", old, "replaced")
    again = folded([*done, *(dataclasses.replace(line, at=moment(3000), seq=n) for n, line in enumerate(lines, 950))])
    assert again == after, "the same sessions distilled again"


def test_both_may_stand_and_each_can_be_taken_back_for_the_other():
    lines, old, new = replaced()
    both = folded(reverted(lines, old, beside=True))
    assert both[old].now.status == both[new].now.status == "live"
    done = reverted(lines, old)
    there = folded(reverted(done, new, LATER + 10, 901))
    assert there[new].now.status == "live" and there[old].now.status == "superseded"


def test_the_last_of_those_that_replaced_one_another_gives_way():
    lines, old, new = replaced()
    third = dataclasses.replace(claim_about(0, "npm", 50, many=True, session="s3"), supersedes=(new,))
    after = folded(reverted([*lines, distilled(third, 60, 3)], old))
    assert {id: memory.now.status for id, memory in after.items()} == {
        old: "live", new: "superseded", third.id: "superseded"
    }  # fmt: skip


def test_the_earlier_statement_of_the_same_memory_comes_back_with_its_own_evidence():
    lines = [distilled(claim_about(0, "yarn", 10), 20, 1), distilled(claim_about(0, "pnpm", 30, session="s2"), 40, 2)]
    id = claim_about().id
    (memory,) = folded(reverted(lines, id)).values()
    assert memory.now.object == "yarn" and {e.session for e in memory.now.evidence} == {"s1"}
    assert [r.object for r in memory.revisions] == ["yarn", "pnpm", "yarn"]
    assert way_back(lines, id, version=2) is None, "it says so"
    with pytest.raises(NotFound, match=r"no revision 7.*v1, v2"):
        way_back(lines, id, version=7)
    named = folded(reverted(reverted(lines, id), id, LATER + 10, 901, version=2))[id]
    assert named.now.object == "pnpm" and is_restored(named.now)


def test_what_was_merged_away_stands_again_beside_what_took_it_in():
    one, other = claim_about(0, "pnpm", 10, many=True), claim_about(0, "yarn", 12, many=True)
    merge = said("merge", one, 40, 3, absorbed=(other.id,))
    after = folded(reverted([distilled(one, 20, 1), distilled(other, 21, 2), merge], other.id))
    assert {memory.now.status for memory in after.values()} == {"live"}


def test_a_promotion_is_taken_back_and_what_it_took_in_holds_in_its_project_again():
    one, other = claim_about(0, "pnpm", 10, kind="preference"), claim_about(2, "pnpm", 12, kind="preference")
    lines = [distilled(one, 20, 1), distilled(other, 21, 2)]
    promote = said("promote", dataclasses.replace(one, scope="global"), 40, 3, absorbed=(other.id,))
    after = folded(reverted([*lines, promote], one.id))
    assert [(m.now.status, m.now.scope, m.project) for m in sorted(after.values(), key=lambda m: m.project)] == [
        ("live", "project", "blog"), ("live", "project", "shop")
    ]  # fmt: skip
    assert candidates(after.values()) == []


def test_a_promotion_elsewhere_or_after_an_import_does_not_move_what_was_brought_back():
    one = claim_about(0, "pnpm", 10, kind="preference")
    promote = said("promote", dataclasses.replace(one, scope="global"), 40, 3)
    done = reverted([distilled(one, 20, 1), promote], one.id)
    more = dataclasses.replace(folded(done)[one.id].now, evidence=claim_about(0, "pnpm", 15, session="s9").evidence)
    there = dataclasses.replace(folded(done)[one.id], revisions=(more,))
    brought = Change(1, moment(LATER + 5), "y", "import", "import", records=tuple(export_entries(there)))
    again = dataclasses.replace(promote, at=moment(LATER + 10), device="z", seq=1)
    memory = folded([*done, brought, again])[one.id]
    assert memory.now.confirmations == 2 and memory.now.scope == "project" and is_restored(memory.now)


def test_a_question_comes_back_and_its_answer_stays():
    question, answer = claim_about(0, "pnpm", 10, kind="question", many=True), claim_about(1, "pnpm", 30)
    done = said("merge", dataclasses.replace(answer, supersedes=(question.id,)), 40, 3, why="done with")
    after = folded(reverted([distilled(question, 20, 1), distilled(answer, 35, 2), done], question.id))
    assert {memory.now.status for memory in after.values()} == {"live"}


def test_the_users_own_later_edit_is_taken_back_too():
    lines = [distilled(claim_about(0, "pnpm", 10), 20, 1), said("edit", claim_about(0, "yarn", 30), 30, 2)]
    assert folded(reverted(lines, claim_about().id))[claim_about().id].now.object == "pnpm"


def test_what_is_forgotten_or_never_said_otherwise_cannot_come_back():
    claim = claim_about(0, "pnpm", 10)
    lines = [distilled(claim, 20, 1)]
    with pytest.raises(NotFound, match="never said anything else"):
        way_back(lines, claim.id)
    gone = [*lines, forget([claim.id], [claim.text], 50, 2)]
    with pytest.raises(BadInput, match="words are gone") as refused:
        way_back(gone, claim.id)
    assert "已忘记" in refused.value.zh


def test_a_restore_by_a_device_that_had_not_seen_the_forget_does_not_undo_it():
    lines = [distilled(claim_about(0, "yarn", 10), 20, 1), distilled(claim_about(0, "pnpm", 30), 40, 2)]
    id = memory_id("project", "shop", "project", "package manager")
    done = reverted(lines, id)
    gone = forget([id], [claim.text for line in lines for claim in line.claims], 100, 1, "b")
    memory: Memory = folded([*done, gone])[id]
    assert memory.now.status == "forgotten" and not memory.now.text


@pytest.mark.parametrize("at", [10, 500])
def test_a_restore_says_nothing_anew_however_late_its_evidence(at):
    """Only a `remember` after the forget is heard; and the words of a restore are as old as the first that was said."""
    claim = claim_about(0, "pnpm", at)
    gone = forget([claim.id], ["something else"], 100, 1, "b")
    lines = [gone, said("restore", claim, 600, 2)]
    assert folded(lines)[claim.id].now.status == "forgotten"
    anew = said("remember", claim_about(0, "yarn", 300), 300, 3)
    memory = folded([*lines, anew])[claim.id]
    assert memory.now.object == ("yarn" if at < 100 else "pnpm")
    bare = [without_words(line, tombstones_of(lines)) for line in [*lines, anew]]
    assert folded(bare)[claim.id] == memory and (bare[1].claims[0].text == "") == (at < 100)


def test_an_import_of_what_was_brought_back_leaves_it_so():
    lines, old, _ = replaced()
    done = reverted(lines, old)
    records = tuple(entry for memory in folded(done).values() for entry in export_entries(memory))
    brought = Change(1, moment(5000), "b", "import", "import", records=records)
    assert folded([*done, brought])[old].now.status == "live"
    # In an empty directory, too, where the sessions are distilled again after it.
    elsewhere = folded([brought, *(dataclasses.replace(line, device="b", at=moment(6000)) for line in lines)])
    assert elsewhere[old].now.status == "live"
