"""The settings that bound a brief, as a hook has them: plain values, perhaps not all (hot path)."""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# A host cuts longer context to a preview of 2 KB (Claude Code does at 10 KB), so the brief never is.
MOST_BYTES = 9000

Bounds = namedtuple("Bounds", "brief_tokens profile_tokens items threshold half_lives scoped")
"""`items` is the number of relevant history; `scoped` keeps other projects out."""

# Those of settings/schema, which costs a hook 10 ms to import; a test holds the two together.
DEFAULTS: dict[str, Any] = {
    "brief_token_limit": 1200,
    "long_term_profile_token_limit": 50,
    "max_recall_items": 15,
    "semantic_match_threshold": 0.35,
    "recency_half_life_days": {"note": 30.0, "progress": 14.0, "decision": 180.0},
    "project_scope_enabled": True,
}


def bounds_of(values: Mapping[str, Any]) -> Bounds:
    """The bounds that settings give; what `values` does not name has its default."""
    return Bounds(*({**DEFAULTS, **values}[name] for name in DEFAULTS))
