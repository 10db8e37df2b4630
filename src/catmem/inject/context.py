"""What an event of a session is answered with: the brief at its start, recall beside a prompt (hot path).

What a session has been told is kept in `run/briefs/`: a compacted session is told the very same again, a resumed one
has it in its transcript, and no prompt repeats it.
"""

from __future__ import annotations

import json
import os
import time

from catmem.brief.brief import project_brief, prompt_brief
from catmem.index.reader import SearchReader
from catmem.inject.deadline import seconds_left
from catmem.inject.worker import wait_for_worker
from catmem.sessions.names import file_name
from catmem.settings.language import language_of
from catmem.settings.places import FILE_MODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from catmem.settings.places import Places

# The worker that distils the session just closed is done within a fraction of this; who starts anew at once should
# find in memory what was said a moment ago.
PATIENCE = 1.2


def context_of(places: Places, event: Mapping[str, Any], values: Mapping[str, Any], project: str) -> tuple[str, str]:
    """(context for the model, line for the user); ("", "") if there is nothing to tell.

    Raises DataDamaged if the index cannot be read.
    """
    if event["name"] == "SessionStart":
        return _of_start(places, event, values, project)
    if event["name"] == "UserPromptSubmit":
        return _of_prompt(places, event, values, project), ""
    return "", ""


def _of_start(places: Places, event: Mapping[str, Any], values: Mapping[str, Any], project: str) -> tuple[str, str]:
    language = language_of(values.get("language", "auto"))
    told = _told(places, event["session"])
    if told is None:
        wait_for_worker(places, min(PATIENCE, seconds_left()))
        brief = project_brief(
            SearchReader(places.search), project, values, language=language, now=round(time.time() * 1000)
        )
        told = {"text": brief.text, "items": list(brief.items)}
        _keep(places, event["session"], told)
    elif event["source"] == "resume":
        return "", ""
    count = len(told["items"])
    if not count:
        return "", ""
    notice = _loaded(count, language)
    return told["text"], notice


def _loaded(count: int, language: str) -> str:
    if language == "zh":
        return f"catmem：已载入 {count} 条记忆"
    return "catmem: 1 memory loaded" if count == 1 else f"catmem: {count} memories loaded"


def _of_prompt(places: Places, event: Mapping[str, Any], values: Mapping[str, Any], project: str) -> str:
    if not event["prompt"].strip():
        return ""
    told = _told(places, event["session"]) or {"text": "", "items": []}
    brief = prompt_brief(
        SearchReader(places.search),
        event["prompt"],
        project,
        values,
        language=language_of(values.get("language", "auto")),
        now=round(time.time() * 1000),
        session=event["session"],
        shown=told["items"],
    )
    if brief.items:
        _keep(places, event["session"], {"text": told["text"], "items": [*told["items"], *brief.items]})
    return str(brief.text)


def _place(places: Places, session: str) -> str:
    return os.path.join(places.briefs, file_name(session) + ".json")


def _told(places: Places, session: str) -> dict[str, Any] | None:
    try:
        with open(_place(places, session), "rb") as file:
            told = json.loads(file.read())
    except (OSError, ValueError):
        return None
    sound = isinstance(told, dict) and isinstance(told.get("text"), str) and isinstance(told.get("items"), list)
    return told if sound else None


def _keep(places: Places, session: str, told: dict[str, Any]) -> None:
    """A record that cannot be kept costs a repetition, nothing else."""
    place = _place(places, session)
    temporary = f"{place}.{os.getpid()}.tmp"
    try:
        os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
        try:
            os.write(descriptor, json.dumps(told, ensure_ascii=False).encode())
        finally:
            os.close(descriptor)
        os.replace(temporary, place)
    except OSError:
        return
