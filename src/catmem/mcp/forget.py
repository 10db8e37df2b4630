"""The tool `forget`: a first call shows what would go and gives a token, a second one with that token does it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from catmem.domain.clock import local_day
from catmem.domain.errors import BadInput, NotFound, VersionConflict
from catmem.domain.memory import Memory
from catmem.inject.forget import forget as forget_everywhere
from catmem.inject.forget import with_words
from catmem.mcp.port import Asked, Offer
from catmem.mcp.quoting import fenced, on_one_line
from catmem.mcp.scope import is_within, memory_within
from catmem.mcp.telling import tell

# A user can look over so many; who wants more gone uses the command line.
MOST = 20
# Previews that wait for a yes; an older one is shown anew.
_WAITING = 8
_LONGEST = 600


def forget(asked: Asked) -> str:
    """Raises BadInput, NotFound, VersionConflict."""
    asked.memory.pages.write()  # A line edited by hand is that memory, and would come back as another one.
    token, ids, words = (asked.arguments[name] for name in ("token", "ids", "words"))
    if token:
        if ids or words:
            raise BadInput(
                "a token goes alone: it stands for what the preview showed", "token 须单独传入：它代表预览中列出的内容"
            )
        return _carry_out(asked, token)
    if not ids and not words:
        raise BadInput("name what to forget: `ids` or `words`", "请指明要忘记什么：`ids` 或 `words`")
    chosen = _chosen(asked, ids or (), words or "")
    if not chosen:
        return asked.said("No memory fits; nothing was changed.", "没有符合的记忆；未作任何改动。")
    if len(chosen) > MOST:
        raise BadInput(
            f"{len(chosen)} memories fit, more than {MOST}; name fewer, or let the user run `mem forget`",
            f"有 {len(chosen)} 条记忆符合，超过 {MOST} 条；请缩小范围，或由用户运行 `mem forget`",
        )
    return _preview(asked, chosen)


def _chosen(asked: Asked, ids: Sequence[str], words: str) -> list[Memory]:
    if ids:
        named = [memory_within(asked, id) for id in dict.fromkeys(ids)]
        chosen = list({memory.id: memory for memory in named if memory.now.status != "forgotten"}.values())
    else:
        chosen = [m for m in asked.memory.store.all() if m.now.status != "forgotten" and is_within(asked, m)]
    return with_words(chosen, words) if words else chosen


def _preview(asked: Asked, chosen: Sequence[Memory]) -> str:
    token = secrets.token_hex(4)
    while len(asked.offers) >= _WAITING:
        del asked.offers[next(iter(asked.offers))]
    asked.offers[token] = Offer(tuple((memory.id, memory.version) for memory in chosen))
    tell(asked, [(m.id, on_one_line(m.now.text, _LONGEST)) for m in chosen], query="forget")
    shown = fenced("\n".join(_lines(asked, memory) for memory in chosen), asked.memory.language)
    return asked.said(
        f"Nothing was changed yet. This would be forgotten for good:\n{shown}\nShow it to the user. If they agree, "
        f'call forget with token "{token}" and nothing else.',
        f"尚未作任何改动。以下内容将被彻底忘记：\n{shown}\n请给用户看。用户同意后，只带 token “{token}” 再调用 forget。",
    )


def _lines(asked: Asked, memory: Memory) -> str:
    lines = [f"- {memory.id}  {on_one_line(memory.now.text, _LONGEST)}"]
    for revision in reversed(memory.revisions[:-1]):
        if revision.text:
            before = on_one_line(revision.text, _LONGEST)
            lines.append(asked.said(f"    before: {before}", f"    此前：{before}"))
    sources = {(e.session, local_day(e.at)) for revision in memory.revisions for e in revision.evidence}
    for session, day in sorted(sources, key=lambda source: source[1]):
        lines.append(asked.said(f"    from {on_one_line(session)}, {day}", f"    出自 {on_one_line(session)}（{day}）"))
    return "\n".join(lines)


def _carry_out(asked: Asked, token: str) -> str:
    offer = asked.offers.pop(token.strip(), None)
    if offer is None:
        raise NotFound(
            "this token is not known (it is good once, in this session); call forget with ids or words first",
            "token 无效（只能在本次会话中使用一次）；请先传入编号或关键词",
        )
    present = [asked.memory.store.require(id) for id, _ in offer.versions]
    if tuple((memory.id, memory.version) for memory in present) != offer.versions:
        raise VersionConflict(
            "these memories have changed since they were shown; call forget with ids or words again",
            "这些记忆在展示之后有变化；请重新传入编号或关键词",
        )
    forget_everywhere(asked.memory, present, why="forgotten through an assistant")
    gone = ", ".join(memory.id for memory in present)
    return asked.said(
        f"Forgotten: {gone}. The conversations still hold what was said; `mem forget --purge` removes it there too.",
        f"已忘记：{gone}。原始会话仍保留原话；用 `mem forget --purge` 可一并删去。",
    )
