"""A program that has seen an answer goes on at once, on a machine where we hear it only later."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from catmem.proxy.exchange import Exchange
from catmem.proxy.recorder import Recorder
from tests.proxy.talks import answer_whole
from tests.proxy.upstream import Upstream, whole
from tests.proxy.world import World, serving

# Seconds; a reader is done with the next request long before that.
LATE = 0.3
CALL = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"path": "shelf.md"}}
STEP = {
    "type": "message",
    "content": [{"type": "text", "text": "I look. 我看看。"}, CALL],
    "usage": {"output_tokens": 3},
}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "teapot: 3"}]}


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream([whole(json.dumps(STEP).encode())]) as server:
        yield server


@pytest.fixture
def world(tmp_path: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    hear = Recorder._hear

    def hear_late(recorder: Recorder, exchange: Exchange) -> None:
        time.sleep(LATE)
        hear(recorder, exchange)

    monkeypatch.setattr(Recorder, "_hear", hear_late)
    with serving(tmp_path, upstream.url) as made:
        yield made


def test_calls_and_the_next_words_are_of_the_same_talk(world: World, upstream: Upstream) -> None:
    said = [{"role": "user", "content": "where? 在哪里？"}]
    world.ask("/v1/messages", {"model": "m", "messages": said})
    upstream.scripts = [whole(answer_whole("anthropic", "third 第三层"))]
    said += [{"role": "assistant", "content": STEP["content"]}, {"role": "user", "content": [RESULT]}]  # type: ignore[dict-item]
    world.ask("/v1/messages", {"model": "m", "messages": said})
    said += [{"role": "assistant", "content": "third 第三层"}, {"role": "user", "content": "sure? 确定吗？"}]
    world.ask("/v1/messages", {"model": "m", "messages": said})
    world.settled()
    turns = [message.role for message in world.messages()]
    assert turns == ["user", "assistant", "tool", "assistant", "user", "assistant"]
