"""The fold: all changes that touch one memory, in any order of arrival, make one state.

The order is that of the statements, not of the writing: a claim counts from when it was said, so a session of
March that is distilled in June cannot overrule one of May. Ties go by time of writing, device and number, so that
every device folds alike. What a user wrote stands against every job, and what a user forgot comes back by the user
alone. A line counts once, and a step that is run twice adds neither a revision nor a version.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from typing import Any

from catmem.domain.change import Change
from catmem.domain.forgetting import heard
from catmem.domain.imported import take_import
from catmem.domain.memory import Claim, Memory, Revision, Scope, normal
from catmem.domain.state import State, is_restored, revision_of, stone_of, united, users_own

_ASIDE = "the user's own word stands"


def fold(id: str, changes: Iterable[Change], forgotten: Set[str] = frozenset()) -> Memory | None:
    """The state of memory `id` after `changes` (each of which touches it), or None if none of them says anything.

    `forgotten` holds the statement hashes of all tombstones: a job that says such a thing again is not heard, and a
    memory of which nothing else was ever said is a tombstone itself.
    """
    state = State(id)
    events = sorted(_events(id, (heard(c, forgotten) for c in changes)), key=lambda event: event[0])
    for number, (_, change, claim) in enumerate(events):
        if number and events[number - 1] == events[number]:
            continue
        before = state.version, state.superseded_by, state.explicit
        _apply(state, change, claim)
        if before[0] == state.version and before[1:] != (state.superseded_by, state.explicit):
            state.touch()
    # A job that is run twice says what was said at the same moment.
    return state.memory(len({claim.valid_from if claim else key[0] for key, _, claim in events}))


_Key = tuple[str, str, str, int, int]


def _events(id: str, changes: Iterable[Change]) -> Iterable[tuple[_Key, Change, Claim | None]]:
    """A line splits into what it says of this memory: its own claims, or that another claim replaces it."""
    for change in changes:
        own = [claim for claim in change.claims if claim.id == id or id in claim.supersedes]
        for number, claim in enumerate(own):
            yield (change.moment(claim), change.at, change.device, change.seq, number), change, claim
        if not own or id in change.absorbed:
            moment = change.moment_of_records(id) if change.op == "import" else change.at
            yield (moment, change.at, change.device, change.seq, len(own)), change, None


def _apply(state: State, change: Change, claim: Claim | None) -> None:
    now = state.now
    if change.op == "forget":
        _forget(state, change)
    elif now and now.status == "forgotten" and change.op != "remember":
        return
    elif change.op == "import" and claim is None:
        take_import(state, change)
    elif claim is not None and claim.id == state.id:
        if not claim.text or change.words_said(claim) < state.forgotten_at:
            _leave_unheard(state, change, claim)
        elif change.by == "user":
            _user_says(state, change, claim)
        else:
            _job_says(state, change, claim)
    elif claim is not None:
        _retire(state, change.moment(claim), change, claim.id)
    elif state.id in change.absorbed:
        _absorb(state, change)
    elif change.op == "pin" and now:
        state.amend(change.at, change.why, pinned=change.pinned)
    elif change.op == "retire":
        _retire(state, change.at, change, "")


def _open(state: State, change: Change, claim: Claim, pinned: bool) -> None:
    if not state.revisions:
        state.project, state.created_at = claim.project, claim.valid_from
    state.follow(revision_of(change, claim, "live", pinned), change.at)
    state.superseded_by, state.absorbed = "", False
    state.explicit = state.explicit or claim.explicit


def _user_says(state: State, change: Change, claim: Claim) -> None:
    """Remember, edit, restore: the user's word opens a revision whatever stood there before."""
    now = state.now
    pinned = change.op == "remember" or bool(now and now.pinned)
    if now and (change.op != "restore" or now.text == claim.text):
        claim = replace(claim, evidence=united(now.evidence, claim.evidence))
    if now and now.status == "live" and _says_the_same(now, claim):
        state.amend(change.at, change.why, by="user", pinned=pinned, evidence=claim.evidence)
        state.explicit = state.explicit or claim.explicit
    else:
        _open(state, change, claim, pinned)


def _says_the_same(now: Revision, claim: Claim) -> bool:
    return (claim.text, claim.object, claim.kind, claim.scope, claim.tags) == (
        now.text,
        now.object,
        now.kind,
        now.scope,
        now.tags,
    )


def _job_says(state: State, change: Change, claim: Claim) -> None:
    now = state.now
    if now is None:
        _open(state, change, claim, pinned=False)
    elif change.op in ("promote", "merge"):
        _consolidate(state, change, claim)
    elif normal(claim.object) == normal(now.object) or (users_own(now) and claim.text == now.text):
        _confirm(state, change, claim)
    elif users_own(now) or state.absorbed:
        _keep_aside(state, change, claim)
    else:
        # What has joined the profile stays there under its new object.
        _open(state, change, replace(claim, scope=now.scope), pinned=False)


def _consolidate(state: State, change: Change, claim: Claim) -> None:
    """Promote and merge: more evidence and a wider scope for what stands; a new wording is a new revision.

    The wording is left alone where the user chose it, or where something was said since the dream looked. Of two
    memories that absorb each other (two devices dreamt at once) the later one stays; what was retired stays retired,
    and what the user brought back stays where it was.
    """
    now = state.revisions[-1]
    evidence = united(now.evidence, claim.evidence)
    if is_restored(now):
        state.amend(change.at, evidence=evidence)
        return
    scope: Scope = "global" if "global" in (now.scope, claim.scope) else claim.scope
    keeps = users_own(now) or claim.valid_from < now.valid_from or claim.text == now.text
    if state.absorbed or (now.status == "live" and not keeps):
        if keeps:
            claim = replace(claim, kind=now.kind, subject=now.subject, predicate=now.predicate, tags=now.tags)
            claim = replace(claim, object=now.object, text=now.text)
        _open(state, change, replace(claim, scope=scope, evidence=evidence), pinned=now.pinned)
    else:
        tags = now.tags if users_own(now) else tuple(dict.fromkeys((*now.tags, *claim.tags)))
        state.amend(change.at, change.why, scope=scope, evidence=evidence, tags=tags)


def _keep_aside(state: State, change: Change, claim: Claim) -> None:
    """A job's contrary claim is kept in the history, behind the word that stands; said again, it gains evidence."""
    for place, known in enumerate(state.revisions[:-1]):
        if known.why == _ASIDE and normal(known.object) == normal(claim.object):
            evidence = united(known.evidence, claim.evidence)
            if evidence == known.evidence:
                return
            state.revisions[place] = replace(known, evidence=evidence)
            break
    else:
        aside = revision_of(change, claim, "superseded", pinned=False)
        state.version += 1
        aside = replace(aside, version=state.version, valid_to=claim.valid_from, why=_ASIDE)
        state.revisions.insert(-1, aside)
    state.touch()


def _confirm(state: State, change: Change, claim: Claim) -> None:
    """Said again: one more piece of evidence; after a replacement it is in force again, unless merged away."""
    now = state.revisions[-1]
    evidence = united(now.evidence, claim.evidence)
    if now.status == "superseded" and not state.absorbed and claim.valid_from > now.valid_to:
        _open(state, change, replace(claim, scope=now.scope, evidence=evidence), pinned=now.pinned)
    else:
        state.amend(change.at, evidence=evidence, confidence=max(now.confidence, claim.confidence))
    state.explicit = state.explicit or claim.explicit


def _retire(state: State, valid_to: str, change: Change, successor: str) -> None:
    now = state.now
    # A claim made before the present revision was said cannot replace it; only the user replaces the user's word.
    if now is None or now.status != "live" or valid_to < now.valid_from:
        return
    if users_own(now) and change.by != "user":
        return
    why = "replaced" if change.op == "restore" else change.why or "replaced"
    state.amend(change.at, why, status="superseded", valid_to=valid_to)
    state.superseded_by = successor


def _absorb(state: State, change: Change) -> None:
    now = state.now
    if now is None or state.absorbed or (users_own(now) and change.by != "user"):
        return
    state.absorbed = True
    state.superseded_by = change.claims[0].id if change.claims else ""
    if now.status == "live":
        state.amend(change.at, change.why, status="superseded", valid_to=change.at)


def _forget(state: State, change: Change) -> None:
    """Leaves a tombstone: that there was a memory of this id, and none of its words.

    It is made of the forget alone, and nothing before it counts: lines that have lost their words since, or that
    this device never saw, make no difference.
    """
    kept: Mapping[str, Any] = next(iter(change.entries(state.id)), {})
    state.version = state.stone_version = max(int(kept.get("version", 1)), state.stone_version + 1)
    state.project, state.created_at = kept.get("project", ""), kept.get("created_at", change.at)
    state.updated_at = state.forgotten_at = change.at
    state.superseded_by = ""
    state.explicit, state.absorbed, state.unheard = False, False, None
    scope, kind = kept.get("scope", "project"), kept.get("kind", "note")
    stone = stone_of(change, scope, kind, kept.get("valid_from", state.created_at))
    state.revisions = [replace(stone, version=state.version)]


def _leave_unheard(state: State, change: Change, claim: Claim) -> None:
    """Remembers that something was said whose words are forgotten; it is a tombstone if nothing else is ever said."""
    if state.unheard is None:
        stone = stone_of(change, claim.scope, claim.kind, claim.valid_from)
        state.unheard = Memory(state.id, claim.project, claim.valid_from, change.at, (stone,))
