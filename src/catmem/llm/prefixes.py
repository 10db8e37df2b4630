"""What models of embeddings want to read before a text: they were trained with it, and without it they find less."""

from __future__ import annotations

import re
from collections.abc import Sequence

from catmem.llm.port import Purpose

# By a part of the model's name: what stands before a query, and before a passage. From the models' own descriptions.
_PREFIXES: tuple[tuple[str, str, str], ...] = (
    (r"(?<![a-z])e5(?![a-z0-9])", "query: ", "passage: "),
    (r"nomic-embed-text", "search_query: ", "search_document: "),
    (r"mxbai-embed|snowflake-arctic", "Represent this sentence for searching relevant passages: ", ""),
    (
        r"qwen3-embedding",
        "Instruct: Given a question or a remark, find what was said about it\nQuery: ",
        "",
    ),
)


def prefixed(model: str, texts: Sequence[str], purpose: Purpose) -> list[str]:
    """The texts as the model of that name wants them; half a character, which no JSON can carry, becomes a ?."""
    sound = [text.encode("utf-8", "replace").decode() for text in texts]
    for name, query, passage in _PREFIXES:
        if re.search(name, model, re.IGNORECASE):
            return [(query if purpose == "query" else passage) + text for text in sound]
    return sound
