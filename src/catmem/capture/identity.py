"""Learning what tells a project when its folder moves: its first commit, and where it was seen.

A hook reads files only; here, in the worker, `git` may be asked. What is found out is kept in the ledger, since it
cannot be found out again once a folder is gone.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable

from catmem.domain.project import former_home, is_foreign_path
from catmem.domain.session import SessionHeader
from catmem.settings.workspace import first_commit, is_repository, project_of
from catmem.store.projects import Projects

# The first commit of a history of a million is found in seconds; whoever has a longer one is known by his remote.
GIT_SECONDS = 5.0


def learn_projects(
    projects: Projects,
    headers: Iterable[SessionHeader],
    project_roots: tuple[str, ...] = (),
    *,
    stop: Callable[[], bool] = lambda: False,
) -> int:
    """Keeps what the folders of sessions say of their projects and was not known yet. Returns how many places.

    A repository that was moved, or whose remote changed, becomes part of the project that it was. Run twice, it does
    nothing. Raises what the store raises.
    """
    known = projects.refresh()
    seen, homes = dict(known.seen), dict(known.homes)
    rows: list[dict[str, str]] = []
    for cwd, kept_in in sorted({header.metadata.get("cwd", ""): header.ref.project for header in headers}.items()):
        if not cwd or stop():
            continue
        project = project_of(cwd, project_roots)
        first, folders = seen.get(project.key, ("", ()))
        # A repository that had no commit yet is looked at again, as cheaply as in a hook.
        if project.root in folders and (first or not first_commit(project.root)):
            continue
        there = not is_foreign_path(project.root) and is_repository(project.root)
        # Of a folder that is gone only the path speaks; it is the project's if the session is kept there.
        if not there and project.key != kept_in:
            continue
        root = (first_commit_of(project.root) or first_commit(project.root)) if there else ""
        row = {"key": project.key, "label": project.name, "root": root, "folder": project.root}
        former = former_home(seen, homes, project.key, root, project.root, is_repository)
        if former:
            row["into"] = homes[project.key] = former
        seen[project.key] = (root or first, (*folders, project.root))
        rows.append(row)
    return projects.learn(rows)


def first_commit_of(folder: str, seconds: float = GIT_SECONDS) -> str:
    """The first commit of the history of HEAD, as `git` tells it; "" if it cannot tell within `seconds`.

    Of several (histories that were joined) it is the oldest. A shallow clone has none: its history has no beginning.
    """
    command = ["git", "-C", folder, "rev-list", "--max-parents=0", "HEAD"]
    # A repository may name programs to run; reading history needs none of them.
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_COUNT": "1"}
    environment |= {"GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": "false"}
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"):
        environment.pop(name, None)
    if os.path.exists(os.path.join(folder, ".git", "shallow")):
        return ""
    try:
        said = subprocess.run(
            command,
            capture_output=True,
            timeout=seconds,
            env=environment,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    commits = said.stdout.decode("ascii", "replace").split() if said.returncode == 0 else []
    return commits[-1] if commits else ""
