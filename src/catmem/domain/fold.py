"""The fold: all changes that touch one memory, in any order of arrival, make one state.

The order is that of the statements, not of the writing: a claim counts from when it was said, so a session of
March that is distilled in June cannot overrule one of May. Ties go by time of writing, device and number, so that
every device folds alike. What a user wrote stands against every job.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any

from catmem.domain.change import Change, evidence_from_record
from catmem.domain.memory import Claim, Evidence, Memory, Revision, Status, normal, statement_hash

_JOBS = ("distiller", "dream", "sync", "import")


def fold(id: str, changes: Iterable[Change], forgotten: Set[str] = frozenset()) -> Memory | None:
    """The state of memory `id` after `changes` (each of which touches it), or None if nothing of it remains.

    `forgotten` holds the statement hashes of all tombstones: a claim that says such a thing again is not heard.
    """
    state = _State(id)
    for _, change, claim in sorted(_events(id, changes), key=lambda event: event[0]):
        _apply(state, change, claim, forgotten)
    return state.memory()


_Event = tuple[tuple[str, str, str, int, int], Change, Claim | None]


def _events(id: str, changes: Iterable[Change]) -> Iterable[_Event]:
    """A line splits into what it says of this memory: its own claims, or that another claim replaces it."""
    for change in changes:
        own = [claim for claim in change.claims if claim.id == id or id in claim.supersedes]
        for number, claim in enumerate(own):
            effective = claim.valid_from if change.op == "distilled" else change.at
            yield (effective, change.at, change.device, change.seq, number), change, claim
        if not own or id in change.absorbed:
            said = [str(r["valid_from"] or "") for r in change.records if r["id"] == id]
            effective = min(said, default=change.at)
            yield (effective, change.at, change.device, change.seq, len(own)), change, None


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

    def memory(self) -> Memory | None:
        if not self.revisions:
            return None
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

    def amend(self, at: str, **fields: Any) -> None:
        """The same statement with more evidence, a pin, a wider scope: a new version, not a new revision.

        What changes nothing (a step run twice) is no version either.
        """
        amended = replace(self.revisions[-1], **fields)
        if amended != self.revisions[-1]:
            self.version += 1
            self.revisions[-1] = replace(amended, version=self.version)
            self.updated_at = max(self.updated_at, at)


def _apply(state: _State, change: Change, claim: Claim | None, forgotten: Set[str]) -> None:
    now = state.now
    if now and now.status == "forgotten" and change.op not in ("remember", "restore"):
        return
    if change.op == "import" and claim is None:
        _rehydrate(state, change)
    elif change.op == "forget":
        _forget(state, change)
    elif claim is not None and claim.id == state.id:
        if change.by not in _JOBS:
            _user_says(state, change, claim)
        elif statement_hash(claim.text) not in forgotten:
            _job_says(state, change, claim)
    elif claim is not None:
        _retire(state, claim.valid_from, change, claim.id)
    elif state.id in change.absorbed:
        _absorb(state, change)
    elif change.op == "pin" and now:
        state.amend(change.at, pinned=change.pinned, by=change.by, why=change.why)
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
    state.superseded_by, state.explicit = "", state.explicit or claim.explicit


def _user_says(state: _State, change: Change, claim: Claim) -> None:
    """Remember, edit, restore: the user's word opens a revision whatever stood there before."""
    now = state.now
    pinned = change.op == "remember" or bool(now and now.pinned)
    evidence = _united(now.evidence, claim.evidence) if now else claim.evidence
    _open(state, change, replace(claim, evidence=evidence), pinned)


def _job_says(state: _State, change: Change, claim: Claim) -> None:
    now = state.now
    if now is None:
        _open(state, change, claim, pinned=False)
    elif change.op in ("promote", "merge"):
        evidence = _united(now.evidence, claim.evidence)
        wording = {} if _users_own(now) else {"text": claim.text, "object": claim.object, "kind": claim.kind}
        state.amend(change.at, scope=claim.scope, evidence=evidence, tags=claim.tags, why=change.why, **wording)
    elif normal(claim.object) == normal(now.object) or (_users_own(now) and claim.text == now.text):
        _confirm(state, change, claim)
    elif _users_own(now) or state.absorbed:
        _keep_aside(state, change, claim)
    else:
        # What has joined the profile stays there under its new object.
        _open(state, change, replace(claim, scope=now.scope), pinned=False)


def _keep_aside(state: _State, change: Change, claim: Claim) -> None:
    """A job's contrary claim is kept in the history, behind the user's own word that stands."""
    state.version += 1
    aside = _revision(change, claim, "superseded", pinned=False)
    why = "the user's own word stands"
    state.revisions.insert(-1, replace(aside, version=state.version, valid_to=claim.valid_from, why=why))


def _confirm(state: _State, change: Change, claim: Claim) -> None:
    """Said again: one more piece of evidence; after a replacement it is in force again, unless merged away."""
    now = state.revisions[-1]
    evidence = _united(now.evidence, claim.evidence)
    if now.status == "superseded" and not state.absorbed and claim.valid_from > now.valid_to:
        _open(state, change, replace(claim, evidence=evidence), pinned=now.pinned)
    else:
        state.amend(change.at, evidence=evidence, confidence=max(now.confidence, claim.confidence))
    state.explicit = state.explicit or claim.explicit


def _retire(state: _State, valid_to: str, change: Change, successor: str) -> None:
    now = state.now
    # A claim made before the present revision was said cannot replace it.
    if now is None or now.status != "live" or _users_own(now) or valid_to < now.valid_from:
        return
    state.amend(change.at, status="superseded", valid_to=valid_to, why=change.why or "replaced")
    state.superseded_by = successor


def _absorb(state: _State, change: Change) -> None:
    if state.now is None:
        return
    state.absorbed = True
    state.superseded_by = change.claims[0].id
    state.amend(change.at, status="superseded", valid_to=change.at, why=change.why)


def _forget(state: _State, change: Change) -> None:
    """Leaves a tombstone: that there was a memory of this id, and none of its words."""
    now = state.now
    state.version += 1
    stone = Revision(
        version=state.version,
        status="forgotten",
        scope=now.scope if now else "project",
        kind=now.kind if now else "note",
        subject="",
        predicate="",
        object="",
        text="",
        tags=(),
        confidence=0.0,
        pinned=False,
        at=change.at,
        by=change.by,
        why=change.why,
        valid_from=now.valid_from if now else change.at,
        valid_to=change.at,
    )
    state.created_at = state.created_at or change.at
    state.revisions, state.updated_at, state.superseded_by = [stone], change.at, ""


def _rehydrate(state: _State, change: Change) -> None:
    """Takes the revisions of an exported memory as they stood; beside what is known here it is one more claim."""
    records = sorted((r for r in change.records if r["id"] == state.id), key=lambda r: int(r["version"]))
    if state.revisions:
        _merge_record(state, change, _imported(records[-1]))
        return
    for record in records:
        state.project, state.created_at = str(record["project"]), str(record["created_at"])
        state.updated_at, state.version = str(record["updated_at"]), int(record["version"])
        state.revisions.append(_imported(record))


def _merge_record(state: _State, change: Change, theirs: Revision) -> None:
    ours = state.revisions[-1]
    if ours.status == "live" and normal(theirs.text) == normal(ours.text):
        evidence = _united(ours.evidence, theirs.evidence)
        state.amend(change.at, evidence=evidence, pinned=ours.pinned or theirs.pinned)
    elif theirs.status == "live" and not _users_own(ours) and theirs.valid_from >= ours.valid_from:
        state.follow(theirs, change.at)


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
    """Evidence as a set, in the order of the saying; one message is one piece."""
    by_place = {(e.project, e.session, e.message_id, e.quote): e for e in (*known, *more)}
    return tuple(sorted(by_place.values()))
