"""From a folder to its project: one for all that belongs to a repository, whatever path led there."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from catmem.settings.workspace import Project, project_of

GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.test", "-c", "protocol.file.allow=always",
       "-c", "init.defaultBranch=main")  # fmt: skip
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git makes the inputs")


def git(folder: Path, *arguments: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run([*GIT, *arguments], cwd=folder, check=True, capture_output=True, env=environment)


def repository(folder: Path, remote: str = "") -> Path:
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


def key(folder: Path | str, roots: tuple[str, ...] = ()) -> str:
    return project_of(str(folder), roots).key


@pytest.fixture
def app(tmp_path: Path) -> Path:
    return repository(tmp_path / "one" / "app")


def test_a_subfolder_and_a_linked_worktree_are_the_repository(app, tmp_path):
    (app / "src" / "深处").mkdir(parents=True)
    inside, outside = app / ".claude" / "worktrees" / "spike", tmp_path / "elsewhere" / "wt"
    for place, branch in ((inside, "a"), (outside, "b")):
        git(app, "worktree", "add", "-q", "-b", branch, str(place))
        (place / "src").mkdir()
    places = [app, app / "src", app / "src" / "深处", inside, inside / "src", outside, outside / "src", f"{app}/"]
    assert {key(place) for place in places} == {key(app)}
    assert project_of(str(outside)) == Project(key(app), "app", str(app))


@pytest.mark.parametrize("rest", ["gone", "gone/src/deep"])
def test_a_deleted_worktree_of_an_assistant_still_names_the_repository(app, rest):
    assert key(app / ".claude" / "worktrees" / rest) == key(app)
    assert key(app / "src" / ".claude" / "worktrees" / rest) == key(app)


def test_a_worktree_whose_repository_is_gone_is_named_by_its_path(app, tmp_path):
    worktree = tmp_path / "wt"
    git(app, "worktree", "add", "-q", str(worktree))
    shutil.rmtree(app)
    assert project_of(str(worktree)).root == str(worktree)


def test_another_repository_of_the_same_name_is_another_project(app, tmp_path):
    other = repository(tmp_path / "two" / "app")
    assert key(other) != key(app)
    assert project_of(str(other)).name == project_of(str(app)).name == "app"


SPELLINGS = (
    "git@github.com:Acme/Shop.git",
    "github.com:Acme/Shop",
    "https://github.com/Acme/Shop",
    "https://github.com/Acme/Shop.git/",
    "https://user:p@ss@GitHub.com:443/Acme/Shop.git",
    "https://token0123456789@github.com/Acme/Shop",
    "ssh://git@github.com:22/Acme/Shop.git",
    "git+ssh://git@GITHUB.COM/Acme/Shop",
    "git://github.com/Acme/Shop.git",
    "https://github.com/Acme/Shop?access_token=token0123456789",
)


def test_one_remote_is_one_project_however_it_is_spelled_and_wherever_it_lies(tmp_path):
    projects = [
        project_of(str(repository(tmp_path / str(number) / "any", remote))) for number, remote in enumerate(SPELLINGS)
    ]
    assert {p.key for p in projects} == {projects[0].key} and {p.name for p in projects} == {"Shop"}
    for p in projects:
        assert "token" not in p.key and "p@ss" not in p.key
    others = ["git@github.com:acme/Shop.git", "git@gitlab.com:Acme/Shop.git", "git@github.com:Acme/Shop2.git"]
    for number, remote in enumerate(others):
        assert key(repository(tmp_path / "x" / str(number), remote)) != projects[0].key


def test_origin_counts_before_other_remotes_and_odd_configs_are_read(app):
    git(app, "remote", "add", "fork", "git@github.com:me/shop.git")
    assert project_of(str(app)).name == "shop"
    config = app / ".git" / "config"
    config.write_text(
        config.read_text() + '[Remote "origin"] ; ours\n\tURL = "https://github.com/acme/store.git" # here\n\turl = x\n'
    )
    assert project_of(str(app)).name == "store"


def test_a_remote_that_is_a_folder_is_that_folder(tmp_path):
    origin = repository(tmp_path / "srv" / "shop")
    a, b = tmp_path / "a", tmp_path / "b"
    git(tmp_path, "clone", "-q", str(origin), str(a))
    git(tmp_path, "clone", "-q", f"file://{origin}", str(b))
    assert key(a) == key(b) == key(origin)
    beside = [repository(tmp_path / where / "app", "../shop") for where in ("here", "there")]
    assert key(beside[0]) != key(beside[1])


def test_a_submodule_is_a_project_of_its_own_and_so_is_its_worktree(app, tmp_path):
    library = repository(tmp_path / "library")
    git(app, "submodule", "add", "-q", str(library), "lib")
    assert key(app / "lib") == key(library) != key(app)
    git(app / "lib", "remote", "remove", "origin")
    assert key(app / "lib") not in (key(app), key(library))
    assert project_of(str(app / "lib")).root == str(app / "lib")
    git(app / "lib", "worktree", "add", "-q", str(tmp_path / "lib-wt"))
    assert key(tmp_path / "lib-wt") == key(app / "lib")


@pytest.mark.parametrize("name", ["app.git", "app/.bare"])
def test_worktrees_of_a_bare_repository_are_one_project(app, tmp_path, name):
    bare = tmp_path / "bare" / name
    git(tmp_path, "clone", "-q", "--bare", str(app), str(bare))
    git(bare, "remote", "remove", "origin")
    places = [tmp_path / "bare" / "w1", tmp_path / "w2"]
    for place in places:
        git(bare, "worktree", "add", "-q", "-b", place.name, str(place))
    if name.endswith(".bare"):
        bare.with_name(".git").write_text("gitdir: ./.bare\n")
        places.append(bare.parent)
    else:
        places.append(bare)
    assert {key(place) for place in places} == {key(places[0])} and project_of(str(places[0])).name == "app"


def test_without_git_a_folder_is_its_own_project(tmp_path):
    notes = tmp_path / "plain" / "笔记"
    notes.mkdir(parents=True)
    assert project_of(str(notes)).root == str(notes) and key(notes) != key(notes.parent)
    (notes / ".git").mkdir()
    assert key(notes) != key(notes.parent), "an empty .git is no repository"


def test_configured_roots(app, tmp_path):
    work = tmp_path / "work"
    (work / "a" / "b").mkdir(parents=True)
    roots = (str(work),)
    assert key(work / "a" / "b", roots) == key(work, roots) == key(work)
    assert key(tmp_path / "workshop", roots) != key(work, roots)
    assert key(work / "a" / "b", (str(work), str(work / "a"))) == key(work / "a"), "the innermost"
    assert key(app / "src", (str(app.parent),)) == key(app), "a repository within a root is itself"
    (app / "packages" / "web").mkdir(parents=True)
    assert key(app / "packages" / "web", (str(app / "packages"),)) != key(app), "a root within a repository"
    git(app, "remote", "add", "origin", "git@github.com:acme/shop.git")
    assert key(app, (str(app),)) == key(app), "a root that is the repository adds nothing"
    git(app, "worktree", "add", "-q", str(work / "wt"))
    assert key(work / "wt", roots) == key(app), "a worktree within a root, its repository elsewhere"
    assert key(tmp_path, ("", " ")) == key(tmp_path)


def test_a_symbolic_link_is_what_it_points_to(app, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(app)
    assert key(link) == key(app)


WINDOWS = (
    "d:\\docu2",
    "D:\\docu2",
    "D:\\Docu2\\",
    "d:/docu2",
    "\\\\?\\D:\\docu2",
    "D:\\docu2\\.claude\\worktrees\\gone\\src",
)


def test_windows_spellings_are_one_project_and_the_name_is_as_given():
    assert {key(spelling) for spelling in WINDOWS} == {key(WINDOWS[0])}
    assert project_of("D:\\我的\\Docu2\\").name == "Docu2"
    shares = ("\\\\srv\\Share\\x", "\\\\SRV\\share\\x\\", "\\\\?\\UNC\\srv\\share\\x")
    assert {key(spelling) for spelling in shares} == {key(shares[0])} != {key("/srv/share/x")}


def test_linux_paths_keep_their_case_and_wsl_shares_are_linux_paths():
    assert key("/nowhere/u/Docu2") != key("/nowhere/u/docu2")
    for share in ("\\\\wsl$\\Ubuntu\\nowhere\\u\\docu2", "\\\\wsl.localhost\\Ubuntu\\nowhere\\u\\docu2\\"):
        assert key(share) == key("/nowhere/u/docu2") != key("/nowhere/u/Docu2")
    assert key("/mnt/d/docu2") != key("d:\\docu2")


@pytest.mark.parametrize(
    "odd", ["", "/", ".", "\0", "/nowhere/at/all", "x" * 5000, "/" + "长" * 3000, "C:", "\\\\", "D:\\"]
)
def test_an_odd_path_has_a_project_and_raises_nothing(odd):
    found = project_of(odd)
    assert found.key and found.name and "/" not in found.key and found.key == project_of(odd).key


def test_a_working_directory_that_is_gone_raises_nothing(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert project_of("").key and project_of(".").key and project_of("sub").key


def test_nothing_is_written_and_no_process_is_started(app, monkeypatch):
    git(app, "worktree", "add", "-q", str(app / "wt"))

    def state() -> list[tuple[str, int, int]]:
        return sorted((str(p), p.stat().st_mtime_ns, p.stat().st_size) for p in app.rglob("*"))

    before = state()

    def refused(*args: object, **kwargs: object) -> None:
        raise AssertionError("a process was started")

    for name in ("fork", "posix_spawn", "execve", "system"):
        monkeypatch.setattr(os, name, refused)
    monkeypatch.setattr(subprocess, "Popen", refused)
    assert key(app / "wt") == key(app)
    assert state() == before


@pytest.mark.parametrize("content", ["", "gitdir:", "gitdir: /nowhere", "\0", "gitdir: ../" + "x" * 300, "not a link"])
def test_a_broken_git_link_is_a_folder_of_its_own(tmp_path, content):
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / ".git").write_text(content)
    assert project_of(str(folder)).root == str(folder)
