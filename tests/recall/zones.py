"""A time zone for the length of a block, as TZ gives it to a process."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from unittest.mock import patch


@contextlib.contextmanager
def zone(name: str) -> Iterator[None]:
    with patch.dict(os.environ, {"TZ": name}):
        time.tzset()
        try:
            yield
        finally:
            pass
    time.tzset()
