"""What of the memory a caller may look into: its project and the profile, unless it asked for all."""

from __future__ import annotations

from catmem.domain.errors import NotFound
from catmem.domain.memory import Memory
from catmem.domain.session import SessionRef
from catmem.mcp.port import Asked


def is_within(asked: Asked, memory: Memory) -> bool:
    """True for a memory of the caller's project, or of one merged into it, and for the profile's."""
    scope = asked.caller.scope
    return scope is None or memory.now.scope == "global" or memory.project in _members(asked, scope)


def memory_within(asked: Asked, id: str) -> Memory:
    """The memory of an id or its beginning. Raises NotFound, for one of another project too, and BadInput."""
    memory = asked.memory.store.require(id)
    if not is_within(asked, memory):
        raise NotFound(
            f"{id} is a memory of another project; set all_projects if the user asks for it",
            f"{id} 是其他项目的记忆；如用户要求，请设置 all_projects",
        )
    return memory


def session_within(asked: Asked, key: str) -> SessionRef:
    """The session of a key or its beginning. Raises NotFound and BadInput."""
    scope, history = asked.caller.scope, asked.memory.history
    try:
        return history.find(key, scope)
    except NotFound as error:
        raise NotFound(
            f"there is no session {key!r} here; list_sessions names them"
            + ("" if scope is None else ", and all_projects those of other projects"),
            f"这里没有会话 {key!r}；用 list_sessions 查看" + ("" if scope is None else "，all_projects 可查看其他项目"),
        ) from error


def _members(asked: Asked, project: str) -> tuple[str, ...]:
    return asked.memory.projects.registry().members(project)
