"""The form of an answer: numbers first, so that a model points at its evidence before it says anything of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BLOCKS = ("facts", "decisions", "questions")
FACT_KINDS = ("preference", "environment", "convention")
SCOPES = ("user", "project")
# A memory is a line; four topics of a window are what the instruction asks for.
LONGEST_WORDS, LONGEST_TOPIC, MOST_TOPICS = 200, 40, 4


def schema_of(sentences: int) -> Mapping[str, Any]:
    """The JSON schema of an answer about so many numbered sentences. An empty list is the explicit "nothing"."""
    number = {"type": "integer", "enum": list(range(1, sentences + 1))}
    words = {"type": "string", "maxLength": LONGEST_WORDS}
    fact = _object(
        n=number, kind={"enum": list(FACT_KINDS)}, scope={"enum": list(SCOPES)}, sure={"type": "boolean"}, words=words
    )
    settled = _object(n=number, sure={"type": "boolean"}, words=words)
    short = {"type": "string", "maxLength": LONGEST_TOPIC}
    digest = _object(progress=words, topics=_list(_object(word=short, also=short), MOST_TOPICS))
    most = most_selected(sentences)
    return _object(
        facts=_list(fact, most), decisions=_list(settled, most), questions=_list(settled, most), digest=digest
    )


def most_selected(sentences: int) -> int:
    """How many of so many sentences can be worth keeping. On the labelled set it is one in six; who selects more than
    two in five of a longer talk does not select."""
    return max(3, sentences * 2 // 5)


def most_tokens(sentences: int) -> int:
    """What an answer may cost: each selected number some 30 tokens, beside the form and the digest."""
    return 220 + 30 * most_selected(sentences)


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


def _list(items: Mapping[str, Any], most: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": most}
