"""Which language the user reads: the setting, else the locale."""

from __future__ import annotations

import os


def language_of(setting: str) -> str:
    """`zh` or `en`."""
    if setting in ("zh", "en"):
        return setting
    for variable in ("LC_ALL", "LC_MESSAGES", "LANGUAGE", "LANG"):
        value = os.environ.get(variable, "")
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"
