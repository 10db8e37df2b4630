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
from catmem.index.vectors.builder import VectorIndex
from catmem.llm.embedders import embedder_of
from catmem.llm.port import Embedder
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
    """How many memories the prompt would bring with it; with an embedder, how many recall finds for it."""

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


def answers_to(questions: Iterable[Question], embedder: Embedder | None = None) -> Iterator[Answer]:
    made: dict[tuple[str, ...], tuple[Recaller, Briefer, list[str]]] = {}
    for question in questions:
        if question.facts not in made:
            made[question.facts] = _memory_of(question.facts, embedder)
        recaller, briefer, ids = made[question.facts]
        items = recaller.recall(question.query, project="eval", limit=TOP)["items"]
        if embedder is None:
            injected = len(briefer.for_prompt(question.query, "eval").items)
        else:
            found = recaller.recall(question.query, project="eval", limit=TOP, searched=False)
            assert found["mode"] == "hybrid" or not found["items"], found["mode"]
            injected = len(found["items"])
        yield Answer(question, [ids.index(item["id"]) for item in items], injected)


def _memory_of(facts: tuple[str, ...], embedder: Embedder | None) -> tuple[Recaller, Briefer, list[str]]:
    world = World(Path(tempfile.mkdtemp(prefix="catmem-eval-")))
    ids = [world.learn(fact, project="eval") for fact in facts]
    world.catch_up()
    if embedder is not None:
        VectorIndex(world.paths).build(embedder)
    return Recaller(world.paths, Settings(), embedder=embedder), Briefer(world.paths, Settings()), ids


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
    sets = {"tests/recall/pools.py": list(own_questions())}
    if path.exists():
        sets = {path.name: list(questions_of(path)), **sets}
    else:
        print(f"{path} is not here; only our own pools are measured")
    embedder = embedder_of("auto", Path(tempfile.gettempdir()) / "catmem-embedder.json")
    for name, questions in sets.items():
        report(f"{name}, by words", list(answers_to(questions)))
        if embedder is not None:
            report(f"{name}, by words and meaning", list(answers_to(questions, embedder)))
    if embedder is None:
        print("no embedder is installed (catmem[semantic]); only words are measured")


if __name__ == "__main__":
    main(sys.argv[1:])
