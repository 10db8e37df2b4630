"""Recall by meaning on the command line: the setting `embedder`."""

from __future__ import annotations

import json

import pytest

from tests.cli.shell import Shell


def test_an_embedder_is_set_and_a_wrong_one_refused_without_repeating_it(shell: Shell) -> None:
    assert shell.json("config", "get", "embedder") == {"embedder": "auto"}
    row = {"api": "openai", "base_url": "http://localhost:11434/v1", "model": "bge-m3"}
    shell.ok("config", "set", "embedder", json.dumps(row))
    assert shell.json("config", "get", "embedder") == {"embedder": row}
    wrong = shell.mem("config", "set", "embedder", json.dumps({**row, "api_key": "sk-123456789012345678"}))
    assert wrong.code and "sk-1" not in wrong.out + wrong.err


@pytest.mark.parametrize("value", ["none", "auto"])
def test_words_stand_for_themselves(shell: Shell, value: str) -> None:
    shell.ok("config", "set", "embedder", value)
    assert shell.json("config", "get", "embedder") == {"embedder": value}
