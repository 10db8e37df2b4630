"""The words of the design for a person; kept in domain, since the MCP server says them, too."""

from __future__ import annotations

from catmem.domain.words import reason as reason
from catmem.domain.words import word as word
