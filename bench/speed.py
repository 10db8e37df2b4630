"""`make bench`: every measure of speed, as ratios within this run; exit 1 if a bar is missed."""

from __future__ import annotations

import sys

from bench import hook, importing, lifecycles, proxy, recall, search, sessions

MEASURES = (
    hook.measure,
    proxy.measure,
    sessions.measure,
    recall.measure,
    lifecycles.measure,
    importing.measure,
    search.measure,
)


def main() -> int:
    bars = []
    for measure in MEASURES:
        for bar in measure():
            print(bar.line(), flush=True)
            bars.append(bar)
    missed = [bar for bar in bars if not bar.met]
    print(f"{len(bars) - len(missed)} of {len(bars)} bars met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
