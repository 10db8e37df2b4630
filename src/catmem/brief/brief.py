"""The brief: what the next session is told of the earlier ones, and what a prompt adds to it (hot path)."""

from __future__ import annotations

from collections import namedtuple

from catmem.brief.bounds import bounds_of
from catmem.brief.choose import Choice, choose, choose_for_prompt
from catmem.brief.fit import fit
from catmem.domain.errors import NotFound
from catmem.recall.query import as_typed
from catmem.text.cut import estimate_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from catmem.index.reader import SearchReader

Brief = namedtuple("Brief", "text tokens bytes items flagged reasons")
"""`items` are the ids of what stands in `text`, in its order; `flagged` of what was left out for reading like an order.

`reasons` say of each item why: {"id", "section", "matched": words of the prompt that it was found by}.
`tokens` is an estimate with a margin, `bytes` of UTF-8. All is empty if there is nothing worth saying.
"""

# A message gets a few lines beside it, not a second brief.
PROMPT_ITEMS = 5
PROMPT_TOKENS = 400

_NOTHING = Brief("", 0, 0, (), (), ())


def project_brief(
    reader: SearchReader, project: str, values: Mapping[str, Any], *, language: str, now: int, prompt: str = ""
) -> Brief:
    """For a session that begins in `project`; `prompt` is what it begins with, if that is known.

    values  the settings by name; those not named have their defaults
    now     milliseconds since the epoch; it matters to the order of what a prompt recalls

    Raises DataDamaged if the index cannot be read.
    """
    bounds = bounds_of(values)
    try:
        choice = choose(reader, project, bounds, prompt=prompt, now=now)
    except NotFound:
        return _NOTHING
    return _brief(choice, language, bounds.brief_tokens, bounds.profile_tokens, prompt)


def prompt_brief(
    reader: SearchReader,
    prompt: str,
    project: str,
    values: Mapping[str, Any],
    *,
    language: str,
    now: int,
    session: str = "",
    shown: Collection[str] = (),
) -> Brief:
    """What earlier sessions know on a message of the session with the key `session`, that was told the ids `shown`.

    Empty for small talk and for what no memory is about. Raises DataDamaged if the index cannot be read.
    """
    bounds = bounds_of(values)
    most = min(PROMPT_ITEMS, bounds.items)
    try:
        choice = choose_for_prompt(reader, prompt, project, bounds, session=session, shown=shown, most=most, now=now)
    except NotFound:
        return _NOTHING
    return _brief(choice, language, min(PROMPT_TOKENS, bounds.brief_tokens), 0, prompt)


def _brief(choice: Choice, language: str, tokens: int, profile_tokens: int, prompt: str) -> Brief:
    text, ids = fit(choice.sections, language, tokens=tokens, profile_tokens=profile_tokens)
    flagged = tuple(record["id"] for record in choice.flagged)
    return Brief(text, estimate_tokens(text), len(text.encode()), tuple(ids), flagged, _reasons(choice, ids, prompt))


def _reasons(choice: Choice, ids: Collection[str], prompt: str) -> tuple[dict[str, Any], ...]:
    chosen = {
        record["id"]: (name, record.get("matched", ())) for name, records in choice.sections for record in records
    }
    return tuple({"id": id, "section": chosen[id][0], "matched": as_typed(chosen[id][1], prompt)} for id in ids)
