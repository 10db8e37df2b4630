"""The fold: all changes that touch one memory, in any order of arrival, make one state.

The order is that of the statements, not of the writing: a claim counts from when it was said, so a session of
March that is distilled in June cannot overrule one of May. Ties go by time of writing, device and number, so that
every device folds alike. What a user wrote stands against every job, and what a user forgot comes back by the user
alone. A line counts once, and a step that is run twice adds neither a revision nor a version.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any

from catmem.domain.change import Change, evidence_from_record
from catmem.domain.forgetting import heard, is_wordless
from catmem.domain.memory import Claim, Evidence, Kind, Memory, Revision, Scope, Status, normal

_ASIDE = "the user's own word stands"


def fold(id: str, changes: Iterable[Change], forgotten: Set[str] = frozenset()) -> Memory | None:
    """The state of memory `id` after `changes` (each of which touches it), or None if none of them says anything.

    `forgotten` holds the statement hashes of all tombstones: a job that says such a thing again is not heard, and a
    memory of which nothing else was ever said is a tombstone itself.
    """
    state = _State(id)
    events = {key: (change, claim) for key, change, claim in _events(id, (heard(c, forgotten) for c in changes))}
    for key in sorted(events):
        before = state.version, state.superseded_by, state.explicit
        _apply(state, *events[key])
        if before[0] == state.version and before[1:] != (state.superseded_by, state.explicit):
            state.touch()
    return state.memory(len(events))


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


@dataclass(slots=True)
class _State:
    id: str
    project: str = ""
    created_at: str = ""
    updated_at: str = ""
    version: int = 0
    revisions: list[Revision] = field(default_factory=list)
    superseded_by: str = ""
    explicit: bool = False
    absorbed: bool = False
    stone_version: int = 0
    unheard: Memory | None = None

    def memory(self, events: int) -> Memory | None:
        """The memory; `events` bounds its versions, each event making two at the most."""
        if not self.revisions:
            stone = self.unheard
            return stone and replace(stone, revisions=(replace(stone.now, version=2 * events + 1),))
        return Memory(
            self.id,
            self.project,
            self.created_at,
            self.updated_at,
            tuple(self.revisions),
            self.superseded_by,
            self.explicit,
        )

    @property
    def now(self) -> Revision | None:
        return self.revisions[-1] if self.revisions else None

    def follow(self, revision: Revision, at: str) -> None:
        """Closes the present revision and opens the next."""
        if self.now and self.now.status == "live":
            self.revisions[-1] = replace(self.now, status="superseded", valid_to=revision.valid_from)
        self.version += 1
        self.revisions.append(replace(revision, version=self.version))
        self.updated_at = max(self.updated_at, at)

    def touch(self) -> None:
        """A new version, which is always that of the present revision."""
        self.version += 1
        self.revisions[-1] = replace(self.revisions[-1], version=self.version)

    def amend(self, at: str, why: str = "", **fields: Any) -> None:
        """The same statement with more evidence, a pin, a wider scope: a new version, not a new revision.

        What changes nothing (a step run twice) is no version either, whatever reason it gives.
        """
        now = self.revisions[-1]
        amended = replace(now, **fields)
        if amended != now:
            self.revisions[-1] = replace(amended, why=why or now.why)
            self.touch()
            self.updated_at = max(self.updated_at, at)


def _apply(state: _State, change: Change, claim: Claim | None) -> None:
    now = state.now
    if change.op == "forget":
        _forget(state, change)
    elif now and now.status == "forgotten" and change.op not in ("remember", "restore"):
        return
    elif change.op == "import" and claim is None:
        _rehydrate(state, change)
    elif claim is not None and claim.id == state.id:
        if not claim.text:
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


def _revision(change: Change, claim: Claim, status: Status, pinned: bool) -> Revision:
    """The revision that a claim opens; its version is given where it joins the others."""
    return Revision(
        version=0,
        status=status,
        scope=claim.scope,
        kind=claim.kind,
        subject=claim.subject,
        predicate=claim.predicate,
        object=claim.object,
        text=claim.text,
        tags=claim.tags,
        confidence=claim.confidence,
        pinned=pinned,
        at=change.at,
        by=change.by,
        why=change.why,
        valid_from=claim.valid_from,
        evidence=_united((), claim.evidence),
    )


def _open(state: _State, change: Change, claim: Claim, pinned: bool) -> None:
    if not state.revisions:
        state.project, state.created_at = claim.project, claim.valid_from
    state.follow(_revision(change, claim, "live", pinned), change.at)
    state.superseded_by, state.absorbed = "", False
    state.explicit = state.explicit or claim.explicit


def _user_says(state: _State, change: Change, claim: Claim) -> None:
    """Remember, edit, restore: the user's word opens a revision whatever stood there before."""
    now = state.now
    pinned = change.op == "remember" or bool(now and now.pinned)
    evidence = _united(now.evidence, claim.evidence) if now else claim.evidence
    if now and now.status == "live" and _says_the_same(now, claim):
        state.amend(change.at, change.why, by="user", pinned=pinned, evidence=evidence)
        state.explicit = state.explicit or claim.explicit
    else:
        _open(state, change, replace(claim, evidence=evidence), pinned)


def _says_the_same(now: Revision, claim: Claim) -> bool:
    return (claim.text, claim.object, claim.kind, claim.scope, claim.tags) == (
        now.text,
        now.object,
        now.kind,
        now.scope,
        now.tags,
    )


def _job_says(state: _State, change: Change, claim: Claim) -> None:
    now = state.now
    if now is None:
        _open(state, change, claim, pinned=False)
    elif change.op in ("promote", "merge"):
        _consolidate(state, change, claim)
    elif normal(claim.object) == normal(now.object) or (_users_own(now) and claim.text == now.text):
        _confirm(state, change, claim)
    elif _users_own(now) or state.absorbed:
        _keep_aside(state, change, claim)
    else:
        # What has joined the profile stays there under its new object.
        _open(state, change, replace(claim, scope=now.scope), pinned=False)


def _consolidate(state: _State, change: Change, claim: Claim) -> None:
    """Promote and merge: more evidence and a wider scope for what stands; a new wording is a new revision.

    The wording is left alone where the user chose it, or where something was said since the dream looked. Of two
    memories that absorb each other (two devices dreamt at once) the later one stays; what was retired stays retired.
    """
    now = state.revisions[-1]
    evidence = _united(now.evidence, claim.evidence)
    scope: Scope = "global" if "global" in (now.scope, claim.scope) else claim.scope
    keeps = _users_own(now) or claim.valid_from < now.valid_from or claim.text == now.text
    if state.absorbed or (now.status == "live" and not keeps):
        if keeps:
            claim = replace(claim, kind=now.kind, subject=now.subject, predicate=now.predicate, tags=now.tags)
            claim = replace(claim, object=now.object, text=now.text)
        _open(state, change, replace(claim, scope=scope, evidence=evidence), pinned=now.pinned)
    else:
        tags = now.tags if _users_own(now) else tuple(dict.fromkeys((*now.tags, *claim.tags)))
        state.amend(change.at, change.why, scope=scope, evidence=evidence, tags=tags)


def _keep_aside(state: _State, change: Change, claim: Claim) -> None:
    """A job's contrary claim is kept in the history, behind the word that stands; said again, it gains evidence."""
    for place, known in enumerate(state.revisions[:-1]):
        if known.why == _ASIDE and normal(known.object) == normal(claim.object):
            evidence = _united(known.evidence, claim.evidence)
            if evidence == known.evidence:
                return
            state.revisions[place] = replace(known, evidence=evidence)
            break
    else:
        aside = _revision(change, claim, "superseded", pinned=False)
        state.version += 1
        aside = replace(aside, version=state.version, valid_to=claim.valid_from, why=_ASIDE)
        state.revisions.insert(-1, aside)
    state.touch()


def _confirm(state: _State, change: Change, claim: Claim) -> None:
    """Said again: one more piece of evidence; after a replacement it is in force again, unless merged away."""
    now = state.revisions[-1]
    evidence = _united(now.evidence, claim.evidence)
    if now.status == "superseded" and not state.absorbed and claim.valid_from > now.valid_to:
        _open(state, change, replace(claim, scope=now.scope, evidence=evidence), pinned=now.pinned)
    else:
        state.amend(change.at, evidence=evidence, confidence=max(now.confidence, claim.confidence))
    state.explicit = state.explicit or claim.explicit


def _retire(state: _State, valid_to: str, change: Change, successor: str) -> None:
    now = state.now
    # A claim made before the present revision was said cannot replace it; only the user replaces the user's word.
    if now is None or now.status != "live" or valid_to < now.valid_from:
        return
    if _users_own(now) and change.by != "user":
        return
    state.amend(change.at, change.why or "replaced", status="superseded", valid_to=valid_to)
    state.superseded_by = successor


def _absorb(state: _State, change: Change) -> None:
    now = state.now
    if now is None or state.absorbed or (_users_own(now) and change.by != "user"):
        return
    state.absorbed = True
    state.superseded_by = change.claims[0].id if change.claims else ""
    if now.status == "live":
        state.amend(change.at, change.why, status="superseded", valid_to=change.at)


def _forget(state: _State, change: Change) -> None:
    """Leaves a tombstone: that there was a memory of this id, and none of its words.

    It is made of the forget alone, and nothing before it counts: lines that have lost their words since, or that
    this device never saw, make no difference.
    """
    kept: Mapping[str, Any] = next(iter(change.entries(state.id)), {})
    state.version = state.stone_version = max(int(kept.get("version", 1)), state.stone_version + 1)
    state.project, state.created_at = kept.get("project", ""), kept.get("created_at", change.at)
    state.updated_at, state.superseded_by = change.at, ""
    state.explicit, state.absorbed, state.unheard = False, False, None
    scope, kind = kept.get("scope", "project"), kept.get("kind", "note")
    stone = _stone(change, scope, kind, kept.get("valid_from", state.created_at))
    state.revisions = [replace(stone, version=state.version)]


def _leave_unheard(state: _State, change: Change, claim: Claim) -> None:
    """Remembers that something was said whose words are forgotten; it is a tombstone if nothing else is ever said."""
    if state.unheard is None:
        stone = _stone(change, claim.scope, claim.kind, claim.valid_from)
        state.unheard = Memory(state.id, claim.project, claim.valid_from, change.at, (stone,))


def _stone(change: Change, scope: Scope, kind: Kind, valid_from: str) -> Revision:
    return Revision(
        version=1,
        status="forgotten",
        scope=scope,
        kind=kind,
        subject="",
        predicate="",
        object="",
        text="",
        tags=(),
        confidence=0.0,
        pinned=False,
        at=change.at,
        by="user",
        why=change.why,
        valid_from=valid_from,
        valid_to=change.at,
    )


def _rehydrate(state: _State, change: Change) -> None:
    """Takes the revisions of an exported memory as they stood; beside what is known here it is one more claim."""
    entries = change.entries(state.id)
    told = [entry for entry in entries if not is_wordless(entry)]
    if not told:
        if entries and state.unheard is None:
            last = entries[-1]
            stone = _stone(change, last["scope"], last["kind"], last["valid_from"] or "")
            state.unheard = Memory(state.id, last["project"], last["created_at"], change.at, (stone,))
        return
    if state.revisions:
        _merge_entry(state, change, _imported(told[-1]))
        return
    for entry in told:
        state.project, state.created_at = entry["project"], entry["created_at"]
        state.updated_at, state.version = entry["updated_at"], int(entry["version"])
        state.revisions.append(_imported(entry))


def _merge_entry(state: _State, change: Change, theirs: Revision) -> None:
    ours = state.revisions[-1]
    if theirs.status == "forgotten":
        if not _users_own(ours):
            state.version = max(state.version + 1, theirs.version)
            state.revisions = [replace(theirs, version=state.version)]
            state.updated_at, state.superseded_by = max(state.updated_at, change.at), ""
    elif ours.status == "live" and normal(theirs.text) == normal(ours.text):
        evidence = _united(ours.evidence, theirs.evidence)
        state.amend(change.at, "imported", evidence=evidence, pinned=ours.pinned or theirs.pinned)
    elif theirs.status == "live" and not _users_own(ours) and theirs.valid_from >= ours.valid_from:
        state.follow(theirs, change.at)
        state.superseded_by, state.absorbed = "", False


def _imported(record: Mapping[str, Any]) -> Revision:
    return Revision(
        version=int(record["version"]),
        status=record["status"],
        scope=record["scope"],
        kind=record["kind"],
        subject=record["subject"],
        predicate=record["predicate"],
        object=record["object"],
        text=record["text"],
        tags=tuple(record["tags"]),
        confidence=float(record["confidence"]),
        pinned=bool(record["pinned"]),
        at=str(record["updated_at"]),
        by="user" if record["pinned"] else "import",
        why="imported",
        valid_from=str(record["valid_from"] or ""),
        valid_to=str(record["valid_to"] or ""),
        evidence=tuple(evidence_from_record(e) for e in record["evidence"]),
    )


def _users_own(revision: Revision) -> bool:
    return revision.pinned or revision.by == "user"


def _united(known: tuple[Evidence, ...], more: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """Evidence as a set, in the order of the saying; one message is one piece, said when it was first said."""
    by_place: dict[tuple[str, str, int, str], Evidence] = {}
    for e in sorted((*known, *more)):
        by_place.setdefault((e.project, e.session, e.message_id, e.quote), e)
    return tuple(sorted(by_place.values()))
