"""How a program is told of the proxy, and that the proxy asks whom the program would have asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from catmem.proxy.programs import gemini_settings, start_of, upstreams_of
from catmem.proxy.routes import USUAL_UPSTREAMS

BASE = "http://127.0.0.1:4000"


def test_every_variable_names_the_proxy_the_project_and_the_server() -> None:
    variables = start_of(["aider"], BASE, "tea room/1", {"PATH": "/bin"}).environment
    assert variables["ANTHROPIC_BASE_URL"] == f"{BASE}/p/tea%20room%2F1/to/anthropic"
    assert variables["ANTHROPIC_API_BASE"] == variables["ANTHROPIC_BASE_URL"]
    assert variables["OPENAI_BASE_URL"] == variables["OPENAI_API_BASE"] == f"{BASE}/p/tea%20room%2F1/to/openai/v1"
    assert variables["GOOGLE_GEMINI_BASE_URL"] == f"{BASE}/p/tea%20room%2F1/to/gemini"
    assert variables["PATH"] == "/bin"


def test_a_network_s_proxy_is_not_asked_for_ours() -> None:
    variables = start_of(["x"], BASE, "p", {"HTTPS_PROXY": "http://proxy:8080", "NO_PROXY": "internal"}).environment
    assert variables["NO_PROXY"] == "internal,127.0.0.1,localhost"
    assert variables["HTTPS_PROXY"] == "http://proxy:8080"


def test_pure_is_in_the_address() -> None:
    assert (
        start_of(["x"], BASE, "p", {}, pure=True).environment["ANTHROPIC_BASE_URL"] == f"{BASE}/p/p/pure/to/anthropic"
    )


def test_a_variable_that_is_set_names_the_server_to_ask() -> None:
    assert upstreams_of({}) == USUAL_UPSTREAMS
    told = {"ANTHROPIC_BASE_URL": "https://relay.example/a", "OPENAI_API_BASE": "http://localhost:11434/v1"}
    found = upstreams_of(told)
    assert (found["anthropic"], found["openai"]) == ("https://relay.example/a", "http://localhost:11434/v1")
    assert upstreams_of({"OPENAI_BASE_URL": "not an address"}) == USUAL_UPSTREAMS


def test_a_proxy_under_a_proxy_asks_the_server_itself() -> None:
    outer = start_of(["bash"], BASE, "p", {"OPENAI_BASE_URL": "http://localhost:11434/v1"}).environment
    assert upstreams_of(outer) == upstreams_of({"OPENAI_BASE_URL": "http://localhost:11434/v1"})


@pytest.mark.parametrize(
    ("files", "environment", "address", "option"),
    [
        ({}, {}, "https://api.openai.com/v1", "openai_base_url"),
        ({}, {"OPENAI_BASE_URL": "http://x/v1"}, "http://x/v1", "openai_base_url"),
        ({"auth.json": '{"tokens":{"id":"x"}}'}, {}, "https://chatgpt.com/backend-api/codex", "openai_base_url"),
        (
            {"auth.json": '{"tokens":{"id":"x"}}'},
            {"CODEX_API_KEY": "k"},
            "https://api.openai.com/v1",
            "openai_base_url",
        ),
        ({"auth.json": '{"OPENAI_API_KEY":"k"}'}, {}, "https://api.openai.com/v1", "openai_base_url"),
        ({"config.toml": 'openai_base_url = "http://y/v1"'}, {}, "http://y/v1", "openai_base_url"),
        (
            {"config.toml": 'model_provider = "me"\n[model_providers.me]\nbase_url = "http://z/v1"'},
            {},
            "http://z/v1",
            "model_providers.me.base_url",
        ),
        ({"config.toml": "not = [toml"}, {}, "https://api.openai.com/v1", "openai_base_url"),
    ],
)
def test_codex_is_told_by_an_option_and_asked_for_whom_it_would_ask(
    tmp_path: Path, files: dict[str, str], environment: dict[str, str], address: str, option: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    variables = {"CODEX_HOME": str(tmp_path), **environment}
    command = ["/opt/bin/codex", "exec", "hi"]
    assert upstreams_of(variables, command)["codex"] == address
    start = start_of(command, BASE, "p", variables)
    assert start.command == ("/opt/bin/codex", "-c", f'{option}="{BASE}/p/p/to/codex"', "exec", "hi")


def test_opencode_is_told_by_a_piece_of_configuration(tmp_path: Path) -> None:
    folder = tmp_path / "opencode"
    folder.mkdir()
    mine = {"provider": {"mine": {"options": {"baseURL": "http://localhost:9/v1", "apiKey": "k"}}}}
    (folder / "opencode.jsonc").write_text("// 我的模型\n" + json.dumps(mine))
    given = {"theme": "dark", "provider": {"openai": {"options": {"timeout": 5}}}}
    variables = {"XDG_CONFIG_HOME": str(tmp_path), "OPENCODE_CONFIG_CONTENT": json.dumps(given)}
    assert upstreams_of(variables, ["opencode"])["opencode-mine"] == "http://localhost:9/v1"
    config = json.loads(start_of(["opencode"], BASE, "p", variables).environment["OPENCODE_CONFIG_CONTENT"])
    assert config["theme"] == "dark"
    assert config["provider"]["openai"]["options"] == {"timeout": 5, "baseURL": f"{BASE}/p/p/to/openai/v1"}
    assert config["provider"]["anthropic"]["options"] == {"baseURL": f"{BASE}/p/p/to/anthropic/v1"}
    assert config["provider"]["mine"]["options"] == {"baseURL": f"{BASE}/p/p/to/opencode-mine"}


def test_gemini_is_told_that_a_key_is_meant_unless_its_user_has_chosen(tmp_path: Path) -> None:
    folder = tmp_path / "ours"
    folder.mkdir()
    variables = {"HOME": str(tmp_path), "GEMINI_API_KEY": "k"}
    (path,) = gemini_settings(variables, folder).values()
    assert json.loads(Path(path).read_text())["security"]["auth"]["selectedType"] == "gemini-api-key"
    assert gemini_settings({"HOME": str(tmp_path)}, folder) == {}
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "settings.json").write_text('{"security":{"auth":{"selectedType":"oauth-personal"}}}')
    assert gemini_settings(variables, folder) == {}
