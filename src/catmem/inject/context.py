"""What an event of a session is answered with: the brief at its start, recall beside a prompt (hot path).

A compacted session is told the very same brief again, a resumed one has it in its transcript, and no prompt repeats
what was told (see told.py).
"""

from __future__ import annotations

import os
import time

from catmem.brief.brief import project_brief, prompt_brief
from catmem.domain.clock import now, seconds_of
from catmem.index.reader import SearchReader
from catmem.inject.deadline import seconds_left
from catmem.inject.told import AGAIN, BRIEF, PROMPT, records_of, shown, tell, told
from catmem.inject.worker import wait_for_worker
from catmem.sessions.names import place
from catmem.settings.language import language_of
from catmem.settings.trouble import FOR_THE_USER, trouble_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from catmem.settings.places import Places

DOOR = "hook"
# The worker that distils the session just closed is done within a fraction of this; who starts anew at once should
# find in memory what was said a moment ago.
PATIENCE = 1.2
# Seconds. A host compacts with a request to its model, so what it calls together comes closer than what it calls anew.
_TOGETHER = 5.0


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
    before = told(places, event["session"])
    if before is not None and (event["source"] == "resume" or _was_just_told(places, event, project)):
        return "", ""
    if before is not None and before["door"] != DOOR:
        return "", ""  # the proxy repeats it in each request
    if before is not None:
        text, items = before["text"], before["items"]
        reasons: Sequence[Mapping[str, Any]] = ()
    else:
        wait_for_worker(places, min(PATIENCE, seconds_left()))
        brief = project_brief(
            SearchReader(places.search), project, values, language=language, now=round(time.time() * 1000)
        )
        text, items, reasons = brief.text, brief.items, brief.reasons
    what = BRIEF if before is None else AGAIN
    tell(
        places, event["session"], door=DOOR, event=what, project=project, at=now(),
        text=text if what == BRIEF else "", items=reasons,
    )  # fmt: skip
    lines = [_loaded(len(items), language)] if text else []
    lines += _model_trouble(places, language)
    return text, "\n".join(lines)


def _was_just_told(places: Places, event: Mapping[str, Any], project: str) -> bool:
    """True for the second of two starts that are one: Codex calls both for a session that is resumed and compacted."""
    if event["source"] != "compact":
        return False
    last = records_of(places, event["session"])[-1]
    if last["event"] != BRIEF or seconds_of(now()) - seconds_of(last["at"]) > _TOGETHER:
        return False
    try:
        return os.path.getmtime(place(places.root, project, event["session"]).file) < seconds_of(last["at"])
    except OSError:  # nothing was said yet
        return True


def _loaded(count: int, language: str) -> str:
    if language == "zh":
        return f"catmem：已载入 {count} 条记忆"
    return "catmem: 1 memory loaded" if count == 1 else f"catmem: {count} memories loaded"


def _model_trouble(places: Places, language: str) -> list[str]:
    """One line where the user must do something about the model; until then the rules alone distil."""
    trouble = trouble_in(places)
    if not trouble or trouble["kind"] not in FOR_THE_USER:
        return []
    if language == "zh":
        return [f"catmem：{trouble['zh']}；在此之前只凭规则提炼"]
    return [f"catmem: {trouble['en']}; until then the rules alone distil"]


def _of_prompt(places: Places, event: Mapping[str, Any], values: Mapping[str, Any], project: str) -> str:
    if not event["prompt"].strip():
        return ""
    brief = prompt_brief(
        SearchReader(places.search),
        event["prompt"],
        project,
        values,
        language=language_of(values.get("language", "auto")),
        now=round(time.time() * 1000),
        session=event["session"],
        shown=shown(places, event["session"]),
    )
    if brief.items:
        tell(
            places, event["session"], door=DOOR, event=PROMPT, project=project, at=now(),
            text=brief.text, items=brief.reasons,
        )  # fmt: skip
    return str(brief.text)
