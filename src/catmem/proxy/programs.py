"""How a program is told that it should ask the proxy: by variables, by options, by a piece of configuration.

Nothing of the user's is written to; what a program would ask without us is what the proxy asks for it.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from catmem.proxy.routes import ANTHROPIC, GEMINI, OPENAI, USUAL_UPSTREAMS
from catmem.proxy.wires.port import object_of, text_of

# Variable -> the upstream whose address it holds, and what programs expect behind the address of a host.
_VARIABLES = {
    "ANTHROPIC_BASE_URL": (ANTHROPIC, ""),
    "ANTHROPIC_API_BASE": (ANTHROPIC, ""),
    "OPENAI_BASE_URL": (OPENAI, "/v1"),
    "OPENAI_API_BASE": (OPENAI, "/v1"),
    "GOOGLE_GEMINI_BASE_URL": (GEMINI, ""),
}
_BEYOND = "CATMEM_UPSTREAMS"
"""Holds the upstreams of a proxy for what is started under it, so that a second one does not ask the first."""

CODEX, OPENCODE = "codex", "opencode"
_CODEX_ACCOUNT = "https://chatgpt.com/backend-api/codex"
_OPENCODE_CONFIG = "OPENCODE_CONFIG_CONTENT"
_OPENCODE_PROVIDERS = {"anthropic": (ANTHROPIC, "/v1"), "openai": (OPENAI, "/v1"), "google": (GEMINI, "/v1beta")}
_GEMINI_SYSTEM = "GEMINI_CLI_SYSTEM_SETTINGS_PATH"


@dataclass(frozen=True, slots=True)
class Start:
    """How a command is run under a proxy: its words and its variables."""

    command: tuple[str, ...]
    environment: dict[str, str]


def upstreams_of(environment: Mapping[str, str], command: Sequence[str] = ()) -> dict[str, str]:
    """name -> address of the servers that a command would ask with these variables."""
    found = dict(USUAL_UPSTREAMS)
    for variable, (name, _) in reversed(_VARIABLES.items()):
        if environment.get(variable, "").startswith(("http://", "https://")):
            found[name] = environment[variable]
    found.update(_beyond(environment))
    if _program(command) == CODEX:
        found[CODEX] = _codex_address(environment, found[OPENAI])
    elif _program(command) == OPENCODE:
        found.update({f"{OPENCODE}-{name}": address for name, address in _opencode_addresses(environment).items()})
    return found


def start_of(
    command: Sequence[str], base: str, project: str, environment: Mapping[str, str], *, pure: bool = False
) -> Start:
    """The command so that it asks the proxy at `base` (http://host:port)."""
    root = f"{base}/p/{quote(project, safe='')}" + ("/pure" if pure else "")
    variables = dict(environment)
    for variable, (name, version) in _VARIABLES.items():
        variables[variable] = f"{root}/to/{name}{version}"
    variables[_BEYOND] = json.dumps(upstreams_of(environment, command))
    # The network's own proxy is for the world outside, and we are not.
    for variable in ("NO_PROXY", "no_proxy"):
        variables[variable] = ",".join(filter(None, (environment.get(variable, ""), "127.0.0.1,localhost")))
    words = tuple(command)
    program = _program(command)
    if program == CODEX:
        words = (words[0], *_codex_options(environment, f"{root}/to/{CODEX}"), *words[1:])
    elif program == OPENCODE:
        variables[_OPENCODE_CONFIG] = _opencode_config(environment, root)
    return Start(words, variables)


def _program(command: Sequence[str]) -> str:
    return Path(command[0]).stem.lower() if command else ""


def _beyond(environment: Mapping[str, str]) -> dict[str, str]:
    told = _object_in(environment.get(_BEYOND, ""))
    return {name: address for name, address in told.items() if isinstance(address, str) and name != CODEX}


# Codex heeds no variable: its address is an option. With a provider of the user's own it is that provider's.


def _codex_home(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("CODEX_HOME") or Path(environment.get("HOME", "~"), ".codex")).expanduser()


def _codex_provider(environment: Mapping[str, str]) -> tuple[str, str]:
    """(name, address) of the provider that config.toml sets, ("", "") for the built-in one."""
    try:
        config = tomllib.loads(_text_of(_codex_home(environment) / "config.toml"))
    except ValueError:
        return "", ""
    name = text_of(config.get("model_provider"))
    row = object_of(object_of(config.get("model_providers")).get(name))
    return (name, text_of(row.get("base_url"))) if row.get("base_url") else ("", text_of(config.get("openai_base_url")))


def _codex_address(environment: Mapping[str, str], usual: str) -> str:
    _, address = _codex_provider(environment)
    if address:
        return address
    if environment.get("CODEX_API_KEY"):
        return usual
    login = _object_in(_text_of(_codex_home(environment) / "auth.json"))
    return _CODEX_ACCOUNT if login.get("tokens") and not login.get("OPENAI_API_KEY") else usual


def _codex_options(environment: Mapping[str, str], address: str) -> tuple[str, str]:
    name, _ = _codex_provider(environment)
    setting = f"model_providers.{name}.base_url" if name else "openai_base_url"
    return "-c", f"{setting}={json.dumps(address)}"


# opencode takes a piece of its configuration from a variable, and merges it over its files. A provider of the user's
# own keeps its address there, so that is looked up first.


def _opencode_config(environment: Mapping[str, str], root: str) -> str:
    config = _object_in(environment.get(_OPENCODE_CONFIG, ""))
    providers = {**object_of(config.get("provider"))}
    addresses = {name: f"{root}/to/{upstream}{version}" for name, (upstream, version) in _OPENCODE_PROVIDERS.items()}
    addresses |= {name: f"{root}/to/{OPENCODE}-{quote(name)}" for name in _opencode_addresses(environment)}
    for name, address in addresses.items():
        row = {**object_of(providers.get(name))}
        row["options"] = {**object_of(row.get("options")), "baseURL": address}
        providers[name] = row
    return json.dumps({**config, "provider": providers})


def _opencode_addresses(environment: Mapping[str, str]) -> dict[str, str]:
    """provider -> the address that the user's configuration gives it."""
    home = environment.get("XDG_CONFIG_HOME") or os.path.join(environment.get("HOME", "~"), ".config")
    places = [Path(home).expanduser() / OPENCODE, Path()]
    texts = [_text_of(place / name) for place in places for name in ("opencode.json", "opencode.jsonc")]
    found = {}
    for text in (*texts, environment.get(_OPENCODE_CONFIG, "")):
        for name, row in object_of(_object_in(text).get("provider")).items():
            address = text_of(object_of(object_of(row).get("options")).get("baseURL"))
            if address.startswith(("http://", "https://")):
                found[name] = address
    return found


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, ValueError):
        return ""


def _object_in(text: str) -> dict[str, Any]:
    """An object as JSON, with comments on lines of their own; {} for anything else."""
    try:
        return object_of(json.loads(re.sub(r"(?m)^\s*//.*$", "", text)))
    except ValueError:
        return {}


def gemini_settings(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Variables with which Gemini CLI takes a key with another address, which it refuses unless its settings say so.

    `folder` holds the file that says it, as long as the program runs. {} where the user's settings say it already.
    """
    if _GEMINI_SYSTEM in environment or not environment.get("GEMINI_API_KEY"):
        return {}
    settings = _object_in(_text_of(Path(environment.get("HOME", "~"), ".gemini", "settings.json").expanduser()))
    if object_of(object_of(settings.get("security")).get("auth")).get("selectedType"):
        return {}
    file = folder / "gemini-settings.json"
    file.write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}), "utf-8")
    os.chmod(file, 0o600)
    return {_GEMINI_SYSTEM: str(file)}


def is_gemini(command: Sequence[str]) -> bool:
    return _program(command) == "gemini"
