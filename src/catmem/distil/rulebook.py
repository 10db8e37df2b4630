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

from catmem.domain.errors import DataDamaged

# The files of rules, in the order in which a person would read them. The others are of other shapes:
# phrases.toml, and slots.toml with services.toml.
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
    return Rulebook(tuple(rule for name in FILES for rule in read_rules(read_table(name))))


@cache
def phrase(name: str) -> re.Pattern[str]:
    """One of the lists of phrases.toml as one pattern."""
    return any_of(read_table("phrases.toml")[name]["patterns"])


@cache
def read_table(name: str) -> Mapping[str, Any]:
    """A file of the folder `rules`. Raises DataDamaged if the installation is broken."""
    try:
        return tomllib.loads(files("catmem.distil").joinpath("rules", name).read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise DataDamaged(
            f"the rules file {name} cannot be read ({error}); reinstall catmem",
            f"规则文件 {name} 无法读取（{error}）；请重新安装 catmem",
        ) from error


def read_rules(table: Mapping[str, Any]) -> list[Rule]:
    """The rows of one file."""
    return [_rule(row) for row in table["rule"]]


def any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


def _rule(row: Mapping[str, Any]) -> Rule:
    return Rule(
        id=row["id"],
        effect=row["effect"],
        lang=row["lang"],
        found=any_of(row["pattern"]),
        unless=any_of(row["unless"]) if row.get("unless") else None,
        why=row["why"],
        yes=tuple(row["yes"]),
        no=tuple(row["no"]),
    )
