"""Libraries that compute start a thread for each core, as they are loaded; here they get one core.

A query is some milliseconds of arithmetic. With a thread on each core, numpy's were seen to take six times the processor
time of one alone, waiting for each other, and on a busy machine four times as long.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

# Read by OpenMP, OpenBLAS, MKL and Apple's Accelerate when they are loaded.
NAMES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@contextmanager
def one_core() -> Iterator[None]:
    """What is loaded in it computes with one thread; programs that are started later do not see that."""
    before = {name: os.environ.get(name) for name in NAMES}
    os.environ.update(dict.fromkeys(NAMES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
