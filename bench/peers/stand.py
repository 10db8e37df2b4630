"""What stands between the comparison and one peer, inside the peer's own environment: `stand.py PEER IN OUT`.

IN is JSON: {"texts": [{"id", "text", "time"}], "questions": [..], "k", "folder", "embedder": URL}. OUT gets {"import_seconds",
"add_seconds", "query_seconds": [..], "found": [[ids]]}, or {"failed": reason}. Standard library only; PEER is the path of a
module with `load()`, which imports the peer, and `open(task)`, which gives an object with `add(texts)` and
`search(question, k)`, the latter as a list of ids, best first.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Any


def stand(peer: Any, task: dict[str, Any]) -> dict[str, Any]:
    started = time.perf_counter()
    peer.load()
    imported = time.perf_counter() - started
    memory = peer.open(task)
    started = time.perf_counter()
    memory.add(task["texts"])
    added = time.perf_counter() - started
    # The first question opens files and models; it is asked again and counted then.
    memory.search(task["questions"][0], task["k"])
    found, taken = [], []
    for question in task["questions"]:
        started = time.perf_counter()
        found.append(memory.search(question, task["k"])[: task["k"]])
        taken.append(time.perf_counter() - started)
    return {
        "count": len(task["texts"]),
        "import_seconds": imported,
        "add_seconds": added,
        "query_seconds": taken,
        "found": found,
    }


def _module(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("peer", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    path, given, wanted = sys.argv[1:]
    task = json.loads(Path(given).read_text(encoding="utf-8"))
    try:
        # Some peers greet, warn and advertise on standard output.
        with contextlib.redirect_stdout(sys.stderr):
            result = stand(_module(path), task)
    except Exception as error:
        result = {"failed": f"{type(error).__name__}: {error}"[:300]}
    Path(wanted).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
