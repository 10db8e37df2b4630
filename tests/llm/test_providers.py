from __future__ import annotations

import json
from pathlib import Path

import pytest

from catmem.domain.errors import ModelFailed
from catmem.llm.budget import Spend, Spending, Spent
from catmem.llm.port import Completion, Turn
from catmem.llm.providers import working_models_of
from catmem.llm.resting import Rests
from catmem.settings.config import set_setting
from catmem.settings.paths import Paths
from catmem.wiring import Catmem
from tests.llm.fake_server import FakeServer, Reply, serving

TURNS = (Turn("user", "hello"),)


def row(name: str, server: FakeServer) -> dict[str, str]:
    return {"name": name, "api": "openai", "base_url": server.url, "model": "m"}


def work(folder: Path, *rows: dict[str, str], tokens: int = 10_000) -> Completion:
    """A worker that lives for one question."""
    spending = Spending(folder / "spending.json", tokens)
    return working_models_of(rows, Rests(folder / "models.json"), spending, {}).complete((), TURNS, {}, max_tokens=50)


@pytest.mark.parametrize("status", [401, 429, 500])
def test_a_dead_server_costs_the_next_worker_nothing(tmp_path: Path, status: int) -> None:
    with serving(Reply(status=status)) as dead, serving(Reply(("{}",), usage=(9, 1))) as good:
        answers = [work(tmp_path, row("dead", dead), row("good", good)) for _ in range(3)]
    assert answers == [Completion("{}", "stop", 9, 1, "good")] * 3
    assert len(dead.requests) == 1 and len(good.requests) == 3
    account = Spending(tmp_path / "spending.json", 10_000).account()
    assert account.today == {"dead": Spend(1), "good": Spend(3, 27, 3)}


def test_what_is_spent_is_not_asked_for(tmp_path: Path) -> None:
    with serving(Reply(("{}",))) as server, pytest.raises(Spent):
        work(tmp_path, row("m", server), tokens=40)
    assert server.requests == []


def test_the_models_of_a_data_directory(tmp_path: Path) -> None:
    paths = Paths(tmp_path / "data")
    paths.make(paths.root)
    assert Catmem(paths.root).working_model is None
    with serving(Reply(status=500)) as dead, serving(Reply(("{}",), usage=(9, 1))) as good:
        set_setting(paths, "models", json.dumps([row("dead", dead), row("good", good)]))
        for _ in range(2):
            worker = Catmem(paths.root).working_model
            assert worker is not None and worker.complete((), TURNS, {}).model == "good"
    assert len(dead.requests) == 1
    assert Catmem(paths.root).spending.account().today["good"] == Spend(2, 18, 2)
    # Without a budget no model is asked; the rules do the work.
    set_setting(paths, "daily_token_budget", "0")
    assert Catmem(paths.root).working_model is None


def test_a_model_that_cannot_work_says_so(tmp_path: Path) -> None:
    paths = Paths(tmp_path / "data")
    paths.make(paths.root)
    missing = {"api": "command", "command": ["catmem-no-such-program"]}
    set_setting(paths, "models", json.dumps([missing]))
    worker = Catmem(paths.root).working_model
    assert worker is not None
    with pytest.raises(ModelFailed, match="catmem-no-such-program"):
        worker.complete((), TURNS, {})
    # What is known to be wrong beforehand is said beforehand, unless another may do.
    wrong = {"api": "openai", "base_url": "http://[bad", "model": "m"}
    set_setting(paths, "models", json.dumps([wrong]))
    with pytest.raises(ModelFailed, match="base_url"):
        _ = Catmem(paths.root).working_model
    set_setting(paths, "models", json.dumps([wrong, missing]))
    assert Catmem(paths.root).working_model is not None
