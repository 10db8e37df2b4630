"""Sessions of merged projects are listed and found together, each where it was kept."""

from __future__ import annotations

import json

import pytest

from catmem.domain.errors import BadInput, NotFound
from catmem.domain.session import SessionRef
from catmem.sessions.merged import MergedHistory
from catmem.settings.paths import Paths
from tests.sessions.support import message


@pytest.fixture
def history(tmp_path):
    made = MergedHistory(Paths(tmp_path), durability="none", redact=lambda text, source: text)
    for project, key in (("shop", "a1"), ("茶壶", "b2"), ("blog", "c3"), ("blog", "a1")):
        made.append(SessionRef(project, key), [message(1)])
    return made


def merge(tmp_path, **homes: str) -> None:
    (tmp_path / "run").mkdir(exist_ok=True)
    (tmp_path / "run" / "projects.json").write_text(json.dumps({"homes": homes}))


def test_listing_follows_a_merge_and_its_undoing(history, tmp_path):
    def listed(project):
        return {(header.ref.project, header.key) for header in history.headers(project)}

    assert listed("shop") == {("shop", "a1")}
    merge(tmp_path, 茶壶="shop")
    assert listed("shop") == listed("茶壶") == {("shop", "a1"), ("茶壶", "b2")}
    assert len(listed(None)) == 4 and listed("blog") == {("blog", "c3"), ("blog", "a1")}
    merge(tmp_path)
    assert listed("shop") == {("shop", "a1")}


def test_a_session_is_found_from_any_of_the_projects(history, tmp_path):
    with pytest.raises(NotFound):
        history.find("b2", "shop")
    merge(tmp_path, 茶壶="shop", blog="shop")
    for project in ("shop", "茶壶", "blog"):
        assert history.find("b2", project) == SessionRef("茶壶", "b2")
    assert history.find("a1", "blog") == SessionRef("blog", "a1"), "the project that was named comes first"
    with pytest.raises(BadInput):
        history.find("a1", "茶壶")
