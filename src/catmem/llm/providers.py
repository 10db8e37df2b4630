"""Which adapter speaks which interface: rows of data; a module is imported when a model of its kind is configured."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from urllib.parse import urlsplit

from catmem.llm.fallback import FallbackModel, Named, Tell
from catmem.llm.port import Failure, Model, Turn

ADAPTERS = {
    # Chat Completions: OpenAI, and Ollama, LM Studio, vLLM, llama.cpp, DeepSeek, Qwen … which speak it too.
    "openai": "catmem.llm.openai",
    # Messages: Anthropic, and what is compatible with it.
    "anthropic": "catmem.llm.anthropic",
}


def models_of(
    rows: Sequence[Mapping[str, str]], tell: Tell, environment: Mapping[str, str] = os.environ
) -> FallbackModel:
    """The models of the setting `models`, tried in its order; a row that cannot work fails when it is its turn.

    Raises Failure if none can work, since the HTTP library is not installed.
    """
    return FallbackModel([Named(name_of(row), model_of(row, environment)) for row in rows], tell)


class Unusable:
    """Stands for a model whose row is wrong."""

    def __init__(self, failure: Failure) -> None:
        self._failure = failure

    def stream(self, system: Sequence[str], turns: Sequence[Turn]) -> Iterator[str]:
        raise self._failure


def model_of(row: Mapping[str, str], environment: Mapping[str, str]) -> Model:
    try:
        made: Model = import_module(ADAPTERS[row["api"]]).make(row, environment)
    except Failure as failure:
        if failure.remedy == "give up":
            raise
        return Unusable(failure)
    return made


def name_of(row: Mapping[str, str]) -> str:
    return row.get("name") or row["model"]


def place_of(row: Mapping[str, str]) -> str:
    """Where a model is, as it may be shown: host and port, and nothing of what else an address may hold."""
    try:
        return urlsplit(row["base_url"]).netloc.rpartition("@")[2] or "?"
    except ValueError:
        return "?"
