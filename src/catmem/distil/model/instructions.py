"""The instructions as data: what the model is told for each trigger, in the language of the session."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from catmem.domain.errors import DataDamaged

Trigger = Literal["end", "strong", "changes", "count"]
"""What made the distilling start: the session's end (or long silence), a strong sentence, changed files, many messages."""

TRIGGERS: tuple[Trigger, ...] = ("end", "strong", "changes", "count")

Language = Literal["en", "zh"]

_HAN = re.compile(r"[\u3400-\u9fff]")


def language_of(sentences: Sequence[str]) -> Language:
    """The language that most of the user's sentences are in; one with Chinese in it is Chinese, whatever names it uses."""
    chinese = sum(bool(_HAN.search(sentence)) for sentence in sentences)
    return "zh" if chinese * 2 > len(sentences) else "en"


def instruction(trigger: Trigger, language: Language) -> str:
    """The system prompt."""
    frame: str = _table("common")[language]["frame"]
    return frame.strip().replace("{task}", _table(trigger)[language])


def asked_again(reasons: Sequence[str], language: Language) -> str:
    """What follows an answer that was refused; `reasons` are in English, as models read them in any talk."""
    retry: str = _table("common")[language]["retry"]
    return retry.replace("{reasons}", "; ".join(reasons))


@cache
def _table(name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(files(__package__).joinpath("instructions", f"{name}.toml").read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise DataDamaged(
            f"the instruction {name}.toml cannot be read ({error}); reinstall catmem",
            f"指令文件 {name}.toml 无法读取（{error}）；请重新安装 catmem",
        ) from error
