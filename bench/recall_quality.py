"""`python -m bench.recall_quality [SET]`: does a prompt find the fact that helps it, through store, index and ranking?

SET is JSONL of {"id", "lang", "project", "facts": [...], "query", "gold": [indexes]}; `gold` is empty for prompts that
nothing should be recalled for. Without SET, ../shared/eval/extraction/recall-dev.jsonl, and pools of our own.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from catmem.brief.briefer import Briefer
from catmem.recall.recall import Recaller
from catmem.settings.schema import Settings
from catmem.text.tokens import content_tokens, tokens
from tests.index.world import World
from tests.recall.pools import POOLS
from tests.recall.wide_pool import CLINIC

DEFAULT = Path(__file__).parents[3] / "shared/eval/extraction/recall-dev.jsonl"
TOP = 3


class Question(NamedTuple):
    id: str
    facts: tuple[str, ...]
    query: str
    gold: tuple[int, ...]

    @property
    def shares_a_token(self) -> bool:
        asked = set(content_tokens(self.query))
        return any(asked & set(tokens(self.facts[number])) for number in self.gold)


class Answer(NamedTuple):
    question: Question
    found: list[int]
    injected: int
    """How many memories the prompt would bring with it."""

    @property
    def right(self) -> bool:
        return bool(set(self.found[:TOP]) & set(self.question.gold))


def questions_of(path: Path) -> Iterator[Question]:
    with path.open(encoding="utf-8") as file:
        for row in map(json.loads, filter(str.strip, file)):
            yield Question(row["id"], tuple(row["facts"]), row["query"], tuple(row["gold"]))


def own_questions() -> Iterator[Question]:
    for pool in (*POOLS, CLINIC):
        for query, gold in (*pool.wanted, *((query, ()) for query in pool.unrelated)):
            yield Question(pool.project, pool.facts, query, gold)


def answers_to(questions: Iterable[Question]) -> Iterator[Answer]:
    made: dict[tuple[str, ...], tuple[Recaller, Briefer, list[str]]] = {}
    for question in questions:
        if question.facts not in made:
            made[question.facts] = _memory_of(question.facts)
        recaller, briefer, ids = made[question.facts]
        items = recaller.recall(question.query, project="eval", limit=TOP)["items"]
        injected = briefer.for_prompt(question.query, "eval").items
        yield Answer(question, [ids.index(item["id"]) for item in items], len(injected))


def _memory_of(facts: tuple[str, ...]) -> tuple[Recaller, Briefer, list[str]]:
    world = World(Path(tempfile.mkdtemp(prefix="catmem-eval-")))
    ids = [world.learn(fact, project="eval") for fact in facts]
    world.catch_up()
    return Recaller(world.paths, Settings()), Briefer(world.paths, Settings()), ids


def report(name: str, answers: list[Answer], *, show_misses: bool = True) -> None:
    sharing = [a for a in answers if a.question.gold and a.question.shares_a_token]
    apart = [a for a in answers if a.question.gold and not a.question.shares_a_token]
    unrelated = [a for a in answers if not a.question.gold]
    print(f"{name}: {len(answers)} prompts")
    print(f"  gold in the top {TOP}, sharing a token      {_share(sharing)}")
    print(f"  gold in the top {TOP}, sharing none         {_share(apart)}")
    print(f"  unrelated prompts that inject nothing  {sum(not a.injected for a in unrelated)}/{len(unrelated)}")
    for answer in answers if show_misses else ():
        if (answer.question.gold and not answer.right) or (not answer.question.gold and answer.injected):
            print(f"    missed {answer.question.id}: {answer.question.query[:70]!r} -> {answer.found}")


def _share(answers: list[Answer]) -> str:
    right = sum(answer.right for answer in answers)
    return f"{right}/{len(answers)}" + (f"  {100 * right / len(answers):.0f} %" if answers else "")


def main(arguments: list[str]) -> None:
    path = Path(arguments[0]) if arguments else DEFAULT
    if path.exists():
        report(path.name, list(answers_to(questions_of(path))))
    else:
        print(f"{path} is not here; only our own pools are measured")
    report("tests/recall/pools.py", list(answers_to(own_questions())))


if __name__ == "__main__":
    main(sys.argv[1:])
