"""Changes as Hypothesis makes them: a small world of memories that talk, are replaced, merged, edited and forgotten."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hypothesis import strategies as st

from catmem.domain.change import Change, Job
from catmem.domain.clock import stamp
from catmem.domain.forgetting import stone_record
from catmem.domain.memory import Claim, Evidence, Kind, Memory, Revision, Scope, memory_id, statement_hash

START = 1_780_000_000.0
OBJECTS = ("pnpm", "yarn", "npm", "包管理用 bun")
SLOTS = (("shop", "project", "package manager"), ("shop", "user", "称呼"), ("blog", "project", "package manager"))


def moment(number: int) -> str:
    """A stamp some seconds after the start; numbers that differ never tie."""
    return stamp(START + number)


def text_of(subject: str, object: str) -> str:
    return f"{subject} 使用 {object}" if "用" in object else f"{subject} uses {object}"


def claim_about(
    slot: int = 0,
    object: str = "pnpm",
    at: int = 0,
    *,
    session: str = "s1",
    scope: Scope = "project",
    kind: Kind = "convention",
    supersedes: tuple[str, ...] = (),
    text: str = "",
    many: bool = False,
    explicit: bool = False,
    message_id: int = 1,
) -> Claim:
    project, subject, predicate = SLOTS[slot]
    said = text or text_of(subject, object)
    return Claim(
        id=memory_id("project", project, subject, predicate, object if many else ""),
        scope=scope,
        project=project,
        kind=kind,
        subject=subject,
        predicate=predicate,
        object=object,
        text=said,
        valid_from=moment(at),
        confidence=0.8,
        evidence=(Evidence(moment(at), project, session, message_id, said),),
        supersedes=supersedes,
        explicit=explicit,
    )


def distilled(claim: Claim, at: int, seq: int = 1, device: str = "a") -> Change:
    evidence = claim.evidence[0]
    job = Job(claim.project, evidence.session, 1, 9, "rules/1")
    digest = {"text": f"about {claim.text}", "topics": [], "progress": []}
    return Change(seq, moment(at), device, "distilled", "distiller", job=job, claims=(claim,), digest=digest)


def said(op: str, claim: Claim, at: int, seq: int = 1, device: str = "a", **fields: object) -> Change:
    by = "dream" if op in ("promote", "merge") else "user"
    return Change(seq, moment(at), device, op, by, claims=(claim,), **fields)  # type: ignore[arg-type]


def forget(ids: Sequence[str], texts: Sequence[str], at: int, seq: int = 1, device: str = "a") -> Change:
    stones = [{**stone_record(_empty(id)), "version": 50 + at} for id in ids]
    hashes = tuple(sorted(map(statement_hash, texts)))
    return Change(seq, moment(at), device, "forget", "user", ids=tuple(ids), hashes=hashes, records=tuple(stones))


def _empty(id: str) -> Memory:
    now = Revision(1, "live", "project", "convention", "", "", "", "", (), 0.5, False, "", "user", "", moment(0))
    return Memory(id, "shop", moment(0), moment(0), (now,))


CLAIMS = st.builds(
    claim_about,
    st.integers(0, 2),
    st.sampled_from(OBJECTS),
    st.integers(0, 60),
    session=st.sampled_from(("s1", "s2", "会话三")),
    many=st.booleans(),
    message_id=st.integers(1, 3),
)
IDS = st.sampled_from(
    [claim_about(slot, object, many=many).id for slot in range(3) for object in OBJECTS for many in (0, 1)]
)


@st.composite
def one_change(draw: st.DrawFn) -> Change:
    """A change without place; `changes` gives it its time, device and number."""
    op = draw(
        st.sampled_from(
            ("distilled",) * 5 + ("remember", "edit", "restore", "promote", "merge", "forget", "pin", "retire")
        )
    )
    ids = tuple(draw(st.lists(IDS, min_size=1, max_size=2, unique=True)))
    claim = draw(CLAIMS)
    if op == "distilled":
        others = tuple(id for id in ids if id != claim.id) if draw(st.booleans()) else ()
        return distilled(dataclasses.replace(claim, supersedes=others), 0)
    if op in ("promote", "merge"):
        claim = dataclasses.replace(claim, scope="global" if op == "promote" else "project")
        return said(op, claim, 0, absorbed=tuple(id for id in ids if id != claim.id))
    if op == "forget":
        texts = draw(st.lists(st.sampled_from(OBJECTS), max_size=1))
        return forget(ids, [text_of("project", object) for object in texts], draw(st.integers(0, 3)))
    if op in ("pin", "retire"):
        by = "user" if op == "pin" else "dream"
        return Change(0, "", "", op, by, ids=ids, pinned=op != "pin" or draw(st.booleans()))  # type: ignore[arg-type]
    return said(op, claim, 0)


@st.composite
def changes(draw: st.DrawFn, max_size: int = 14) -> list[Change]:
    """Lines of up to three devices, no two at the same moment, in the order of their writing."""
    made = draw(st.lists(one_change(), min_size=1, max_size=max_size))
    moments = draw(st.permutations(range(1, len(made) + 1)))
    placed, numbers = [], dict[str, int]()
    for change, at in sorted(zip(made, moments, strict=True), key=lambda pair: pair[1]):
        device = draw(st.sampled_from("abc"))
        numbers[device] = numbers.get(device, 0) + 1
        # Nobody tells today what was said tomorrow; stamps from the future have a test of their own.
        claims = tuple(dataclasses.replace(c, valid_from=min(c.valid_from, moment(at * 5))) for c in change.claims)
        placed.append(dataclasses.replace(change, at=moment(at * 5), device=device, seq=numbers[device], claims=claims))
    return placed
