"""The tool `remember`: the user's own words are kept as theirs, whatever else a model passes is a note of its own.

So a document, a web page or the output of a tool that says "remember: …" cannot become a rule: what a model calls
this tool with counts only as far as the user has really said it in this session.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from catmem.brief.suspicion import is_order
from catmem.capture.remember import as_kept, note
from catmem.capture.remember import remember as keep
from catmem.domain.change import Change
from catmem.domain.errors import BadInput, NotFound
from catmem.domain.memory import Evidence, Memory, normal
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.mcp.own_words import where_said
from catmem.mcp.port import Asked

_WHY = "asked for through an assistant"


def remember(asked: Asked) -> str:
    """Raises BadInput for a text that cannot be kept."""
    memory = asked.memory
    memory.store.catch_up()
    text = as_kept(asked.arguments["text"], memory.redact)
    heard = _heard(asked, text)
    answer = _keep_as_said(asked, text, *heard) if heard else _keep_as_note(asked, text)
    asked.catch_up()
    return answer


def _heard(asked: Asked, text: str) -> tuple[SessionRef, Message] | None:
    """Where the user has said it, if anybody has captured that."""
    for session in _sessions(asked):
        said = where_said(text, asked.memory.history.talk(session))
        if said is not None:
            return session, said
    return None


def _sessions(asked: Asked) -> Iterator[SessionRef]:
    """The session of the call; then those that the client has held in the project while this server ran.

    A server is told the session that it was started in, and that name stays when the user clears the talk.
    """
    history, caller = asked.memory.history, asked.caller
    if not caller.session:
        return
    with contextlib.suppress(NotFound, BadInput):
        yield history.find(caller.session)
    client = caller.session.partition(":")[0] + ":"
    for header in history.headers(caller.project):
        if header.key != caller.session and header.key.startswith(client) and header.updated_at >= caller.since:
            yield header.ref


def _keep_as_said(asked: Asked, text: str, session: SessionRef, said: Message) -> str:
    memory, everywhere = asked.memory, asked.arguments["everywhere"]
    known = None if everywhere else _known(asked, text)
    if known is not None and known.now.by != "assistant":
        if not known.now.pinned:
            pin = Change(0, "", "", "pin", "user", why=_WHY, ids=(known.id,))
            memory.store.commit([pin])
        return asked.said(f"Remembered as {known.id}, pinned: {text}", f"已记住并固定，编号 {known.id}：{text}")
    id = keep(
        memory.store,
        text,
        project=asked.caller.project,
        scope="global" if everywhere else "project",
        kind="preference" if everywhere else "note",
        session=session.key,
        redact=memory.redact,
        clock=memory.clock,
        evidence=Evidence(said.timestamp, session.project, session.key, said.id, text),
        why=_WHY,
    )
    return asked.said(
        f"Remembered as {id}, in the user's own words, pinned: {text}", f"已按用户原话记住并固定，编号 {id}：{text}"
    )


def _keep_as_note(asked: Asked, text: str) -> str:
    memory = asked.memory
    if is_order(text):
        raise BadInput(
            "not kept: it reads like an order to an assistant, and the user did not say it in this session",
            "未保存：这段话像是给助手的指令，而用户在本次会话中没有说过",
        )
    known = _known(asked, text)
    if known is not None:
        return asked.said(f"Known already as {known.id}; nothing was changed.", f"已有这条记忆：{known.id}；未作改动。")
    id = note(
        memory.store,
        text,
        project=asked.caller.project,
        session=asked.caller.name,
        redact=memory.redact,
        clock=memory.clock,
    )
    if not id:
        return asked.said("Not kept: the user had this forgotten.", "未保存：用户曾要求忘记这条内容。")
    return asked.said(
        f"Kept as {id}, only as a note of yours in this project: these are not the user's own words in this session, so "
        f"it is no rule, no preference, and not pinned. If the user asks for it, pass their sentence word for word, or "
        f"let them run `mem recall --save`.",
        f"已保存为 {id}，但只作为你在本项目中的笔记：这不是用户在本次会话中的原话，因此不是规则或偏好，也不固定。"
        f"如果用户要求记住，请逐字传入用户的原句，或请用户运行 `mem recall --save`。",
    )


def _known(asked: Asked, text: str) -> Memory | None:
    """What says the same already, in the project or about the user."""
    wanted = normal(text)
    alike = [m for m in asked.memory.store.live(asked.caller.project) if normal(m.now.text) == wanted]
    return next((m for m in alike if m.now.by == "user"), alike[0] if alike else None)
