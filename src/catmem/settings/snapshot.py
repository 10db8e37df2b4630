"""The settings as JSON beside their YAML source, so that a hook need not load a YAML parser (hot path)."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from catmem.settings.paths import Paths
    from catmem.settings.places import Places


def write(paths: Paths, values: dict[str, Any], source: list[int] | None) -> None:
    """Keeps `values` with the identity (`source_of`) of the config.yaml that they came from; never essential."""
    from catmem.settings.paths import write_private

    record = json.dumps({"source": source, "values": values}, ensure_ascii=False).encode("utf-8", "replace")
    try:
        if not paths.snapshot.exists() or paths.snapshot.read_bytes() != record:
            write_private(paths.snapshot, record)
    except OSError:
        return


def read(places: Places | Paths) -> dict[str, Any] | None:
    """The values of a fresh snapshot; {} without any config.yaml; None if config.yaml must be read first."""
    source = source_of(places)
    try:
        with open(places.snapshot, "rb") as file:
            record = json.loads(file.read())
        if record["source"] == source:
            return dict(record["values"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return {} if source is None else None


def source_of(places: Places | Paths) -> list[int] | None:
    """What tells one state of config.yaml from the next; None without the file."""
    try:
        status = os.stat(places.config)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size, status.st_ino]
