"""The labelled set with models: rules alone, with a good model that is played, with every bad one, and with a real one.

    python -m bench.with_models FOLDER [--real BASE_URL [SECONDS]]

FOLDER has dev.jsonl and score.py. The law is that no model makes it worse: F1, the negatives, the secrets and what was
taken back are printed for each, with what it cost, and the exit status is 1 if one is worse than the rules alone.
`--real` asks an OpenAI-compatible server on this machine, about as many cases as SECONDS allow.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from bench.extraction import KEY, Memories, rows_of, run_case
from bench.playing import BAD, good
from catmem.distil.distiller import judged
from catmem.distil.model.proposals import Proposals
from catmem.distil.model.record import Record
from catmem.distil.model.selector import Heard, Selector
from catmem.distil.transcript import Sentence
from catmem.domain.session import SessionRef
from catmem.llm.port import Model
from catmem.llm.scripted import Answerer, ScriptedModel
from catmem.settings.paths import Paths
from catmem.text.cut import estimate_tokens
from catmem.text.secrets.redact import redact

LEAST_WITH_GOOD = 85.0
MOST_TOKENS_A_MEMORY = 3_000
GUARDED = ("negative", "secret", "update")


@dataclass(slots=True)
class Run:
    """What one model made of the cases."""

    name: str
    results: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    tokens: int = 0
    said: int = 0
    memories: int = 0
    faults: Mapping[str, int] = field(default_factory=dict)


ModelOf = Callable[[Mapping[str, Any]], Model]
"""The model that is asked about a case."""


def run(
    name: str, cases: Sequence[Mapping[str, Any]], model_of: ModelOf | None = None, until: float = float("inf")
) -> Run:
    """All cases, or those that are begun before `until`; a case is always finished."""
    done = Run(name)
    with tempfile.TemporaryDirectory() as folder:
        paths = Paths(Path(folder))
        for case in cases:
            if time.monotonic() > until:
                break
            memories = run_case(case, select=_select(done, model_of(case), paths) if model_of else None)
            done.results[case["id"]] = list(rows_of(memories))
            done.memories += len(memories.live())
            done.said += sum(estimate_tokens(m["content"]) for s in case["sessions"] for m in s["messages"])
        done.faults = Record(paths).counts()
    return done


def _select(done: Run, model: Model, paths: Paths) -> Callable[[SessionRef, Sequence[Sentence]], Heard]:
    # One for each case: a run of the worker stops asking a dead model, and would not show what it does to the rest.
    selector = Selector(lambda: model, Proposals(paths), Record(paths), redact=lambda text: redact(text, KEY))

    def select(ref: SessionRef, sentences: Sequence[Sentence]) -> Heard:
        last = sentences[-1].message.id if sentences else 0
        heard = selector.select(ref, sentences, judged(sentences), 1, last, "end")
        selector.settled(ref)
        done.tokens += heard.tokens
        return heard

    return select


def _played(spoilt: Callable[[Answerer], Answerer]) -> ModelOf:
    return lambda case: ScriptedModel(spoilt(good(case)))


def line(score: ModuleType, cases: Sequence[Mapping[str, Any]], done: Run) -> tuple[str, dict[str, float]]:
    """The row of the table, and the figures that must not be worse."""
    asked = [case for case in cases if case["id"] in done.results]
    figures = score.score(asked, done.results)
    overall, by = figures["overall"], figures["category"]
    guarded = {name: by[name]["full"] if name in by else 0 for name in GUARDED}
    kept = {
        "F1": 100 * (overall["f1"] or 0.0), **guarded, "superseded": overall["sup_ok"], "absent": -overall["absent"]
    }  # fmt: skip
    a_memory = done.tokens / done.memories if done.memories else 0.0
    faults = ", ".join(f"{name} {count}" for name, count in list(done.faults.items())[:3])
    row = (
        f"{done.name:<18}{overall['cases']:>5}{kept['F1']:>7.1f}{overall['full']:>6}"
        + "".join(f"{guarded[name]:>10}" for name in GUARDED)
        + f"{overall['sup_ok']:>8}{overall['absent']:>8}{a_memory:>10.0f}{done.tokens / max(1, done.said):>8.2f}  {faults}"
    )
    return row, kept


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    score = _loaded(folder / "score.py")
    lines = (folder / "dev.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(row) for row in filter(str.strip, lines)]
    print(
        f"{'with':<18}cases     F1  full" + "".join(f"{name:>10}" for name in GUARDED)
        + "  supers.  absent  a memory  a token  faults"
    )  # fmt: skip
    print(f"{'':<80}{'tokens':>10}{'said':>8}")
    if "--real" in sys.argv:
        _real(score, cases, sys.argv[sys.argv.index("--real") + 1 :])
        return
    row, alone = line(score, cases, run("rules alone", cases))
    print(row)
    row, figures = line(score, cases, best := run("good, played", cases, _played(lambda right: right)))
    print(row, flush=True)
    worse = [] if figures["F1"] >= LEAST_WITH_GOOD else ["good, played"]
    worse += [f"{best.tokens / best.memories:.0f} tokens a memory"] * (
        best.tokens > MOST_TOKENS_A_MEMORY * best.memories
    )
    for name, spoilt in BAD.items():
        row, figures = line(score, cases, run(name, cases, _played(spoilt)))
        print(row, flush=True)
        if any(round(figures[key], 1) < round(alone[key], 1) for key in alone):
            worse.append(name)
    if worse:
        sys.exit(f"worse than the rules alone, or dearer than allowed: {', '.join(worse)}")


def _real(score: ModuleType, cases: Sequence[Mapping[str, Any]], options: Sequence[str]) -> None:
    from catmem.llm.openai import make

    row = {"model": "local", "base_url": options[0], "api": "openai"}
    seconds = float(options[1]) if len(options) > 1 else 900.0
    # Every fourth first, so that whatever fits is of all kinds.
    mixed = [case for start in range(4) for case in cases[start::4]]
    model = make(row, {})
    done = run("a real model", mixed, lambda case: model, time.monotonic() + seconds)
    asked = [case for case in cases if case["id"] in done.results]
    print(line(score, asked, run("rules alone", asked))[0])
    print(line(score, asked, done)[0])


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("score", path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


__all__ = ["Memories", "Run", "line", "run"]

if __name__ == "__main__":
    main()
