"""Who calls: the session and the folder, as far as each assistant tells a server of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

# The variable that names the session to a server, and the client whose sessions are kept under that name.
_VARIABLES = (("CLAUDE_CODE_SESSION_ID", "claude-code"),)
# Codex tells it with each call; other clients may send a `sessionId` of another meaning, so its own mark must be there.
_CODEX_MARK = "x-codex-turn-metadata"


class Caller(NamedTuple):
    """session   the key under which the talk is kept, "" where the client does not tell
    project   the key of its project
    scope     the project that may be looked into, None for all
    name      the key under which is written down what was told: that of the session, else of the server's own run
    since     when the server was started, by the client that calls
    """

    session: str
    project: str
    scope: str | None
    name: str
    since: str


def session_of(environment: Mapping[str, str], meta: Mapping[str, Any]) -> str:
    """The key of the session that a call belongs to; "" if nobody tells."""
    if _CODEX_MARK in meta:
        id = meta.get("sessionId")
        return f"codex:{id}" if isinstance(id, str) and id else ""
    for variable, client in _VARIABLES:
        if environment.get(variable):
            return f"{client}:{environment[variable]}"
    return ""


def folder_of(environment: Mapping[str, str], meta: Mapping[str, Any], own: str) -> str:
    """The folder that the assistant works in; `own` is that of the server, which clients start in theirs."""
    turn = meta.get(_CODEX_MARK)
    told = turn.get("cwd") if isinstance(turn, dict) else None
    if isinstance(told, str) and told:
        return told
    return environment.get("CLAUDE_PROJECT_DIR") or own
