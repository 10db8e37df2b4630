"""`MEMORY.md` both ways: what the memory says stands there, and what the user does there is the memory's next state."""

from __future__ import annotations

import re

import pytest

from catmem.dream.pages.contents import MOST_BULLETS
from tests.dream.pages.desk import Desk


@pytest.fixture(params=["en", "zh"])
def desk(request, tmp_path) -> Desk:
    desk = Desk(tmp_path / "catmem", request.param)
    desk.world.learn("We use pnpm, never npm.")
    desk.world.learn("部署前先跑 make check。", kind="decision")
    desk.world.learn("The user wants short answers.", kind="preference", scope="global", project="")
    desk.pages.write()
    return desk


def test_pages_by_scope_under_the_titles_of_the_format(desk):
    profile, project = desk.text(""), desk.text()
    assert "## User Profile\n" in profile and "short answers" in profile and "pnpm" not in profile
    assert "## Project Context\n" in project and "pnpm" in project and "short answers" not in project
    assert desk.page().stat().st_mode & 0o777 == 0o600


def test_nothing_new_means_nothing_written(desk):
    before = desk.page().stat()
    done = desk.pages.write()
    after = desk.page().stat()
    assert (done.edits, done.written) == (0, 0)
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert desk.pages.missing() == [] == desk.pages.unreadable()


def test_a_changed_line_is_the_users_word(desk):
    desk.edit("We use pnpm, never npm.", "We use bun, never npm.")
    assert desk.pages.write().edits == 1
    assert "We use bun, never npm." in desk.live() and not any("pnpm" in text for text in desk.live())
    memory = next(m for m in desk.store.live() if "bun" in m.now.text)
    assert memory.now.by == "user" and memory.now.evidence and memory.revisions[0].text == "We use pnpm, never npm."
    # A job that says the old thing again is kept aside.
    desk.world.learn("We use pnpm, never npm.", sessions=("s9",))
    assert "We use bun, never npm." in desk.live() and desk.pages.write().edits == 0


def test_a_deleted_line_is_forgotten(desk):
    desk.edit(desk.line("pnpm"), "")
    assert desk.pages.write().edits == 1
    assert not any("pnpm" in text for text in desk.live())
    desk.world.learn("We use pnpm, never npm.", sessions=("s9",))
    assert not any("pnpm" in text for text in desk.live()), "it does not come back"


def test_a_new_line_is_pinned_under_its_heading(desk):
    heading = "Decisions" if "Decisions" in desk.text() else "决定"
    desk.edit(f"### {heading}\n", f"### {heading}\n\n- 我们用 ruff 检查代码\n  and format with it\n")
    assert desk.pages.write().edits == 1
    memory = next(m for m in desk.store.live() if "ruff" in m.now.text)
    assert memory.now.text == "我们用 ruff 检查代码 and format with it"
    assert (memory.now.kind, memory.now.scope, memory.now.pinned) == ("decision", "project", True)
    assert f"<!-- {memory.id} -->" in desk.line("ruff")
    assert desk.pages.write().edits == 0 and desk.text().count("ruff") == 1


def test_what_is_outside_the_managed_part_is_never_touched(desk):
    mine = "# My notes 我的笔记\r\n\r\n- buy milk\r\n\u2028odd\x0bline\r\n"
    page = desk.page()
    page.write_bytes(mine.encode() + page.read_bytes() + b"\nafter it\n\n* a list\n")
    desk.world.learn("Tests run with pytest.", sessions=("s2",))
    assert desk.pages.write().written == 1
    written = page.read_bytes()
    assert written.startswith(mine.encode()) and written.endswith(b"\nafter it\n\n* a list\n")
    assert b"Tests run with pytest." in written and "buy milk" not in " ".join(desk.live())


def test_what_stands_inside_and_is_no_line_of_ours_moves_out_of_the_way(desk):
    desk.edit("## Project Context\n", "## Project Context\n\nA paragraph of mine, 一段话。\n\n| a | table |\n")
    desk.pages.write()
    text = desk.text()
    assert text.index("A paragraph of mine, 一段话。") > text.index("catmem:end") < text.index("| a | table |")
    desk.pages.write()
    assert desk.text() == text


def test_a_lost_page_is_written_anew_and_nothing_is_forgotten(desk):
    before, live = desk.text(), desk.live()
    desk.page().unlink()
    assert desk.pages.missing() == [desk.page()]
    desk.pages.write()
    assert desk.text() == before and desk.live() == live


def test_every_cut_of_a_page_forgets_nothing(tmp_path):
    desk = Desk(tmp_path / "catmem")
    for text in ("We use pnpm.", "We deploy on Fridays.", "数据库是 Postgres。"):
        desk.world.learn(text)
    desk.pages.write()
    whole, live = desk.page().read_bytes(), set(desk.live())
    for cut in range(len(whole)):
        desk.page().write_bytes(whole[:cut])
        desk.pages.write()
        assert live <= set(desk.live()), whole[:cut]
        for added in set(desk.live()) - live:  # the beginning of a line, taken for a new one
            desk.store.forget([m.id for m in desk.store.live() if m.now.text == added])
        desk.pages.write()


def test_the_memory_moves_on_while_the_user_edits(desk):
    """An external edit between reading and writing is merged, not overwritten."""
    real = desk.pages._replace
    raced = []

    def replace(path, found, rendered):
        if not raced and path == desk.page():
            raced.append(True)
            desk.edit("pnpm", "bun")
        return real(path, found, rendered)

    desk.pages._replace = replace
    desk.world.learn("Tests run with pytest.", sessions=("s2",))
    assert desk.pages.write().edits == 1
    assert "We use bun, never npm." in desk.live() and "pytest" in desk.text() and "bun" in desk.text()


def test_what_a_job_retired_is_no_deletion_and_what_it_reworded_no_edit(desk):
    id = desk.world.learn("We use pnpm, never npm.", sessions=("s3",))
    from catmem.domain.change import Change

    desk.store.commit([Change(0, "", "", "retire", "dream", ids=(id,))])
    assert desk.pages.write().edits == 0
    assert "pnpm" not in desk.text() and desk.store.get(id).now.status == "superseded"


def test_an_edit_of_a_line_that_was_retired_meanwhile_is_a_new_memory(desk):
    id = next(m.id for m in desk.store.live() if "pnpm" in m.now.text)
    from catmem.domain.change import Change

    desk.store.commit([Change(0, "", "", "retire", "dream", ids=(id,))])
    desk.edit("We use pnpm, never npm.", "We use pnpm for the web part only.")
    assert desk.pages.write().edits == 1
    assert "We use pnpm for the web part only." in desk.live()


def test_what_was_forgotten_elsewhere_goes_from_the_page(desk):
    desk.store.forget([next(m.id for m in desk.store.live() if "pnpm" in m.now.text)])
    assert desk.pages.write().edits == 0
    assert "pnpm" not in desk.text() and not any("pnpm" in text for text in desk.live())


def test_a_copied_line_is_one_memory_and_a_moved_one_stays_itself(desk):
    line = desk.line("pnpm")
    desk.edit(line, line + line)
    desk.edit(desk.line("make check"), "")
    desk.edit(line + line, line + line + "- 部署前先跑 make check。\n")
    assert desk.pages.write().edits == 0
    assert len([text for text in desk.live() if "pnpm" in text]) == 1 and desk.text().count("make check") == 1


@pytest.mark.parametrize("with_marks", [True, False])
def test_a_page_that_is_written_into_itself_again_has_each_section_and_each_line_once(desk, with_marks):
    """An assistant that edits the page may put all of it there once more, with the comments or without them."""
    live, page = desk.live(), desk.text()
    begin, end = page.index("<!-- catmem:begin"), page.index("<!-- catmem:end -->")
    inner = page[page.index("\n", begin) + 1 : end]
    if not with_marks:
        inner = re.sub(r" <!--.*?-->", "", inner)
    desk.edit("<!-- catmem:end -->", inner + "<!-- catmem:end -->")
    for _ in range(2):
        desk.pages.write()
    text = desk.text()
    managed = text[text.index("<!-- catmem:begin") : text.index("<!-- catmem:end -->")]
    assert desk.live() == live
    for line in [line for line in managed.splitlines() if line.startswith(("#", "- "))]:
        assert managed.count(line + "\n") == 1, line
    assert desk.pages.write().written == 0


def test_secrets_and_comments_in_a_line(desk):
    desk.edit("We use pnpm, never npm.", "The password is hunter22 --> <!-- x")
    desk.pages.write()
    assert "hunter22" not in desk.text() and desk.pages.write().edits == 0
    assert any("[secret:password:1]" in text for text in desk.live())


def test_a_page_that_is_no_text_is_left_alone_and_reported(desk):
    desk.page().write_bytes(b"\xff\xfe\x00not utf-8")
    desk.pages.write()
    assert desk.pages.unreadable() == [desk.page()] and desk.page().read_bytes() == b"\xff\xfe\x00not utf-8"
    assert any("pnpm" in text for text in desk.live())


def test_a_symbolic_link_stays_one(desk, tmp_path):
    elsewhere = tmp_path / "dotfiles.md"
    elsewhere.write_bytes(desk.page().read_bytes())
    desk.page().unlink()
    desk.page().symlink_to(elsewhere)
    desk.world.learn("Tests run with pytest.", sessions=("s2",))
    desk.pages.write()
    assert desk.page().is_symlink() and "pytest" in elsewhere.read_text()


def test_a_page_stays_readable_and_what_it_leaves_out_is_not_deleted(tmp_path):
    desk = Desk(tmp_path / "catmem")
    for number in range(MOST_BULLETS + 30):
        desk.world.learn(f"Service number {number} listens on port {9000 + number}.")
    desk.pages.write()
    assert desk.text().count("\n- ") == MOST_BULLETS and "30 more" in desk.text()
    desk.world.learn("Always run make check first.", sessions=("a", "b", "c"))
    assert desk.pages.write().edits == 0
    assert len(desk.live()) == MOST_BULLETS + 31 and "make check" in desk.text()


@pytest.mark.parametrize("broken", [b"", b"not json", b"[]", b'{"x": 1}', None])
def test_without_knowing_what_was_written_nothing_counts_as_deleted(desk, broken):
    for path in (desk.world.paths.run / "pages").iterdir():
        path.unlink() if broken is None else path.write_bytes(broken)
    desk.edit(desk.line("pnpm"), "")
    desk.edit("make check", "make test")
    assert desk.pages.write().edits == 1
    assert any("pnpm" in text for text in desk.live()) and any("make test" in text for text in desk.live())
