"""Projects through the life of their folders, told in order: moved, copied, cloned, given a remote, without git."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from catmem.capture.identity import first_commit_of, learn_projects
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.settings.workspace import first_commit, project_of
from catmem.wiring import Catmem

GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.test", "-c", "init.defaultBranch=main")
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git makes the inputs")


def git(folder: Path, *arguments: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run([*GIT, *arguments], cwd=folder, check=True, capture_output=True, env=environment)


def repository(folder: Path, remote: str = "") -> Path:
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", str(folder))
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


class Story:
    """A data directory, and somebody who works in folders."""

    def __init__(self, root: Path) -> None:
        self.catmem = Catmem(root)
        self._number = 0

    def key(self, folder: Path | str) -> str:
        return self.catmem.project_of(str(folder)).key

    def work_in(self, folder: Path | str) -> str:
        """A session in a folder, and the worker after it. Returns the key of the project that it was kept in."""
        key = self.key(folder)
        self._number += 1
        said = [Message("user", "记住 hello", "2026-03-01T10:00:00.000Z", f"u{self._number}")]
        self.catmem.history.append(SessionRef(key, f"s{self._number}"), said, cwd=str(folder))
        self.worker()
        return key

    def worker(self) -> int:
        return learn_projects(self.catmem.projects, self.catmem.history.headers())


@pytest.fixture
def story(tmp_path: Path):
    made = Story(tmp_path / "data")
    yield made
    made.catmem.close()


@pytest.fixture
def app(tmp_path: Path) -> Path:
    return repository(tmp_path / "one" / "app")


def test_a_moved_and_renamed_folder_is_the_same_project_at_once(story, app, tmp_path):
    key = story.work_in(app)
    assert key == project_of(str(app)).key
    for place in (tmp_path / "two" / "app", tmp_path / "two" / "应用"):
        (tmp_path / "two").mkdir(exist_ok=True)
        app = app.rename(place)
        assert story.key(app) == key, "before any worker has run"
        (app / "src").mkdir(exist_ok=True)
        assert story.work_in(app / "src") == key
    assert story.worker() == 0
    story.catmem.paths.registry.unlink()
    assert story.key(app) == key, "the registry is made again from the ledger"


def test_a_move_is_known_without_the_log_once_the_worker_has_run(story, app, tmp_path):
    key = story.work_in(app)
    moved = app.rename(tmp_path / "moved")
    shutil.rmtree(moved / ".git" / "logs")
    first = story.work_in(moved)
    assert first != key, "a hook starts no process"
    assert story.key(moved) == story.catmem.projects.registry().home(first) == key
    assert {header.ref.project for header in story.catmem.history.headers(key)} == {key, first}


def test_a_copy_a_clone_and_a_namesake_are_projects_of_their_own(story, app, tmp_path):
    key = story.work_in(app)
    copy, namesake = tmp_path / "copy", repository(tmp_path / "other" / "app")
    shutil.copytree(app, copy)
    keys = {key, story.work_in(copy), story.work_in(namesake)}
    assert len(keys) == 3 == len({story.key(app), story.key(copy), story.key(namesake)})
    shutil.rmtree(app)
    assert story.key(copy) != key, "what was known as a copy stays one"


def test_forks_and_templates_with_one_history_and_two_remotes_stay_apart(story, tmp_path):
    ours, theirs = (repository(tmp_path / n / "my-app") for n in "ab")
    shutil.rmtree(theirs)
    shutil.copytree(ours, theirs)
    for folder, remote in ((ours, "git@github.com:us/my-app.git"), (theirs, "https://github.com/them/my-app")):
        git(folder, "remote", "add", "origin", remote)
    a, b = story.work_in(ours), story.work_in(theirs)
    assert a != b and story.catmem.projects.registry().homes == {}
    shutil.rmtree(ours)
    assert story.key(theirs) == b
    assert story.work_in(repository(tmp_path / "c" / "x", "git@github.com:us/my-app.git")) == a, (
        "cloned again elsewhere"
    )


def test_a_repository_keeps_its_project_when_it_gets_a_remote_or_another(story, app):
    key = story.work_in(app)
    git(app, "remote", "add", "origin", "git@github.com:acme/app.git")
    assert project_of(str(app)).key != key and story.work_in(app) == key
    git(app, "remote", "set-url", "origin", "https://gitlab.com/acme/renamed.git")
    assert story.work_in(app) == key


def test_a_repository_is_known_by_the_commit_that_came_after_the_first_session(story, tmp_path):
    app = tmp_path / "app"
    git(app, "init", "-q")
    key = story.work_in(app)
    git(app, "commit", "-q", "--allow-empty", "-m", "first")
    assert story.worker() == 1 and story.worker() == 0
    assert story.key(app.rename(tmp_path / "moved")) == key


def test_what_the_user_parted_no_job_joins_again(story, app, tmp_path):
    key = story.work_in(app)
    moved = app.rename(tmp_path / "moved")
    assert story.work_in(moved) == key
    own = project_of(str(moved)).key
    story.catmem.projects.split(own)
    assert story.work_in(moved) == own == story.key(moved) and story.worker() == 0


def test_folders_without_git_and_windows_paths_have_a_name(story, tmp_path):
    notes = tmp_path / "笔记"
    notes.mkdir()
    key = story.work_in(notes)
    windows = [story.work_in(spelling) for spelling in ("D:\\Docu2", "d:/docu2/", "\\\\?\\d:\\DOCU2")]
    assert len(set(windows)) == 1
    names = story.catmem.projects.registry().names
    assert names[key] == "笔记" and names[windows[0]] == "Docu2", "the spelling first seen"
    assert len({story.key("/nowhere/u/Docu2"), story.key("/nowhere/u/docu2"), windows[0]}) == 3


def test_a_worktree_and_a_subfolder_of_a_moved_repository(story, app, tmp_path):
    git(app, "worktree", "add", "-q", str(app / ".claude" / "worktrees" / "spike"))
    key = story.work_in(app / ".claude" / "worktrees" / "spike")
    moved = app.rename(tmp_path / "moved")
    git(moved, "worktree", "repair", str(moved / ".claude" / "worktrees" / "spike"))
    assert story.key(moved / ".claude" / "worktrees" / "spike") == story.key(moved) == key


def test_the_first_commit(app, tmp_path):
    asked = first_commit_of(str(app))
    assert len(asked) == 40 and first_commit(str(app)) == asked
    git(app, "commit", "-q", "--allow-empty", "-m", "second")
    assert first_commit_of(str(app)) == asked
    shallow = tmp_path / "shallow"
    git(tmp_path, "-c", "protocol.file.allow=always", "clone", "-q", "--depth", "1", f"file://{app}", str(shallow))
    assert first_commit_of(str(shallow)) == "", "where its history begins is not its beginning"
    assert first_commit(str(shallow)) == "" == first_commit(str(tmp_path))
    assert first_commit_of(str(tmp_path / "nowhere")) == "" == first_commit_of(str(tmp_path))


def test_git_that_hangs_or_is_missing_costs_no_more_than_its_bound(app, tmp_path, monkeypatch):
    tools = tmp_path / "tools"
    tools.mkdir()
    monkeypatch.setenv("PATH", str(tools))
    assert first_commit_of(str(app)) == ""
    (tools / "git").write_text("#!/bin/sh\nexec /bin/sleep 20\n")
    (tools / "git").chmod(0o755)
    assert first_commit_of(str(app), seconds=0.1) == ""


@pytest.mark.parametrize(
    "log", ["", "\0", "x", "0 1", "0000 abc t\tclone: from x", "\tcommit (initial): x", "x\tcommit (initial): y"]
)
def test_an_odd_log_of_head_tells_no_commit(app, log):
    (app / ".git" / "logs" / "HEAD").write_text(log)
    assert len(first_commit(str(app))) in (0, 40) and not first_commit(str(app)).strip()
