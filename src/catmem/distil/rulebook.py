"""The rules as data: `rules/*.toml`, each row with the effect it has, why, and examples that are tests.

A row is {id, effect, lang, pattern = [...], unless = [...], why, yes = [...], no = [...]}: it applies where one of its
patterns is found and none of `unless` is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

# The files, in the order in which a person would read them. slots.toml is of another shape (slots.py).
FILES = ("strong.toml", "refusals.toml", "kinds.toml", "turns.toml")


@dataclass(frozen=True, slots=True)
class Rule:
    """One row. `lang` is en, zh or any, and tells for whom it was written; all are tried, since people mix."""

    id: str
    effect: str
    lang: str
    found: re.Pattern[str]
    unless: re.Pattern[str] | None
    why: str
    yes: tuple[str, ...]
    no: tuple[str, ...]

    def applies(self, text: str) -> bool:
        """`text` is one sentence, as `plain` gives it."""
        return bool(self.found.search(text)) and not (self.unless and self.unless.search(text))


@dataclass(frozen=True, slots=True)
class Rulebook:
    """All rules. `effects` is the one question that is asked of them."""

    rules: tuple[Rule, ...]

    def effects(self, text: str) -> Mapping[str, tuple[str, ...]]:
        """Which effects a sentence has, each with the ids of the rules that say so."""
        sentence = plain(text)
        found: dict[str, tuple[str, ...]] = {}
        for rule in self.rules:
            if rule.applies(sentence):
                found[rule.effect] = (*found.get(rule.effect, ()), rule.id)
        return found


def plain(text: str) -> str:
    """Typographic apostrophes as typed ones, white space folded: what the patterns are written for."""
    return " ".join(text.replace("’", "'").replace("‘", "'").split())


@cache
def load_rulebook() -> Rulebook:
    """The rules of the package; read and compiled once a process."""
    folder = files("catmem.distil") / "rules"
    return Rulebook(tuple(rule for name in FILES for rule in read_rules((folder / name).read_text("utf-8"))))


def read_rules(toml: str) -> list[Rule]:
    """The rows of one file."""
    return [_rule(row) for row in tomllib.loads(toml)["rule"]]


def _rule(row: Mapping[str, Any]) -> Rule:
    return Rule(
        id=row["id"],
        effect=row["effect"],
        lang=row["lang"],
        found=_any_of(row["pattern"]),
        unless=_any_of(row["unless"]) if row.get("unless") else None,
        why=row["why"],
        yes=tuple(row["yes"]),
        no=tuple(row["no"]),
    )


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)
