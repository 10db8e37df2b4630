"""Which adapter speaks which interface: rows of data; a module is imported when a model of its kind is configured."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

from catmem.llm.budget import Metered, Spending
from catmem.llm.fallback import FallbackModel, Named, Tell
from catmem.llm.port import MOST_TOKENS, Completion, Failure, Model, Row, Schema, Turn
from catmem.llm.resting import Rests

ADAPTERS = {
    # Chat Completions: OpenAI, and Ollama, LM Studio, vLLM, llama.cpp, DeepSeek, Qwen … which speak it too.
    "openai": "catmem.llm.openai",
    # Messages: Anthropic, and what is compatible with it.
    "anthropic": "catmem.llm.anthropic",
    # Any program that answers on stdout what it is asked on stdin.
    "command": "catmem.llm.command",
}


def models_of(rows: Sequence[Row], tell: Tell, environment: Mapping[str, str] = os.environ) -> FallbackModel:
    """The models of the setting `models`, tried in its order; a row that cannot work fails when it is its turn.

    Raises Failure if not one of them can work, as without the HTTP library.
    """
    return FallbackModel(_named(rows, environment), tell)


def working_models_of(
    rows: Sequence[Row], rests: Rests, spending: Spending, environment: Mapping[str, str] = os.environ
) -> FallbackModel:
    """The same for background work: what they cost is booked, and who rests rests for all workers."""
    named = [replace(it, model=Metered(it.model, it.name, spending)) for it in _named(rows, environment)]
    return FallbackModel(named, lambda *_: None, rests=rests)


def _named(rows: Sequence[Row], environment: Mapping[str, str]) -> list[Named]:
    named = [Named(name_of(row), model_of(row, environment), key_of(row)) for row in rows]
    unusable = [it.model for it in named if isinstance(it.model, Unusable)]
    if unusable and len(unusable) == len(named):
        raise unusable[0].failure
    return named


class Unusable:
    """Stands for a model whose row is wrong, or what it needs not installed."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure

    def stream(self, system: Sequence[str], turns: Sequence[Turn]) -> Iterator[str]:
        raise self.failure

    def complete(
        self, system: Sequence[str], turns: Sequence[Turn], schema: Schema, *, max_tokens: int = MOST_TOKENS
    ) -> Completion:
        raise self.failure


def model_of(row: Row, environment: Mapping[str, str]) -> Model:
    try:
        made: Model = import_module(ADAPTERS[row["api"]]).make(row, environment)
    except Failure as failure:
        return Unusable(failure)
    return made


def key_of(row: Row) -> str:
    """Tells a model from others where its rests are kept: a row that is mended is another model, which does not rest."""
    return hashlib.sha256(json.dumps(dict(row), sort_keys=True).encode()).hexdigest()[:16]


def name_of(row: Row) -> str:
    """What the user calls a model."""
    return str(row.get("name") or row.get("model") or _program(row))


def place_of(row: Row) -> str:
    """Where a model is, as it may be shown: host and port, and nothing of what else an address may hold; or a program."""
    if row["api"] == "command":
        return _program(row)
    try:
        return urlsplit(row["base_url"]).netloc.rpartition("@")[2] or "?"
    except ValueError:
        return "?"


def label_of(row: Row) -> str:
    """A model's name with what and where it is: `local (qwen3, localhost:11434)`."""
    return f"{name_of(row)} ({', '.join(filter(None, (row.get('model'), place_of(row))))})"


def _program(row: Row) -> str:
    return Path(row["command"][0]).name
