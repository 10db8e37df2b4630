"""Every assistant's configuration: in and out again, byte for byte, whatever stood there and whoever wrote in between."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from catmem.clients.hosts import INSTALLABLE, hosts, installer
from catmem.clients.installing import FileInstaller, Program
from catmem.domain.errors import BadInput
from catmem.settings.paths import Paths

PROGRAM = Program(("/opt/my mem/bin/mem",), ("--dir", "/data/记忆"))

# The files of each assistant, and what a person may have in them.
FILES: dict[str, dict[str, list[str]]] = {
    "claude-code": {
        "settings.json": [
            '{"model": "x"}',
            '{\n  "hooks": {"Stop": []}\n}\n',
            '\ufeff{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"other"}]}]},"model":"x"}',
        ]
    },
    "codex": {
        "hooks.json": ['{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "other"}]}]}}\n'],
        "config.toml": [
            'model = "gpt-5-codex" # 我的\n\n[mcp_servers.other]\ncommand = "x"\n# the end',
            '# only a remark\r\n[a]\r\nb = """\r\n[mcp_servers.catmem]\r\n"""\r\n',
            "\n\n",
        ],
    },
    "gemini": {
        "settings.json": [
            '{\n  // 登录\n  "security": {"auth": {"selectedType": "x"}}, // why\n  "hooks": {\n    "disabled": ["a"],\n'
            '    "AfterAgent": [{"hooks": [{"type": "command", "command": "other"}]}], // mine\n  },\n}\n',
            '{"mcpServers":{"other":{"command":"x"}}}',
        ]
    },
    "opencode": {
        "opencode.jsonc": ['{\n\t"$schema": "https://opencode.ai/config.json",\n\t/* 主题 */ "theme": "x",\n}\n'],
        "plugin/other.js": ["export const Other = async () => ({})\n"],
    },
    "cursor": {
        "hooks.json": ['{\n  "version": 1,\n  "hooks": {"stop": [{"command": "./other.sh"}]}\n}\n', "{}"],
        "mcp.json": ['{"mcpServers": {}}\n'],
    },
}
CASES = [
    pytest.param(client, name, text, id=f"{client}-{name}-{number}")
    for client, files in FILES.items()
    for name, texts in files.items()
    for number, text in enumerate(texts)
]


class Home:
    def __init__(self, folder: Path, client: str) -> None:
        self.client = client
        self.config = folder / "config"
        self.paths = Paths(folder / "data")

    def installer(self, program: Program = PROGRAM) -> FileInstaller:
        return installer(self.client, self.paths, program, self.config)

    def write(self, name: str, text: str) -> None:
        path = self.config / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())

    def bytes(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.config).as_posix(): path.read_bytes()
            for path in sorted(self.config.rglob("*"))
            if path.is_file()
        }


@pytest.mark.parametrize("client", INSTALLABLE)
def test_into_an_empty_machine_and_out_leaves_nothing(tmp_path: Path, client: str) -> None:
    home = Home(tmp_path, client)
    assert not home.installer().is_installed() and not home.installer().is_known()
    changed = home.installer().install()
    assert sorted(changed) == sorted(str(file) for file in home.installer().files)
    assert home.installer().is_installed() and home.installer().is_known()
    assert home.installer().install() == ()
    assert home.installer().uninstall() == changed
    assert not home.config.exists()
    assert home.installer().uninstall() == ()
    assert list(home.paths.run.rglob("*.json")) == []


@pytest.mark.parametrize(("client", "name", "text"), CASES)
def test_what_stood_there_is_there_again_byte_for_byte(tmp_path: Path, client: str, name: str, text: str) -> None:
    home = Home(tmp_path, client)
    home.write(name, text)
    before = home.bytes()
    assert home.installer().install()
    within = home.bytes()
    assert home.installer().install() == () and home.bytes() == within
    for remark in ("登录", "why", "mine", "主题", "我的", "only a remark", "the end"):
        assert (remark in text) <= (remark.encode() in within[name])
    home.installer().uninstall()
    assert home.bytes() == before


@pytest.mark.parametrize(("client", "name", "text"), CASES)
def test_another_place_of_the_program_replaces_the_old(tmp_path: Path, client: str, name: str, text: str) -> None:
    home = Home(tmp_path, client)
    home.write(name, text)
    before = home.bytes()
    home.installer(Program(("/old/mem",))).install()
    home.installer().install()
    assert b"/old/mem" not in b"".join(home.bytes().values())
    home.installer().uninstall()
    assert home.bytes() == before


def _json_edit(data: bytes) -> bytes:
    return data.replace(b"{", b'{"added by hand": "\xe8\x8c\xb6",', 1)


def _toml_edit(data: bytes) -> bytes:
    return b'added_by_hand = "\xe8\x8c\xb6"\n' + data + b"\n[projects.'/x']\ntrust_level = \"trusted\"\n"


@pytest.mark.parametrize(("client", "name", "text"), CASES)
def test_what_was_written_in_between_stays(tmp_path: Path, client: str, name: str, text: str) -> None:
    edits: dict[str, Callable[[bytes], bytes]] = {".json": _json_edit, ".jsonc": _json_edit, ".toml": _toml_edit}
    home = Home(tmp_path, client)
    home.write(name, text)
    edit = edits.get(Path(name).suffix, lambda data: data + b"// more\n")
    if text.strip() in ("{}", "") or (name.endswith("toml") and '"""' in text):
        return  # an edit by rule would make no valid file of these
    wanted = edit(text.encode())
    home.installer().install()
    (home.config / name).write_bytes(edit((home.config / name).read_bytes()))
    home.installer().uninstall()
    after = home.bytes()[name]
    if name.endswith(".toml"):
        assert tomllib.loads(after.decode()) == tomllib.loads(wanted.decode())
        assert b"catmem" not in after
    elif '"Stop": []' not in text and '"mcpServers": {}' not in text:
        # What we write has no BOM.
        assert after == wanted.removeprefix(b"\xef\xbb\xbf")


@pytest.mark.parametrize(
    ("client", "name", "text"),
    [
        ("codex", "hooks.json", "{// no comments here\n}"),
        ("codex", "config.toml", "model = \n"),
        ("codex", "config.toml", "mcp_servers = { other = { command = 'x' } }\n"),
        ("codex", "config.toml", '[mcp_servers.catmem]\ncommand = "mine"\n'),
        ("gemini", "settings.json", '{"hooks": {"AfterAgent": {}}}'),
        ("gemini", "settings.json", '{"mcpServers": []}'),
        ("gemini", "settings.json", "[]"),
        ("opencode", "plugin/catmem.js", "export const Mine = async () => ({})\n"),
        ("opencode", "opencode.json", "{"),
        ("cursor", "mcp.json", '{"mcpServers": {"a": }}'),
        ("cursor", "hooks.json", "\xff"),
    ],
)
def test_what_cannot_be_understood_is_left_alone_and_so_is_all_else(
    tmp_path: Path, client: str, name: str, text: str
) -> None:
    home = Home(tmp_path, client)
    home.write(name, text)
    before = home.bytes()
    with pytest.raises(BadInput, match="left untouched") as refusal:
        home.installer().install()
    assert name in refusal.value.en and "未作任何改动" in refusal.value.zh
    assert home.bytes() == before
    assert not home.installer().is_known()


@pytest.mark.parametrize("text", ['{\n  "env": {"KEY": "sk-ant-4711"}\n}\n', '{"K":"4711","hooks":{"AfterAgent":[]}}'])
def test_a_key_in_a_configuration_is_not_copied(tmp_path: Path, text: str) -> None:
    home = Home(tmp_path, "gemini")
    home.write("settings.json", text)
    home.installer().install()
    copies = [path.read_bytes() for path in home.paths.run.rglob("*") if path.is_file()]
    assert copies and b"4711" not in b"".join(copies) and b"NDcxM" not in b"".join(copies)


def test_a_file_of_ours_that_the_host_spelled_anew_is_removed_too(tmp_path: Path) -> None:
    home = Home(tmp_path, "gemini")
    home.installer(Program(("/old/mem",))).install()
    settings = home.config / "settings.json"
    settings.write_text(json.dumps(json.loads(settings.read_bytes())))
    home.installer().install()
    settings.write_text(json.dumps(json.loads(settings.read_bytes()), indent=8))
    home.installer().uninstall()
    assert not home.config.exists()


def test_a_table_that_was_added_to_ours_is_said(tmp_path: Path) -> None:
    home = Home(tmp_path, "codex")
    home.installer().install()
    config = home.config / "config.toml"
    config.write_text(config.read_text() + '[mcp_servers.catmem.env]\nA = "1"\n')
    before = home.bytes()
    with pytest.raises(BadInput, match="by hand"):
        home.installer().uninstall()
    assert home.bytes() == before


@pytest.mark.parametrize("word", ['a "quoted" \\ word', "tab\tand\nline", "茶 🐈", "\x7f\x00"])
def test_any_path_is_spelled_so_that_toml_reads_it(tmp_path: Path, word: str) -> None:
    home = Home(tmp_path, "codex")
    home.installer(Program((word,), ("--dir", word))).install()
    table = tomllib.loads((home.config / "config.toml").read_text("utf-8"))["mcp_servers"]["catmem"]
    assert table == {"command": word, "args": ["mcp", "--dir", word]}


def test_a_plugin_folder_for_claude_code(tmp_path: Path) -> None:
    plugin = installer("claude-code", Paths(tmp_path / "data"), PROGRAM, tmp_path / "plugin", plugin=True)
    assert len(plugin.install()) == 3 and plugin.install() == ()
    about = json.loads((tmp_path / "plugin" / ".claude-plugin" / "plugin.json").read_bytes())
    assert about["name"] == "catmem"
    hooks = json.loads((tmp_path / "plugin" / "hooks" / "hooks.json").read_bytes())["hooks"]
    assert "'/opt/my mem/bin/mem' hook claude-code Stop --dir" in hooks["Stop"][0]["hooks"][0]["command"]
    server = json.loads((tmp_path / "plugin" / ".mcp.json").read_bytes())["mcpServers"]["catmem"]
    assert server == {"command": "/opt/my mem/bin/mem", "args": ["mcp", "--dir", "/data/记忆"]}
    plugin.uninstall()
    assert not (tmp_path / "plugin").exists()


def test_who_has_no_plugin_folders_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="plugin"):
        installer("codex", Paths(tmp_path), PROGRAM, tmp_path / "p", plugin=True)


def test_assistants_are_found_by_program_or_by_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "OPENCODE_CONFIG_DIR", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert hosts() == []
    (tmp_path / ".gemini").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "codex").write_text("#!/bin/sh\n")
    os.chmod(tmp_path / "bin" / "codex", 0o755)
    assert [(host.client, host.sign) for host in hosts()] == [
        ("codex", str(tmp_path / "bin" / "codex")),
        ("gemini", str(tmp_path / ".gemini")),
    ]
