"""What every model must do, whichever adapter it is, the scripted one too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from catmem.llm.failures import Where as Place
from catmem.llm.failures import broken_off, cut_short, empty, refused
from catmem.llm.fallback import FallbackModel, Named
from catmem.llm.port import Failure, Model, Turn
from catmem.llm.providers import model_of
from catmem.llm.scripted import Line, ScriptedModel
from tests.llm.fake_server import Reply, serving

PLACE = Place("example.org", "KEY")
TURNS = (Turn("user", "Which port? 端口？"),)
SPOKEN = ("The port ", "is 5439. ", "端口是 5439。", "\n\n```\nx\n```", " 🦊")

Make = Callable[[Reply], Model]


def _script(reply: Reply) -> list[Line]:
    """What a reply of the fake server comes to, in the words of the seam."""
    if reply.status != 200:
        return [refused(PLACE, reply.status, "", None)]
    if reply.breaks:
        return [*reply.pieces, broken_off(cut_short(PLACE)) if reply.pieces else cut_short(PLACE)]
    return list(reply.pieces) or [empty(PLACE)]


@pytest.fixture(params=["scripted", "openai", "anthropic", "fallback"])
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    with ExitStack() as stack:

        def made(reply: Reply) -> Model:
            if request.param == "scripted":
                return ScriptedModel([_script(reply)])
            if request.param == "fallback":
                return FallbackModel([Named("one", ScriptedModel([_script(reply)]))], lambda *_: None)
            server = stack.enter_context(serving(reply))
            row = {"api": request.param, "base_url": f"{server.url}/v1", "model": "m", "api_key_env": "KEY"}
            return model_of(row, {"KEY": "k-12345678"})

        yield made


def said_until_failure(model: Model) -> tuple[list[str], Failure | None]:
    said: list[str] = []
    try:
        for piece in model.stream(("Be brief.", "And kind."), TURNS):
            said.append(piece)
    except Failure as failure:
        return said, failure
    return said, None


def test_answer_comes_in_pieces_and_whole(make: Make) -> None:
    assert said_until_failure(make(Reply(SPOKEN))) == (list(SPOKEN), None)


def test_nothing_is_asked_before_the_first_piece_is_wanted(make: Make) -> None:
    stream = make(Reply(SPOKEN)).stream((), TURNS)
    assert next(stream) == SPOKEN[0]
    stream.close()  # type: ignore[attr-defined]
    assert list(stream) == []


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        *((status, "another") for status in (302, 400, 401, 403, 404)),
        *((status, "later") for status in (429, 500, 503, 529)),
    ],
)
def test_a_refusal_says_what_helps_in_both_languages(make: Make, status: int, remedy: str) -> None:
    said, failure = said_until_failure(make(Reply(status=status, body="<html>no</html>")))
    assert said == [] and failure is not None
    assert failure.remedy == remedy and failure.exit_code == 11
    assert failure.en.isascii() and any("\u4e00" <= letter <= "\u9fff" for letter in failure.zh)
    assert "html" not in failure.en


def test_a_stream_that_dies_on_the_way_keeps_what_came_and_cannot_be_gone_on_with(make: Make) -> None:
    said, failure = said_until_failure(make(Reply(SPOKEN[:2], breaks=True)))
    assert said == list(SPOKEN[:2])
    assert failure is not None and failure.remedy == "give up"


def test_a_stream_that_dies_at_once_is_for_another_time(make: Make) -> None:
    said, failure = said_until_failure(make(Reply((), breaks=True)))
    assert said == [] and failure is not None and failure.remedy == "later" and failure.rest > 0


def test_an_empty_answer_is_a_failure(make: Make) -> None:
    said, failure = said_until_failure(make(Reply(())))
    assert said == [] and failure is not None and failure.remedy == "another"
