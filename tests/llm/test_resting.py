from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catmem.llm.fallback import FallbackModel, Named
from catmem.llm.port import Completion, Failure, Turn
from catmem.llm.providers import key_of
from catmem.llm.resting import Rests
from catmem.llm.scripted import Answer, ScriptedModel

TURNS = (Turn("user", "hello"),)
LATER = Failure("busy", "忙", remedy="later", rest=30.0)
ANOTHER = Failure("wrong key", "密钥错误", remedy="another", rest=300.0)
GIVE_UP = Failure("no library", "缺少库", remedy="give up")


class World:
    """Two models, m0 and m1, and workers that each live for one question."""

    def __init__(self, folder: Path, *scripts: list[Answer]) -> None:
        self.now = 1_780_000_000.0
        self.file = folder / "run" / "models.json"
        self.models = [ScriptedModel(script) for script in scripts]
        self.told: list[str] = []

    def ask(self) -> Completion:
        named = [Named(f"m{place}", model, f"key{place}") for place, model in enumerate(self.models)]
        worker = FallbackModel(
            named, lambda failed, *_: self.told.append(failed), rests=Rests(self.file, lambda: self.now)
        )
        return worker.complete((), TURNS, {})

    @property
    def asked(self) -> list[int]:
        return [len(model.asked) for model in self.models]


@pytest.mark.parametrize("failure", [LATER, ANOTHER])
def test_the_next_worker_does_not_ask_the_dead_one_first(tmp_path: Path, failure: Failure) -> None:
    world = World(tmp_path, [failure, "back"], ["b", "b"])
    assert [world.ask().model, world.ask().model] == ["m1", "m1"]
    assert world.asked == [1, 2] and world.told == ["m0"]
    world.now += failure.rest + 1
    assert world.ask() == Completion("back", model="m0")


def test_if_all_rest_background_work_comes_back_later(tmp_path: Path) -> None:
    world = World(tmp_path, [LATER], [ANOTHER])
    for _ in range(3):
        with pytest.raises(Failure) as caught:
            world.ask()
    assert world.asked == [1, 1]
    assert caught.value.remedy == "later" and caught.value.rest == 30 and "mem models check" in caught.value.zh


def test_nothing_helps(tmp_path: Path) -> None:
    world = World(tmp_path, [GIVE_UP], ["hi"])
    with pytest.raises(Failure, match="no library"):
        world.ask()
    assert world.asked == [1, 0]


OUTCOMES = st.sampled_from(["{}", LATER, ANOTHER, GIVE_UP])


@settings(max_examples=60, deadline=None)
@given(rounds=st.lists(st.tuples(OUTCOMES, OUTCOMES, OUTCOMES, st.integers(0, 400)), min_size=1, max_size=6))
def test_whatever_fails_the_first_that_can_answer_does(rounds: list[tuple[Answer, Answer, Answer, int]]) -> None:
    now, until = 0.0, [0.0] * 3
    rests = Rests(clock=lambda: 1e9 + now)
    for *outcomes, seconds in rounds:
        models = [ScriptedModel([outcome]) for outcome in outcomes]
        named = [Named(f"m{place}", model, f"key{place}") for place, model in enumerate(models)]
        awake = [place for place in range(3) if until[place] <= now]
        asked, answered = [], None
        for place in awake:
            asked.append(place)
            outcome = outcomes[place]
            if not isinstance(outcome, Failure):
                answered = place
                break
            until[place] = now + outcome.rest if outcome.rest else until[place]
            if outcome is GIVE_UP:
                break
        try:
            said = FallbackModel(named, lambda *_: None, rests=rests).complete((), TURNS, {})
            assert answered is not None and said.model == f"m{answered}"
        except Failure as failure:
            assert answered is None
            assert failure is outcomes[asked[-1]] if asked else failure.remedy == "later"
        assert [place for place in range(3) if models[place].asked] == asked
        now += seconds


@pytest.mark.parametrize("held", [b"", b"{", b'{"resting": []}', b'{"resting": {"key0": "tomorrow"}}'])
def test_a_damaged_file_is_no_file(tmp_path: Path, held: bytes) -> None:
    world = World(tmp_path, ["a", LATER], ["b", "b"])
    world.file.parent.mkdir()
    world.file.write_bytes(held)
    assert [world.ask().text, world.ask().text, world.ask().text] == ["a", "b", "b"]


def test_a_clock_that_was_set_back_does_not_put_a_model_to_sleep(tmp_path: Path) -> None:
    world = World(tmp_path, [LATER, "a"], ["b"])
    assert world.ask().text == "b"
    world.now -= 86400 * 365
    assert world.ask().text == "a"


def test_a_row_that_was_mended_is_another_model() -> None:
    row = {"api": "openai", "base_url": "http://127.0.0.1:1", "model": "m", "api_key_env": "KEY"}
    assert key_of(row) == key_of(dict(reversed(row.items()))) != key_of({**row, "api_key_env": "OTHER"})
    command = {"api": "command", "command": ["ollama", "run", "a"]}
    assert key_of(command) != key_of({**command, "command": ["ollama", "run", "b"]})
