"""`python -m bench.retrieval FOLDER [SET…]`: the public sets of questions as the table of docs/quality.md.

FOLDER has the program that measures (`run.py SET [key=value…] --ret module:callable --json FILE`). A SET is written as
`lifebench,lang=en`; without any, all are measured, of which the Chinese LifeBench takes some minutes. Answers are kept in
.cache/retrieval, so that a table of all sets can be made of parts measured apart.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SETS = ("madial", "realmem", "lifebench,lang=en", "lifebench,lang=zh")
RETRIEVERS = {"keyword": "bench.retriever:keyword", "hybrid": "bench.kept:hybrid"}
KEPT = Path(".cache/retrieval")
_MEASURES = ("hit@1", "hit@10", "rec@10", "ndcg@10", "auroc")


def measure(folder: Path, name: str) -> None:
    """Measures a set with every retriever that there is, each in a process of its own."""
    KEPT.mkdir(parents=True, exist_ok=True)
    for which, made_by in RETRIEVERS.items():
        asked = [str(folder / "run.py"), *name.split(","), "--ret", made_by, "--notypes"]
        command = [sys.executable, *asked, "--json", str(_kept(name, which))]
        if subprocess.run(command, env={**os.environ, "PYTHONPATH": os.getcwd()}, check=False).returncode:
            print(f"{name} could not be measured with {which}", file=sys.stderr)


def table() -> str:
    """All sets that were measured, now or before."""
    lines = [f"| set | | {' | '.join(_MEASURES)} |", f"|---|---|{'---|' * len(_MEASURES)}"]
    for name in SETS:
        for which in RETRIEVERS:
            if _kept(name, which).exists():
                (scores,) = json.loads(_kept(name, which).read_text("utf-8"))["results"].values()
                lines.append(f"| {name} ({scores['n']} questions) | {which} | {' | '.join(_cells(scores))} |")
    return "\n".join(lines)


def _cells(scores: dict[str, Any]) -> list[str]:
    return ["" if scores[name] is None else f"{100 * scores[name]:.1f}" for name in _MEASURES]


def _kept(name: str, which: str) -> Path:
    return KEPT / f"{name.replace(',', '-')}-{which}.json"


def main(arguments: list[str]) -> None:
    folder, *names = arguments
    for name in names or SETS:
        measure(Path(folder), name)
    print(table())


if __name__ == "__main__":
    main(sys.argv[1:])
