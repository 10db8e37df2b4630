from __future__ import annotations

import pytest

from catmem.llm.fallback import FallbackModel, Named
from catmem.llm.port import Failure, Turn
from catmem.llm.scripted import Line, ScriptedModel

TURNS = (Turn("user", "hello"),)


def later(rest: float = 30.0) -> Failure:
    return Failure("busy", "忙", remedy="later", rest=rest)


ANOTHER = Failure("wrong key", "密钥错误", remedy="another", rest=300.0)
GIVE_UP = Failure("no library", "缺少库", remedy="give up")


class World:
    def __init__(self, *scripts: list[list[Line]]) -> None:
        self.now = 0.0
        self.told: list[tuple[str, str, str]] = []
        self.models = [ScriptedModel(script) for script in scripts]
        named = [Named(f"m{place}", model) for place, model in enumerate(self.models)]
        self.model = FallbackModel(named, lambda a, b, why: self.told.append((a, b, why.en)), lambda: self.now)

    def ask(self) -> str:
        return "".join(self.model.stream(("s",), TURNS))

    @property
    def asked(self) -> list[int]:
        return [len(model.asked) for model in self.models]


@pytest.mark.parametrize("failure", [later(), ANOTHER])
def test_the_next_is_asked_and_the_user_told(failure: Failure) -> None:
    world = World([[failure]], [["hi"]], [["never"]])
    assert world.ask() == "hi"
    assert world.told == [("m0", "m1", failure.en)] and world.asked == [1, 1, 0]


def test_a_dead_one_is_left_alone_until_it_has_rested() -> None:
    world = World([[later()], ["back"]], [["b"], ["b"], ["b"]])
    assert [world.ask(), world.ask()] == ["b", "b"]
    assert world.asked == [1, 2] and len(world.told) == 1
    world.now = 31
    assert world.ask() == "back"


def test_a_failure_without_rest_is_of_this_request_only() -> None:
    world = World([[Failure("too long", "太长", remedy="another")], ["a"]], [["b"]])
    assert [world.ask(), world.ask()] == ["b", "a"]


def test_if_all_rest_the_one_that_is_ready_first_is_asked() -> None:
    world = World([[later(60)], ["late"]], [[later(20)], ["soon"]])
    with pytest.raises(Failure):
        world.ask()
    assert world.ask() == "soon" and world.asked == [1, 2]


def test_the_last_failure_is_raised_and_not_told() -> None:
    world = World([[later()]], [[ANOTHER]])
    with pytest.raises(Failure, match="wrong key"):
        world.ask()
    assert world.told == [("m0", "m1", "busy")]


def test_nothing_helps() -> None:
    world = World([[GIVE_UP]], [["hi"]])
    with pytest.raises(Failure, match="no library"):
        world.ask()
    assert world.asked == [1, 0]


def test_an_answer_that_broke_off_is_not_begun_again() -> None:
    world = World([["half ", later()]], [["hi"]])
    said: list[str] = []
    with pytest.raises(Failure, match="busy"):
        said.extend(world.model.stream(("s",), TURNS))
    assert said == ["half "] and world.asked == [1, 0]


def test_two_models_of_one_name_are_two() -> None:
    told: list[str] = []
    pair = [Named("m", ScriptedModel([[later()]])), Named("m", ScriptedModel([["hi"], ["hi"]]))]
    model = FallbackModel(pair, lambda a, b, why: told.append(a))
    assert ["".join(model.stream(("s",), TURNS)) for _ in range(2)] == ["hi", "hi"]
