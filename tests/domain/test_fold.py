"""The fold: order of arrival never matters, the later statement wins, the user wins over jobs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catmem.domain.change import Change
from catmem.domain.change_record import change_from_record, change_to_record
from catmem.domain.fold import fold
from catmem.domain.forgetting import tombstones_of, without_words
from catmem.domain.memory import Memory, statement_hash
from catmem.store.records import export_entries
from tests.domain.samples import changes, claim_about, distilled, forget, moment, said, text_of


def folded(lines: Sequence[Change]) -> dict[str, Memory]:
    """All memories of some lines, as the store makes them: every touched id, all tombstones."""
    hashes = tombstones_of(lines).hashes
    ids = sorted({id for line in lines for id in line.touches()})
    found = {id: fold(id, [line for line in lines if id in line.touches()], hashes) for id in ids}
    return {id: memory for id, memory in found.items() if memory}


def one(*lines: Change) -> Memory:
    memories = folded(lines)
    assert len(memories) == 1
    return next(iter(memories.values()))


@given(changes(), st.randoms())
@settings(max_examples=80, deadline=None)
def test_any_order_of_arrival_gives_the_same_memories(lines, random):
    arrived = list(lines)
    random.shuffle(arrived)
    assert folded(arrived) == folded(lines)


@given(changes(), st.lists(st.sampled_from("xyz"), min_size=14, max_size=14))
@settings(max_examples=50, deadline=None)
def test_any_partition_of_the_lines_over_devices_gives_the_same_memories(lines, devices):
    moved = [
        dataclasses.replace(line, device=d, seq=n) for n, (line, d) in enumerate(zip(lines, devices, strict=False), 1)
    ]
    assert folded(moved) == folded(lines)


@given(changes())
@settings(max_examples=50, deadline=None)
def test_a_line_that_arrives_twice_counts_once(lines):
    assert folded([*lines, *lines]) == folded(lines)


@given(changes())
@settings(max_examples=100, deadline=None)
def test_lines_that_lost_their_words_give_the_same_memories(lines):
    stones = tombstones_of(lines)
    assert folded([without_words(line, stones) for line in lines]) == folded(lines)


@given(changes())
@settings(max_examples=50, deadline=None)
def test_a_line_reads_back_as_what_it_was(lines):
    for line in lines:
        assert change_from_record(change_to_record(line)) == line


@given(changes())
@settings(max_examples=80, deadline=None)
def test_versions_rise_along_the_history_and_the_present_is_the_last(lines):
    for memory in folded(lines).values():
        versions = [revision.version for revision in memory.revisions]
        assert versions == sorted(set(versions))
        assert memory.version == max(versions)
        assert all(r.status != "live" for r in memory.revisions[:-1])


@given(changes())
@settings(max_examples=80, deadline=None)
def test_one_more_line_never_lowers_a_version_without_a_forget(lines):
    kept = [line for line in lines if line.op != "forget"]
    for length in range(1, len(kept)):
        before, after = folded(kept[:length]), folded(kept[: length + 1])
        new = kept[length]
        for id, memory in before.items():
            if new.op != "distilled":
                # A statement that was said earlier may arrive later, and make other events void.
                assert after[id].version >= memory.version
            if after[id] != memory and new.op != "distilled":
                assert after[id].version > memory.version


@given(changes())
@settings(max_examples=80, deadline=None)
def test_a_job_that_is_run_twice_changes_nothing(lines):
    before = folded(lines)
    last = lines[-1]
    if last.by == "user":
        return
    again = dataclasses.replace(last, at=moment(1000), seq=last.seq + 100)
    after = folded([*lines, again])
    assert {id: m.version for id, m in after.items()} == {id: m.version for id, m in before.items()}
    assert {id: m.revisions for id, m in after.items()} == {id: m.revisions for id, m in before.items()}


@given(changes())
@settings(max_examples=100, deadline=None)
def test_an_import_of_an_export_is_the_same_export(lines):
    memories = folded(lines)
    entries = {id: export_entries(memory) for id, memory in memories.items()}
    records = tuple(entry for of_one in entries.values() for entry in of_one)
    line = Change(1, moment(5000), "new", "import", "import", records=records)
    line = change_from_record(change_to_record(line))
    back = folded([line])
    assert {id: export_entries(memory) for id, memory in back.items()} == entries
    twice = folded([line, dataclasses.replace(line, seq=2, at=moment(5001))])
    assert {id: export_entries(memory) for id, memory in twice.items()} == entries


# -- what must hold, by example --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("old", "new"), [("yarn", "pnpm"), ("npm", "包管理用 bun")])
def test_a_later_statement_supersedes_and_the_earlier_stays_with_its_end(old, new):
    first, second = distilled(claim_about(0, old, 10), 20, 1), distilled(claim_about(0, new, 30, session="s2"), 40, 2)
    memory = one(first, second)
    assert [r.status for r in memory.revisions] == ["superseded", "live"]
    assert memory.revisions[0].object == old and memory.revisions[0].valid_to == moment(30)
    assert memory.now.object == new and memory.version == 2


def test_an_old_session_distilled_late_does_not_overrule_a_newer_one():
    newer = distilled(claim_about(0, "pnpm", 30), 40, 1)
    late = distilled(claim_about(0, "yarn", 10, session="s2"), 90, 2)
    memory = one(newer, late)
    assert memory.now.object == "pnpm" and memory.revisions[0].object == "yarn"


def test_a_stamp_from_the_future_cannot_overtake_the_users_later_word():
    future = distilled(claim_about(0, "yarn", 900), 20, 1)
    edit = said("edit", claim_about(0, "pnpm", 30), 30, 2)
    assert one(future, edit).now.object == "pnpm"
    pin = Change(2, moment(30), "a", "pin", "user", ids=(claim_about().id,))
    assert one(future, pin).now.pinned


def test_the_same_statement_of_another_session_is_evidence_not_a_row():
    memory = one(distilled(claim_about(session="s1"), 20, 1), distilled(claim_about(at=5, session="s2"), 40, 2))
    assert len(memory.revisions) == 1 and memory.now.confirmations == 2 and memory.version == 2


@pytest.mark.parametrize("op", ["edit", "remember", "restore"])
def test_the_users_word_stands_against_a_later_job(op):
    user = said(op, claim_about(0, "pnpm", 30), 30, 1)
    job = distilled(claim_about(0, "yarn", 60, session="s2"), 70, 2)
    memory = one(user, job)
    assert memory.now.object == "pnpm" and memory.now.status == "live"
    assert [r.object for r in memory.revisions] == ["yarn", "pnpm"], "the contrary statement is in the history"
    again = one(user, job, dataclasses.replace(job, seq=3, at=moment(80)))
    assert again.version == memory.version and len(again.revisions) == 2


def test_a_pin_holds_and_an_unpinned_memory_is_the_jobs_again():
    first = distilled(claim_about(0, "pnpm", 10), 20, 1)
    pin = Change(2, moment(30), "a", "pin", "user", ids=(claim_about().id,))
    unpin = dataclasses.replace(pin, seq=3, at=moment(40), pinned=False)
    other = distilled(claim_about(0, "yarn", 60, session="s2"), 70, 4)
    assert one(first, pin, other).now.object == "pnpm"
    assert one(first, pin, unpin, other).now.object == "yarn"
    assert one(first, pin, dataclasses.replace(pin, seq=3, at=moment(40))).version == 2, "pinned twice is pinned"


def test_a_job_neither_retires_nor_replaces_nor_absorbs_what_the_user_wrote():
    mine = said("remember", claim_about(0, "pnpm", 10), 10, 1)
    id = claim_about().id
    retire = Change(2, moment(20), "a", "retire", "dream", ids=(id,))
    replacing = distilled(claim_about(1, "小明", 30, supersedes=(id,)), 30, 3)
    merge = said("merge", claim_about(2, "npm", 40), 40, 4, absorbed=(id,))
    assert folded([mine, retire, replacing, merge])[id].now.status == "live"


def test_the_user_replaces_and_retires_what_the_user_wrote():
    mine = said("remember", claim_about(0, "pnpm", 10), 10, 1)
    id = claim_about().id
    newer = said("remember", claim_about(1, "小明", 30, supersedes=(id,)), 30, 2)
    assert folded([mine, newer])[id].now.status == "superseded"
    assert folded([mine, newer])[id].superseded_by == newer.claims[0].id
    retire = Change(2, moment(20), "a", "retire", "user", ids=(id,))
    assert one(mine, retire).now.status == "superseded"


def test_remembered_twice_is_remembered_once():
    memory = one(said("remember", claim_about(at=10), 10, 1), said("remember", claim_about(at=50), 50, 2))
    assert len(memory.revisions) == 1 and memory.now.pinned


@pytest.mark.parametrize("at", [5, 15, 90])
def test_forgotten_does_not_come_back_by_a_job_whenever_it_was_said(at):
    claim = claim_about(0, "pnpm", 10)
    gone = forget([claim.id], [claim.text], 50, 2)
    back = distilled(claim_about(0, "pnpm", at, session="s2"), 95, 3)
    other_words = distilled(claim_about(0, "yarn", at, session="s2"), 96, 4)
    memory = folded([distilled(claim, 20), gone, back, other_words])[claim.id]
    assert memory.now.status == "forgotten" and not memory.now.text and not memory.now.evidence


def test_a_forgotten_statement_does_not_come_back_under_another_id_or_by_an_import():
    claim, twin = claim_about(0, "pnpm", 10), claim_about(0, "pnpm", 60, many=True)
    gone = forget([claim.id], [claim.text], 50, 2)
    assert folded([distilled(claim, 20), gone, distilled(twin, 70, 3)])[twin.id].now.status == "forgotten"
    entries = tuple(export_entries(one(distilled(twin, 70))))
    brought = Change(3, moment(80), "a", "import", "import", records=entries)
    memory = folded([distilled(claim, 20), gone, brought])[twin.id]
    assert memory.now.status == "forgotten" and not memory.now.text


def test_the_user_brings_back_what_the_user_forgot():
    claim = claim_about(0, "pnpm", 10)
    gone = forget([claim.id], [claim.text], 50, 2)
    memory = one(distilled(claim, 20), gone, said("remember", claim_about(0, "pnpm", 60), 60, 3))
    assert memory.now.status == "live" and memory.now.text == claim.text and memory.version > 50


def test_forgetting_a_replacement_does_not_revive_what_it_replaced():
    old, new = claim_about(0, "yarn", 10, many=True), claim_about(0, "pnpm", 30, many=True)
    new = dataclasses.replace(new, supersedes=(old.id,))
    lines = [distilled(old, 20, 1), distilled(new, 40, 2), forget([new.id], [new.text], 50, 3)]
    assert folded(lines)[old.id].now.status == "superseded"
    stones = tombstones_of(lines)
    assert folded([without_words(line, stones) for line in lines])[old.id].now.status == "superseded"


def test_forgetting_a_merged_memory_leaves_a_fold_that_works():
    kept, other = claim_about(0, "pnpm", 10), claim_about(2, "pnpm", 12)
    merge = said("merge", kept, 40, 3, absorbed=(other.id,))
    lines = [distilled(kept, 20, 1), distilled(other, 21, 2), merge, forget([kept.id], [kept.text], 50, 4)]
    memories = folded([without_words(line, tombstones_of(lines)) for line in lines])
    assert memories[kept.id].now.status == memories[other.id].now.status == "forgotten"


def test_a_promotion_widens_the_scope_and_absorbs_its_like():
    kept, other = claim_about(1, "阿猫", 10), claim_about(2, "阿猫", 12, session="s2")
    wide = dataclasses.replace(kept, scope="global", evidence=kept.evidence + other.evidence)
    promote = said("promote", wide, 40, 3, absorbed=(other.id,))
    lines = [distilled(kept, 20, 1), distilled(other, 21, 2), promote]
    memories = folded(lines)
    assert memories[kept.id].now.scope == "global" and memories[kept.id].now.confirmations == 2
    assert memories[other.id].now.status == "superseded" and memories[other.id].superseded_by == kept.id
    twice = folded([*lines, dataclasses.replace(promote, seq=4, at=moment(41))])
    assert {m.version for m in twice.values()} == {m.version for m in memories.values()}
    later = distilled(claim_about(2, "阿猫", 60, session="s3"), 70, 5)
    assert folded([*lines, later])[other.id].now.status == "superseded", "what was merged away does not return"
    new_object = distilled(claim_about(1, "狗", 60, session="s3"), 70, 5)
    assert folded([*lines, new_object])[kept.id].now.scope == "global", "the profile keeps its place"


def test_two_devices_that_merge_crosswise_lose_nothing():
    a, b = claim_about(0, "pnpm", 10), claim_about(2, "pnpm", 12)
    lines = [distilled(a, 20, 1), distilled(b, 21, 2)]
    lines += [said("merge", a, 40, 1, "x", absorbed=(b.id,)), said("merge", b, 41, 1, "y", absorbed=(a.id,))]
    assert sorted(m.now.status for m in folded(lines).values()) == ["live", "superseded"]


def test_a_dream_does_not_reword_what_was_said_since_it_looked():
    first = distilled(claim_about(0, "yarn", 10), 20, 1)
    newer = distilled(claim_about(0, "pnpm", 30, session="s2"), 35, 1, "b")
    promote = said("promote", dataclasses.replace(claim_about(0, "yarn", 10), scope="global"), 40, 2)
    memory = one(first, newer, promote)
    assert memory.now.object == "pnpm" and memory.now.scope == "global"
    assert memory.revisions[0].object == "yarn"


def test_a_merge_that_rewords_keeps_the_earlier_words_as_a_revision():
    first = distilled(claim_about(0, "pnpm", 10), 20, 1)
    reworded = claim_about(0, "pnpm", 30, text="packages: pnpm, 不用 npm")
    memory = one(first, said("merge", reworded, 40, 2))
    assert [r.text for r in memory.revisions] == [text_of("project", "pnpm"), reworded.text]


def test_what_was_retired_returns_when_it_is_said_again_later_but_not_by_an_older_saying():
    first = distilled(claim_about(0, "pnpm", 10), 20, 1)
    retire = Change(2, moment(30), "a", "retire", "dream", ids=(claim_about().id,))
    assert one(first, retire).now.valid_to == moment(30)
    older = distilled(claim_about(0, "pnpm", 25, session="s2"), 50, 3)
    assert one(first, retire, older).now.status == "superseded"
    newer = distilled(claim_about(0, "pnpm", 40, session="s2"), 50, 3)
    memory = one(first, retire, newer)
    assert memory.now.status == "live" and memory.now.confirmations == 2


def test_an_import_counts_from_when_its_statement_was_made():
    entries = tuple(export_entries(one(distilled(claim_about(0, "yarn", 10), 20))))
    brought = Change(1, moment(500), "b", "import", "import", records=entries)
    newer = distilled(claim_about(0, "pnpm", 30), 40, 1)
    assert one(newer, brought).now.object == "pnpm"
    older = distilled(claim_about(0, "npm", 5), 40, 1)
    assert one(older, brought).now.object == "yarn"


def test_hashes_see_through_spelling_but_a_quote_elsewhere_loses_its_words_too():
    assert statement_hash("We use PNPM。") == statement_hash("  we  use pnpm. ")
    claim = claim_about(0, "pnpm", 10)
    other = dataclasses.replace(claim_about(1, "阿猫", 10), evidence=claim.evidence)
    lines = [distilled(claim, 20, 1), distilled(other, 21, 2), forget([claim.id], [claim.text], 50, 3)]
    memory = folded(lines)[other.id]
    assert memory.now.status == "live" and memory.now.evidence[0].quote == "" and memory.now.evidence[0].session == "s1"
