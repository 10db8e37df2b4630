"""Our own memory among an assistant's tools: what it returns was known before, and is not learned again."""

from __future__ import annotations

import re

# Each host puts something before the name of a server: `mcp__catmem__recall`, `mcp_catmem_recall`, `catmem_recall`.
_OWN_TOOL = re.compile(r"(?:mcp_{1,2})?(?:plugin_)?catmem")
RECALLED = "[recalled memories, not kept here]"


def is_own_tool(name: str) -> bool:
    return bool(_OWN_TOOL.match(name))
