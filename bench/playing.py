"""Models that are played on the labelled set: a good one that answers from the labels, those that go wrong in the ways
that the package knows, and those whose answers have the right form and are guesses."""

from __future__ import annotations

import json
import random
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from catmem.llm.misbehaving import WRONG
from catmem.llm.port import Failure
from catmem.llm.scripted import Answer, Answerer, Asked

Case = Mapping[str, Any]
_LINE = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)


def good(case: Case) -> Answerer:
    """Selects the sentences that meet an expectation of the case, or state what a later one supersedes."""
    wanted = [*case["expect"]["live"], *case["expect"]["superseded"]]

    def answer(asked: Asked) -> Answer:
        picks = {}
        for number, text in _shown(asked).items():
            met = next((w for w in wanted if _meets(text, w)), None)
            if met:
                picks[number] = (met.get("kinds") or ["convention"])[0]
        return _form(picks)

    return answer


def _shown(asked: Asked) -> dict[int, str]:
    return {int(number): text for number, text in _LINE.findall(asked.turns[0].text)}


def _meets(text: str, wanted: Mapping[str, Any]) -> bool:
    said = _folded(text)
    every = [_folded(s) in said for s in wanted.get("all", [])]
    either = [any(_folded(s) in said for s in row) for row in wanted.get("any", [])]
    return bool(every or either) and all(every) and all(either)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _form(picks: Mapping[int, str], words: str = "", progress: str = "", topics: Sequence[str] = ()) -> str:
    blocks: dict[str, list[dict[str, Any]]] = {"facts": [], "decisions": [], "questions": []}
    for n, kind in picks.items():
        if kind in ("preference", "environment", "convention"):
            scope = "user" if kind == "preference" else "project"
            blocks["facts"].append({"n": n, "kind": kind, "scope": scope, "sure": True, "words": words})
        else:
            block = "decisions" if kind == "decision" else "questions"
            blocks[block].append({"n": n, "sure": True, "words": words})
    digest = {"progress": progress, "topics": [{"word": word, "also": "容器"} for word in topics]}
    return json.dumps({**blocks, "digest": digest}, ensure_ascii=False)


def _picks(text: str) -> dict[int, str]:
    answer = json.loads(text)
    return {entry["n"]: entry.get("kind", "decision") for name in list(answer)[:3] for entry in answer[name]}


def _selects(choose: Callable[[list[int]], Iterable[int]], kind: str = "preference") -> Callable[[Answerer], Answerer]:
    return lambda right: lambda asked: _form(dict.fromkeys(choose(list(_shown(asked))), kind))


def _guesses(share: float, kind: str) -> Callable[[Answerer], Answerer]:
    def guessing(asked: Asked) -> Answer:
        chance = random.Random(f"{share} {asked.turns[0].text}")
        return _form({n: kind for n in _shown(asked) if chance.random() < share})

    return lambda right: guessing


def _says(words: str) -> Callable[[Answerer], Answerer]:
    """Selects what is right and says something else of it."""
    return lambda right: lambda asked: _form(_picks(str(right(asked))), words, words, ["Kubernetes", "docker"])


def _opposite(right: Answerer) -> Answerer:
    return lambda asked: _form({n: "preference" for n in _shown(asked) if n not in _picks(str(right(asked)))})


def _sometimes(right: Answerer) -> Answerer:
    def answer(asked: Asked) -> Answer:
        if random.Random(asked.turns[0].text).random() < 0.3:
            return Failure("played", "扮演", remedy="later", kind="500")
        return right(asked)

    return answer


BAD: Mapping[str, Callable[[Answerer], Answerer]] = {
    **WRONG,
    "fails 3 of 10": _sometimes,
    "the opposite": _opposite,
    "the first": _selects(lambda numbers: numbers[:1]),
    "the first, as rule": _selects(lambda numbers: numbers[:1], "convention"),
    "the last": _selects(lambda numbers: numbers[-1:], "decision"),
    "guesses 1 of 2": _guesses(0.5, "convention"),
    "guesses 1 of 4": _guesses(0.25, "decision"),
    "guesses 1 of 9": _guesses(0.11, "environment"),
    "invents words": _says("The team runs Docker on Node.js 14.17.0 with the password hunter2"),
    "drops the not": _says("use it always"),
}
"""What each makes of the good model's answers."""
