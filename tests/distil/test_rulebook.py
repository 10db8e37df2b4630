from __future__ import annotations

import tomllib

import pytest

from catmem.distil.judge import KIND_WEIGHTS, WEIGHTS
from catmem.distil.rulebook import Rule, load_rulebook, phrase, plain, read_rules, read_table
from catmem.distil.transcript import ANSWER, FILLED

RULES = load_rulebook().rules


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_applies_to_its_examples_and_not_to_its_counter_examples(rule: Rule) -> None:
    assert rule.yes and rule.why
    assert [text for text in rule.yes if not rule.applies(plain(text))] == []
    assert [text for text in rule.no if rule.applies(plain(text))] == []


def test_ids_are_unique() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)


def test_every_weight_is_of_an_effect_that_some_rule_has() -> None:
    assert {*WEIGHTS, *KIND_WEIGHTS} <= {rule.effect for rule in RULES} | {ANSWER, FILLED}


def test_each_effect_exists_in_both_languages() -> None:
    by_effect: dict[str, set[str]] = {}
    for rule in RULES:
        by_effect.setdefault(rule.effect, set()).add(rule.lang)
    assert {e for e, langs in by_effect.items() if "any" not in langs and not {"en", "zh"} <= langs} == set()


def test_typographic_apostrophes_are_typed_ones() -> None:
    assert "stop" in load_rulebook().effects("don’t bother with type stubs")


def test_unless_wins_over_the_pattern() -> None:
    rule = read_rules(
        tomllib.loads(
            "[[rule]]\nid='a'\neffect='e'\nlang='en'\npattern=['cat']\nunless=['dog']\nwhy='w'\nyes=['cat']\nno=['x']"
        )
    )[0]
    assert rule.applies("a cat") and not rule.applies("a cat and a dog")


@pytest.mark.parametrize("name", list(read_table("phrases.toml")))
def test_a_phrase_is_found_in_its_examples(name: str) -> None:
    row = read_table("phrases.toml")[name]
    assert row["why"] and row["yes"]
    assert [text for text in row["yes"] if not phrase(name).search(text)] == []
