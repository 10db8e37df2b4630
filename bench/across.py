"""`python -m bench.across FOLDER`: questions in one language, records in the other.

FOLDER has the program that measures (sets.py and memlib.py). LifeBench tells one person's year in both languages, with
the same names for the same records, so the questions of one language have their answers in the other. Nothing was chosen
while looking at these.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.kept import hybrid
from bench.retriever import Retriever, keyword

PERSON = "lumingqiang"
RETRIEVERS: tuple[Callable[[], Retriever], ...] = (keyword, hybrid)
_MEASURES = ("hit@1", "hit@5", "hit@10", "rec@10", "ndcg@10")


def case(asking: dict[str, Any], telling: dict[str, Any]) -> dict[str, Any]:
    """The records of one person, and the questions of the other that these answer."""
    known = {doc["id"] for doc in telling["docs"]}
    queries = [{**query, "gold": query["gold"] & known} for query in asking["queries"]]
    return {"name": PERSON, "docs": telling["docs"], "queries": [query for query in queries if query["gold"]]}


def main(arguments: list[str]) -> None:
    if not arguments:
        sys.exit(__doc__)
    sys.path.insert(0, str(Path(arguments[0])))
    sets, memlib = importlib.import_module("sets"), importlib.import_module("memlib")
    people = {lang: next(iter(sets.lifebench(lang=lang, users=[PERSON]))) for lang in ("zh", "en")}
    print(f"| questions | records | | {' | '.join(_MEASURES)} |\n|---|---|---|{'---|' * len(_MEASURES)}")
    for asking, telling in (("en", "zh"), ("zh", "en")):
        for retriever in RETRIEVERS:
            scores = memlib.evaluate([case(people[asking], people[telling])], retriever)
            cells = " | ".join(f"{100 * scores[name]:.1f}" for name in _MEASURES)
            print(f"| {asking} | {telling} | {retriever.__name__} | {cells} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
