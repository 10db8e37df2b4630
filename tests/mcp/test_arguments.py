"""Arguments as models send them."""

from __future__ import annotations

import pytest

from tests.mcp.world import ENGLISH, World


def test_arguments_are_taken_as_models_send_them(world: World) -> None:
    world.saved(ENGLISH)
    assert ENGLISH in world.call("recall", query="pnpm", limit="5", all_projects="false", kind="", since=None)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"query": 5}, {"query": "x", "limit": "many"}, {"query": "x", "limit": True}, {"query": "x", "kind": "rule"},
     {"query": "x", "all_projects": "perhaps"}, {"query": "x", "colour": "red"}, {"query": "x", "limit": float("inf")}],
)  # fmt: skip
def test_a_wrong_argument_is_explained(world: World, arguments: dict[str, object]) -> None:
    answer = world.fail("recall", **arguments)
    assert ("fault" not in answer and "`" in answer) or "takes no argument" in answer
