from __future__ import annotations

import re
from pathlib import Path

import pytest

from catmem.clients.catalogue import CLIENTS
from catmem.clients.places import enclosing, places_of


def made(*folders: Path) -> list[Path]:
    for folder in folders:
        folder.mkdir(parents=True)
    return list(folders)


def test_home_variables_stars_and_workspaces(tmp_path: Path) -> None:
    home, moved = tmp_path / "home", tmp_path / "配置"
    claude, cursor = made(home / ".claude" / "projects", moved / "Cursor" / "User")
    cline = made(*(moved / name / "User/globalStorage/saoudrizwan.claude-dev/tasks" for name in ("Code", "VSCodium")))
    (history,) = made(tmp_path / "pot" / ".specstory" / "history")
    told = {"home": home, "environment": {"XDG_CONFIG_HOME": str(moved), "CLAUDE_CONFIG_DIR": ""}}
    assert places_of("claude-code", **told) == [claude]  # type: ignore[arg-type]
    assert places_of("cursor", **told) == [cursor]  # type: ignore[arg-type]
    assert places_of("cline", **told) == cline  # type: ignore[arg-type]
    assert places_of("specstory", **told) == []  # type: ignore[arg-type]
    assert places_of("specstory", **told, workspaces=[tmp_path / "pot"]) == [history]  # type: ignore[arg-type]


def test_a_place_of_two_names_is_told_once(tmp_path: Path) -> None:
    made(tmp_path / ".claude" / "projects")
    environment = {"CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}
    assert len(places_of("claude-code", home=tmp_path, environment=environment)) == 1


@pytest.mark.parametrize("client", list(CLIENTS))
def test_every_folder_of_the_catalogue_can_be_read(client: str, tmp_path: Path) -> None:
    names = re.findall(r"\$([A-Z_]+)", " ".join(CLIENTS[client]["folders"]))
    assert places_of(client, home=tmp_path, environment=dict.fromkeys(names, str(tmp_path / "none"))) == []
    for folder in CLIENTS[client]["folders"]:
        assert folder.startswith(("~/", "./", "$"))
        assert "\\" not in folder


def test_the_folders_above_end_at_the_root_of_the_repository(tmp_path: Path) -> None:
    made(tmp_path / "repository" / ".git", tmp_path / "repository" / "src" / "deep")
    deep = tmp_path / "repository" / "src" / "deep"
    assert enclosing(deep) == [deep, deep.parent, deep.parent.parent]
