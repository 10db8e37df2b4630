"""The form of an answer: told in words where a server cannot be held to it, and what is taken off an answer."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from catmem.llm.port import Completion, Schema

# Models that think aloud do it before they answer; what they think is no part of the answer.
_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>\s*", re.DOTALL)


def as_words(schema: Schema) -> str:
    """The last element of a system prompt that asks for the form. A model takes its language from the talk before it."""
    form = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object of this JSON schema, with nothing before it and nothing after it:\n{form}"


def is_strict(schema: Any) -> bool:
    """True if OpenAI takes a schema as a strict one: each object closed, each of its properties required."""
    if isinstance(schema, list | tuple):
        return all(map(is_strict, schema))
    if not isinstance(schema, dict):
        return True
    if "properties" in schema:
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(schema["properties"]):
            return False
        return all(map(is_strict, schema["properties"].values()))
    return all(map(is_strict, schema.values()))


def without_thoughts(said: Completion) -> Completion:
    return replace(said, text=_THOUGHTS.sub("", said.text, count=1))
