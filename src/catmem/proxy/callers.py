"""What is known of the programs that ask: how each names its session, and which of its requests are no talk.

A row says what a program's requests look like, as seen with the versions named beside it. Header facts come first,
marks in texts after them. Of a program that is not listed everything is talk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from catmem.clients.claude_code import typed as claude_code
from catmem.clients.codex import typed as codex
from catmem.clients.gemini_cli import typed as gemini_cli
from catmem.domain.helper import is_helper_prompt
from catmem.proxy.http1 import Head
from catmem.proxy.wires.port import Asked, object_of, text_of

UNKNOWN = "proxy"
"""The client of a request that no row fits; its sessions have keys that begin with it."""

Typed = Callable[[Sequence[str]], str]
_METADATA = b"x-codex-turn-metadata"
# How the programs name the folder that they work in, in what they tell the model.
_FOLDER = re.compile(r"(?:orking directory: |<cwd>|in the directory: )([^\n<]+)")


def _plain(texts: Sequence[str]) -> str:
    return "\n".join(text for text in texts if text.strip())


def _of_claude_code(texts: Sequence[str]) -> str:
    said = "\n".join(part for text in texts if (part := claude_code.separate(text)[0]).strip())
    return "" if claude_code.is_bare_command(said) else said


def _of_codex(texts: Sequence[str]) -> str:
    return "\n".join(part for text in texts if (part := codex.separate(text)[0]).strip())


def _of_gemini(texts: Sequence[str]) -> str:
    return gemini_cli.separate(texts)[0]


# What aider puts behind a prompt to recall the form of an answer, in each of its edit formats (0.86).
_AIDER_REMINDER = re.compile(
    r"\n+(?:# \*SEARCH/REPLACE block\* Rules:|# File editing rules:|# V4A Diff Format Rules:"
    r"|To suggest changes to a file you MUST return).*\Z",
    re.DOTALL,
)


def _of_aider(texts: Sequence[str]) -> str:
    return _AIDER_REMINDER.sub("", _plain(texts)).strip()


@dataclass(frozen=True, slots=True)
class Caller:
    """One program.

    agents        how its User-Agent begins, in lower case
    own_header    a header that no other program sends
    sessions      the headers that name the session
    side_headers  headers that only requests of subagents and the like have
    side_systems  what stands in the system's words of a side request
    side_prompts  how the newest message of a side request begins
    forms         whether an answer in the form of a schema without tools is a side request
    toolless      whether a request without tools is one
    """

    client: str
    agents: tuple[str, ...]
    typed: Typed = _plain
    own_header: bytes = b""
    sessions: tuple[bytes, ...] = ()
    side_headers: tuple[bytes, ...] = ()
    side_systems: tuple[str, ...] = ()
    side_prompts: tuple[str, ...] = ()
    forms: bool = True
    toolless: bool = False


CALLERS = (
    # 2.1.197: a title has the form of a schema; a compaction looks like a turn but for how it begins.
    Caller(
        "claude-code",
        ("claude-cli/", "claude-code/"),
        _of_claude_code,
        own_header=b"x-claude-code-session-id",
        sessions=(b"x-claude-code-session-id",),
        side_headers=(b"x-claude-code-agent-id",),
        side_systems=("cc_is_subagent=true",),
        side_prompts=("CRITICAL: Respond with TEXT ONLY", "<session>"),
    ),
    # 0.171: every request says in a header what kind it is of (`_is_side_of_codex`).
    Caller(
        "codex",
        ("codex",),
        _of_codex,
        own_header=_METADATA,
        sessions=(b"session-id", b"session_id"),
        side_headers=(b"x-openai-subagent",),
    ),
    # 1.18: the title is asked for under the same session, without tools.
    Caller("opencode", ("opencode/",), sessions=(b"x-session-id", b"x-session-affinity"), toolless=True),
    # 0.61: the router wants a schema; a compression has no tools.
    Caller("gemini", ("geminicli",), _of_gemini, toolless=True),
)
# aider (0.86) asks through libraries that say nothing of it: its words tell.
_AIDER = Caller("aider", (), _of_aider, side_systems=("one-line Git commit messages",), forms=False)
_AIDER_WORDS = ("SEARCH/REPLACE block", "Act as an expert software developer", "one-line Git commit messages")
_OTHER = Caller(UNKNOWN, (), forms=False)


def caller_of(head: Head, asked: Asked | None = None) -> Caller:
    """The program that sent a request, by its headers, then by its words."""
    agent = head.value(b"user-agent").lower()
    for caller in CALLERS:
        if agent.startswith(caller.agents) or head.value(caller.own_header):
            return caller
    if asked is not None and any(words in text for text in asked.system for words in _AIDER_WORDS):
        return _AIDER
    return _OTHER


def session_of(caller: Caller, head: Head, asked: Asked | None = None) -> str:
    """The key under which the program's sessions are kept, "" if it names none."""
    id = next((value for name in caller.sessions if (value := head.value(name))), "")
    if caller.client == "codex":
        id = text_of(_metadata(head).get("session_id")) or id
    if not id and asked is not None and caller.client != UNKNOWN:
        id = asked.session
    return f"{caller.client}:{id}" if id else ""


def is_side(caller: Caller, head: Head, asked: Asked) -> bool:
    """True for a request that is no part of the talk: a title, a compaction, a subagent, a router, a commit message."""
    if any(head.value(name) for name in caller.side_headers):
        return True
    if caller.client == "codex" and _is_side_of_codex(head):
        return True
    if (caller.toolless and not asked.tools) or (caller.forms and asked.structured and not asked.tools):
        return True
    if any(mark in text for text in asked.system for mark in caller.side_systems):
        return True
    newest = next((spoken for spoken in reversed(asked.spoken) if spoken.role == "user"), None)
    texts = newest.texts if newest else ()
    if any(text.lstrip().startswith(caller.side_prompts) for text in texts if caller.side_prompts):
        return True
    first = next((spoken.text for spoken in asked.spoken if spoken.role == "user"), "")
    return is_helper_prompt(first)


def folder_of(asked: Asked) -> str:
    """The folder that the program says it works in, "" if it does not."""
    begin = [spoken.text for spoken in asked.spoken[:3] if spoken.role == "user"]
    for text in (*asked.system, *begin):
        found = _FOLDER.search(text)
        if found and _is_path(found[1].strip()):
            return found[1].strip()
    return ""


def _is_path(text: str) -> bool:
    return text.startswith(("/", "\\\\")) or text[1:3] in (":\\", ":/")


def _metadata(head: Head) -> dict[str, object]:
    try:
        return object_of(json.loads(head.value(_METADATA) or "{}"))
    except ValueError:
        return {}


def _is_side_of_codex(head: Head) -> bool:
    told = _metadata(head)
    kind, agent, source = (text_of(told.get(name)) for name in ("request_kind", "agent_name", "thread_source"))
    return kind not in ("", "turn") or agent not in ("", "/root") or source.startswith("subagent")
