from __future__ import annotations

from tests.cli.conftest import nursery, shell, shell_in

__all__ = ["nursery", "shell", "shell_in"]
