from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catmem.clients.claude_code.install import TIMEOUTS, config_dir, installer
from catmem.clients.installing import FileInstaller, Program
from catmem.domain.errors import BadInput, StorageFailed
from catmem.settings.paths import Paths

OTHER = {"hooks": [{"type": "command", "command": "other-tool --quiet"}]}

FILES = [
    None,
    b"",
    b"{}",
    b"{}\n",
    b'{"model":"x"}',
    b'{\n  "model": "x",\n  "limit": 1e5\n}\n',
    b'{\r\n\t"allow": ["a", "b"],\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t},\r\n\t"\\u8336": "\\u58f6"\r\n}\r\n',
    b"\xef\xbb\xbf" + json.dumps({"hooks": {"Stop": [OTHER]}, "model": "茶"}, ensure_ascii=False).encode(),
    json.dumps({"hooks": {"SessionStart": [{"matcher": "startup", **OTHER}]}}, indent=4).encode(),
    b'{ "hooks": {} }',
]


class Home:
    def __init__(self, folder: Path, found: bytes | None) -> None:
        self.config = folder / "config dir"
        self.file = self.config / "settings.json"
        self.servers = self.config / ".claude.json"
        self.data = folder / "data"
        if found is not None:
            self.config.mkdir(parents=True)
            self.file.write_bytes(found)

    def installer(self, program: str = "/opt/my mem/bin/mem") -> FileInstaller:
        return installer(Paths(self.data), Program((program,)), self.config)

    def bytes(self) -> bytes | None:
        return self.file.read_bytes() if self.file.exists() else None

    def settings(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.file.read_bytes())
        return found

    def commands(self, event: str) -> list[str]:
        return [hook["command"] for group in self.settings()["hooks"].get(event, []) for hook in group["hooks"]]


@pytest.mark.parametrize("found", FILES)
def test_in_and_out_again_leaves_every_byte(tmp_path: Path, found: bytes | None) -> None:
    home = Home(tmp_path, found)
    assert home.installer().install() == (os.path.realpath(home.file), os.path.realpath(home.servers))
    assert home.installer().is_installed()
    for event, seconds in TIMEOUTS.items():
        group = home.settings()["hooks"][event][-1]
        assert group == {
            "hooks": [
                {"type": "command", "command": f"'/opt/my mem/bin/mem' hook claude-code {event}", "timeout": seconds}
            ]
        }
    assert not home.file.read_bytes().startswith(b"\xef\xbb\xbf")
    once = home.bytes()
    assert home.installer().install() == ()
    assert home.bytes() == once
    assert home.installer().uninstall()
    assert home.bytes() == found
    assert home.config.exists() is (found is not None)
    assert home.installer().uninstall() == ()


@pytest.mark.parametrize("found", [f for f in FILES if f and f.strip()])
def test_all_else_stays_as_it_was_spelled(tmp_path: Path, found: bytes) -> None:
    home = Home(tmp_path, found)
    home.installer().install()
    before = json.loads(found.decode("utf-8-sig"))
    after = home.settings()
    assert {k: v for k, v in after.items() if k != "hooks"} == {k: v for k, v in before.items() if k != "hooks"}
    for event, groups in before.get("hooks", {}).items():
        assert after["hooks"][event][: len(groups)] == groups
    for spelled in (b"1e5", b'["a", "b"]', b"\\u8336", b"\r\n"):
        assert (spelled in found) <= (spelled in (home.bytes() or b""))


@pytest.mark.parametrize("found", [f for f in FILES if f and f.strip()])
def test_what_the_user_changed_since_stays(tmp_path: Path, found: bytes) -> None:
    home = Home(tmp_path, found)
    home.installer().install()
    changed = home.settings()
    changed["theme"] = "dark"
    changed["hooks"]["Stop"].append(OTHER)
    home.file.write_text(json.dumps(changed, indent=2))
    home.installer().uninstall()
    after = home.settings()
    assert after["theme"] == "dark"
    assert OTHER in after["hooks"]["Stop"]
    assert "claude-code" not in home.file.read_text()


def test_another_place_of_the_program_replaces_the_old(tmp_path: Path) -> None:
    home = Home(tmp_path, b'{"model":"x"}')
    home.installer("/old/mem").install()
    home.installer("/new/mem").install()
    assert home.commands("Stop") == ["/new/mem hook claude-code Stop"]
    home.installer("/new/mem").uninstall()
    assert home.bytes() == b'{"model":"x"}'


def test_a_backup_that_is_gone_does_not_keep_our_hooks_in(tmp_path: Path) -> None:
    home = Home(tmp_path, b'{"model":"x"}')
    home.installer().install()
    for path in sorted(home.data.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    home.installer().uninstall()
    assert home.settings() == {"model": "x"}


def test_our_hook_beside_anothers_in_one_group(tmp_path: Path) -> None:
    both = {
        "hooks": {"Stop": [{"hooks": [*OTHER["hooks"], {"type": "command", "command": "mem hook claude-code Stop"}]}]}
    }
    home = Home(tmp_path, json.dumps(both).encode())
    home.installer().uninstall()
    assert home.settings() == {"hooks": {"Stop": [OTHER]}}


@pytest.mark.parametrize(
    "found",
    [
        b"{// comment\n}",
        b"[]",
        b'{"hooks":[]}',
        b'{"hooks":{"Stop":{}}}',
        b'{"a":1,"a":2}',
        b'{"a":',
        b"\xff\xfe{\x00}\x00",
    ],
)
def test_a_file_that_we_do_not_understand_is_never_touched(tmp_path: Path, found: bytes) -> None:
    home = Home(tmp_path, found)
    with pytest.raises(BadInput, match="left untouched"):
        home.installer().install()
    with pytest.raises(BadInput):
        home.installer().uninstall()
    assert home.bytes() == found
    assert not home.data.exists()


def test_a_linked_file_stays_a_link_and_its_rights_stay(tmp_path: Path) -> None:
    home = Home(tmp_path, b'{"model":"x"}')
    real = tmp_path / "dotfiles.json"
    home.file.rename(real)
    real.chmod(0o640)
    home.file.symlink_to(real)
    home.installer().install()
    assert home.file.is_symlink()
    assert b"hook claude-code" in real.read_bytes()
    assert real.stat().st_mode & 0o777 == 0o640
    home.installer().uninstall()
    assert real.read_bytes() == b'{"model":"x"}'


def test_a_refusing_disk_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageFailed):
        installer(Paths(tmp_path / "data"), Program(("/mem",)), tmp_path / "file").install()


def test_the_folder_follows_the_hosts_own_rule(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    assert config_dir() == tmp_path
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert config_dir() == tmp_path / ".claude"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda v: st.lists(v, max_size=2) | st.dictionaries(st.text(max_size=4), v, max_size=2),
    max_leaves=5,
)
GROUPS = st.lists(
    st.fixed_dictionaries({"hooks": st.lists(st.fixed_dictionaries({"command": st.text(max_size=6)}), max_size=2)}),
    max_size=2,
)
SETTINGS = st.dictionaries(st.text(max_size=5).filter(lambda k: k != "hooks"), VALUES, max_size=3)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    SETTINGS,
    st.none() | st.dictionaries(st.sampled_from([*TIMEOUTS, "PreToolUse"]), GROUPS, max_size=3),
    st.sampled_from([None, 2, 4, "\t"]),
    st.booleans(),
)
def test_any_settings_go_in_and_out_unharmed(
    tmp_path_factory: pytest.TempPathFactory,
    others: dict[str, Any],
    hooks: dict[str, Any] | None,
    indent: Any,
    ascii_only: bool,
) -> None:
    before = {**others, **({"hooks": hooks} if hooks is not None else {})}
    found = json.dumps(before, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "replace")
    before = json.loads(found)
    home = Home(tmp_path_factory.mktemp("home"), found)
    home.installer().install()
    after = home.settings()
    assert {k: v for k, v in after.items() if k != "hooks"} == {k: v for k, v in before.items() if k != "hooks"}
    home.installer().uninstall()
    assert home.bytes() == found
