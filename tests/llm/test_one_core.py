"""What computes for us takes one core, and what is started later knows nothing of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from catmem.index.vectors.builder import VectorIndex
from catmem.llm.hashed import HashedEmbedder
from catmem.llm.one_core import NAMES, one_core
from tests.index.world import World

ROOT = Path(__file__).parents[2]
TASKS = Path("/proc/self/task")
MANY = pytest.mark.skipif(not TASKS.exists() or (os.cpu_count() or 1) < 2, reason="threads are counted on Linux")

# What numpy is told when a recall loads it. (The threads of the index come and go, so counting them shows nothing.)
RECALLED = """
import os, sys
from pathlib import Path
from catmem.llm.hashed import HashedEmbedder
from catmem.recall.recall import Recaller
from catmem.settings.paths import Paths
from catmem.settings.schema import Settings

class Watching:
    def find_spec(self, name, *_):
        if name == "numpy":
            print(os.environ.get("OPENBLAS_NUM_THREADS", 0))

sys.meta_path.insert(0, Watching())
recaller = Recaller(Paths(Path(sys.argv[1])), Settings(), embedder=HashedEmbedder())
assert recaller.recall("red car", project="shop")["mode"] == "hybrid"
"""


def printed(code: str, *arguments: str) -> int:
    """The number that a fresh process prints."""
    environment = {name: value for name, value in os.environ.items() if name not in NAMES}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    command = [sys.executable, "-c", code, *arguments]
    return int(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


@MANY
def test_a_library_loaded_in_it_starts_no_threads() -> None:
    count = "import os; print(len(os.listdir('/proc/self/task')))"
    assert printed(f"import numpy; {count}") > 1, "else this shows nothing"
    assert printed(f"from catmem.llm.one_core import one_core\nwith one_core():\n    import numpy\n{count}") == 1


def test_a_recall_by_meaning_loads_numpy_for_one_core(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.learn("The red car stands in the yard")
    world.catch_up()
    VectorIndex(world.paths).build(HashedEmbedder())
    assert printed(RECALLED, str(world.paths.root)) == 1


def test_what_was_set_is_set_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with one_core():
        assert os.environ["OMP_NUM_THREADS"] == os.environ["OPENBLAS_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "7" and "OPENBLAS_NUM_THREADS" not in os.environ
