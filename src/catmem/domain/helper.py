"""How a session of our own helper is known, so that it is never taken for the user's (standard library only: hot path).

Whoever starts an assistant on behalf of catmem sets `HELPER_ENV` and begins the prompt with `HELPER_MARKER`.
"""

from __future__ import annotations

HELPER_ENV = "CATMEM_HELPER"
HELPER_MARKER = "[memory-helper v1]"
_HELPER_HEAD = "[memory-helper v"


def is_helper_prompt(text: str) -> bool:
    """True for a first prompt that catmem itself wrote, in whichever version."""
    return text.lstrip().startswith(_HELPER_HEAD)


def is_helper_environment(environment: object) -> bool:
    """True if the variables of a process say that it works for catmem."""
    value = environment.get(HELPER_ENV, "") if hasattr(environment, "get") else ""
    return value not in ("", "0")
