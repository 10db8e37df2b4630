"""One hook call, from the host's payload to our answer: capture, then what the session should be told (hot path).

Whatever goes wrong, the host gets an answer in time: an empty one at worst. Failures are written down for
`mem status`; nothing is raised.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib import import_module

from catmem.clients.catalogue import CLIENTS
from catmem.domain.clock import now
from catmem.domain.helper import is_helper_environment
from catmem.inject import deadline
from catmem.inject.context import context_of
from catmem.inject.failures import record_failure
from catmem.inject.worker import needs_worker, session_in_use, spawn_worker
from catmem.sessions import pure
from catmem.settings import registry, snapshot
from catmem.settings.language import language_of
from catmem.settings.places import Places, default_root
from catmem.settings.workspace import project_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from catmem.sessions.history import History

# A payload carries a prompt and a few paths; a host that sends more than this is not one that we know.
LARGEST_PAYLOAD = 64 << 20


def run(arguments: list[str]) -> None:
    """Answers one call: `arguments` are CLIENT EVENT and, perhaps, `--dir D`. Writes the reply to stdout."""
    if is_helper_environment(os.environ):
        return
    client, event_name, root = _parsed(arguments)
    if client not in CLIENTS or event_name not in CLIENTS[client]["events"]:
        return
    places = Places(root or default_root())
    deadline.arm(
        CLIENTS[client]["events"][event_name], lambda: record_failure(places, event_name, TimeoutError(), now())
    )
    try:
        payload = json.loads(sys.stdin.buffer.read(LARGEST_PAYLOAD))
        if isinstance(payload, dict):
            _answer(places, client, event_name, payload)
    except Exception as error:
        record_failure(places, event_name, error, now())


def _parsed(arguments: list[str]) -> tuple[str, str, str]:
    words, root = [], ""
    rest = iter(arguments)
    for argument in rest:
        if argument == "--dir":
            root = next(rest, "")
        elif argument.startswith("--dir="):
            root = argument[len("--dir=") :]
        elif not argument.startswith("-"):
            words.append(argument)
    return (words[0] if words else ""), (words[1] if len(words) > 1 else ""), root


def _answer(places: Places, client: str, event_name: str, payload: dict[str, Any]) -> None:
    event = import_module(CLIENTS[client]["hooks"]).parse(event_name, payload)
    if not event["session"] or event["agent_id"] or event["helper"]:
        return
    values = _settings(places)
    if _is_pure(places, event):
        reply = import_module(CLIENTS[client]["reply"]).answer(event_name, "", _pure_notice(event, values))
        if reply:
            os.write(1, reply)
        return
    project = registry.read(places).home_of(project_of(event["cwd"] or os.getcwd(), values.get("project_roots", ())))
    captured = _captured(places, event, values, project)
    needed = needs_worker(places, event, captured)

    def start_worker() -> None:
        if needed:
            spawn_worker(places, session_in_use(event, captured))

    deadline.captured(start_worker)
    context, notice = _context(places, event, values, captured.get("project") or project)
    reply = import_module(CLIENTS[client]["reply"]).answer(event_name, context, notice)
    if reply:
        os.write(1, reply)
    start_worker()


def _is_pure(places: Places, event: dict[str, Any]) -> bool:
    """True for a session in pure mode, which it stays when it is resumed by an assistant that was not asked for it."""
    if pure.is_pure_environment(os.environ):
        pure.set_pure(
            places.root, event["session"], client=event["client"], transcript=event["transcript"], at=now()
        )  # fmt: skip
        return True
    return pure.is_pure(places.root, event["session"])


def _pure_notice(event: dict[str, Any], values: dict[str, Any]) -> str:
    """Said once, at the start: a host shows nothing when a session ends."""
    if event["name"] != "SessionStart":
        return ""
    if language_of(values.get("language", "auto")) == "zh":
        return f"catmem：纯净模式，本次会话不读取也不保存记忆；之后想保留可运行 mem sessions keep {event['session']}"
    return f"catmem: pure mode, no memory in or out. To keep this session later: mem sessions keep {event['session']}"


def _captured(places: Places, event: dict[str, Any], values: dict[str, Any], project: str) -> dict[str, Any]:
    """What capture says, or {} if it failed: the words are in the assistant's transcript, and are taken from there."""
    from catmem.capture.hook import capture_event

    try:
        return capture_event(
            event,
            root=places.root,
            project=project,
            redact=_redactor(places, values),
            at=now(),
            seconds=time.time(),
            durability=values.get("durability", "turn"),
            make_history=lambda: _history(places, values),
            stop=deadline.is_near,
        )
    except Exception as error:
        record_failure(places, event["name"], error, now())
        return {}


def _context(places: Places, event: dict[str, Any], values: dict[str, Any], project: str) -> tuple[str, str]:
    try:
        return context_of(places, event, values, project)
    except Exception as error:
        record_failure(places, event["name"], error, now())
        return "", ""


def _redactor(places: Places, values: dict[str, Any]) -> Callable[[str, str], str]:
    if not values.get("redact_secrets", True):
        return lambda text, source: text
    from catmem.settings.secret_key import load_key
    from catmem.text.secrets.redact import redact

    key = load_key(places)
    return lambda text, source: redact(text, key, source="said" if source == "said" else "tool")


def _history(places: Places, values: dict[str, Any]) -> History:
    from pathlib import Path

    from catmem.sessions.history import History
    from catmem.settings.paths import Paths

    return History(
        Paths(Path(places.root)), durability=values.get("durability", "turn"), redact=_redactor(places, values)
    )


def _settings(places: Places) -> dict[str, Any]:
    """The settings that differ from the defaults of a hook; from the snapshot, or from config.yaml if it changed."""
    values = snapshot.read(places)
    if values is not None:
        return values
    from dataclasses import asdict
    from pathlib import Path

    from catmem.domain.errors import SettingsInvalid
    from catmem.settings.config import load_settings
    from catmem.settings.paths import Paths

    try:
        return asdict(load_settings(Paths(Path(places.root))))
    except SettingsInvalid as error:
        record_failure(places, "config.yaml", error, now())
        return {}
