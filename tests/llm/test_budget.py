from __future__ import annotations

import json
import multiprocessing
import time
from pathlib import Path

import pytest

from catmem.llm.budget import Metered, Spend, Spending, Spent
from catmem.llm.failures import Where, refused, too_slow
from catmem.llm.fallback import FallbackModel, Named
from catmem.llm.port import Completion, Failure, Turn
from catmem.llm.scripted import Answer, ScriptedModel
from catmem.text.cut import estimate_tokens

TURNS = (Turn("user", "Which sentences? 哪些句子？"),)
SCHEMA = {"type": "object"}
PLACE = Where("example.org", "KEY")


class World:
    """A data directory with a clock; `answers` are those of the one model, called "m"."""

    def __init__(self, folder: Path, *answers: Answer, tokens: int = 1000, calls: int = 100) -> None:
        self.now = time.mktime((2026, 5, 31, 12, 0, 0, 0, 0, -1))
        self.file = folder / "run" / "spending.json"
        self.tokens = tokens
        self.spending = Spending(self.file, tokens, lambda: self.now, calls_a_run=calls)
        self.script = ScriptedModel(list(answers))
        self.model = Metered(self.script, "m", self.spending)

    def ask(self, max_tokens: int = 100) -> Completion:
        return self.model.complete(("s",), TURNS, SCHEMA, max_tokens=max_tokens)

    @property
    def today(self) -> Spend:
        return self.spending.account().today.get("m", Spend())


def test_what_the_server_counts_is_what_was_spent(tmp_path: Path) -> None:
    world = World(tmp_path, Completion("{}", "stop", 300, 40), Completion("{}", "stop", 30, 4))
    world.ask()
    world.ask()
    assert world.today == Spend(2, 330, 44) == world.spending.account().total["m"]


def test_what_it_does_not_count_is_estimated(tmp_path: Path) -> None:
    world = World(tmp_path, "一个相当长的回答 " * 5)
    world.ask()
    assert world.today.output_tokens == estimate_tokens("一个相当长的回答 " * 5)
    assert world.today.input_tokens >= estimate_tokens(TURNS[0].text)


def test_nothing_is_asked_that_the_day_does_not_hold(tmp_path: Path) -> None:
    world = World(tmp_path, *[Completion("{}", "stop", 400, 80)] * 9)
    world.ask()
    assert not world.spending.rests()
    world.ask()
    with pytest.raises(Spent) as caught:
        world.ask()
    assert len(world.script.asked) == 2 and world.spending.account().tokens_today == 960
    assert caught.value.remedy == "later" and "daily_token_budget" in caught.value.en and "预算" in caught.value.zh
    assert world.spending.rests()
    # Who allows more is served at once.
    larger = Spending(world.file, 5000, lambda: world.now)
    assert not larger.rests()
    Metered(world.script, "m", larger).complete((), TURNS, SCHEMA, max_tokens=100)


def test_tomorrow_is_another_day_and_yesterday_does_not_come_back(tmp_path: Path) -> None:
    world = World(tmp_path, *[Completion("{}", "stop", 900, 50)] * 9)
    world.ask()
    world.now += 86400
    assert world.today == Spend() and not world.spending.rests()
    world.ask()
    world.now -= 86400
    with pytest.raises(Spent):
        world.ask()
    assert world.spending.account().total["m"] == Spend(2, 1800, 100)


def test_a_run_asks_so_often_and_no_more(tmp_path: Path) -> None:
    world = World(tmp_path, *[Completion("{}", "stop", 1, 1)] * 9, calls=2)
    world.ask()
    world.ask()
    with pytest.raises(Spent):
        world.ask()
    assert len(world.script.asked) == 2 and not world.spending.rests()


@pytest.mark.parametrize(
    ("failure", "costs"),
    [(refused(PLACE, 401, "", None), False), (refused(PLACE, 429, "", 7.0), False), (too_slow(PLACE, 1), True)],
)
def test_what_a_failure_costs(tmp_path: Path, failure: Failure, costs: bool) -> None:
    world = World(tmp_path, failure)
    with pytest.raises(Failure):
        world.ask()
    assert world.today.calls == 1 and (world.today.tokens > 0) == costs


def test_a_call_that_was_killed_stays_booked(tmp_path: Path) -> None:
    def killed(asked: object) -> Answer:
        raise KeyboardInterrupt

    world = World(tmp_path)
    world.model = Metered(ScriptedModel(killed), "m", world.spending)
    with pytest.raises(KeyboardInterrupt):
        world.ask(max_tokens=500)
    assert world.today.output_tokens == 500


def test_a_person_who_waits_does_not_pay(tmp_path: Path) -> None:
    world = World(tmp_path, ["hi"], tokens=0)
    assert list(world.model.stream((), TURNS)) == ["hi"]
    assert not world.file.exists()


@pytest.mark.parametrize("held", [b"", b"{", b"[]", b'{"day": 3, "today": 4, "total": 5, "refused": 0}', b"\xff"])
def test_a_damaged_account_is_begun_anew(tmp_path: Path, held: bytes) -> None:
    world = World(tmp_path, Completion("{}", "stop", 5, 5))
    world.file.parent.mkdir()
    world.file.write_bytes(held)
    world.ask()
    assert world.today == Spend(1, 5, 5) and json.loads(world.file.read_bytes())["day"]


def test_who_has_nothing_left_is_not_left_for_another(tmp_path: Path) -> None:
    spending = Spending(tmp_path / "spending.json", 10)
    scripts = [ScriptedModel(["{}"]), ScriptedModel(["{}"])]
    told: list[str] = []
    named = [Named(f"m{place}", Metered(script, f"m{place}", spending)) for place, script in enumerate(scripts)]
    with pytest.raises(Spent):
        FallbackModel(named, lambda failed, *_: told.append(failed)).complete((), TURNS, SCHEMA)
    assert told == [] and not any(script.asked for script in scripts)


def _spend(file: str, times: int) -> None:
    spending = Spending(Path(file), 10_000)
    for _ in range(times):
        try:
            spending.book("m", Spend(1, 60, 40))
            spending.settle("m", Spend(1, 60, 40), Spend(1, 60, 10))
        except Spent:
            return


def test_several_processes_spend_no_more_than_there_is(tmp_path: Path) -> None:
    file = tmp_path / "spending.json"
    workers = [multiprocessing.get_context("spawn").Process(target=_spend, args=(str(file), 60)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    spent = Spending(file, 10_000).account().today["m"]
    assert 10_000 - 100 < spent.tokens <= 10_000 and spent.tokens == spent.calls * 70
