"""Merges, names and places of projects: one reading of the lines, in whatever order they come."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from catmem.domain.change import Change
from catmem.domain.change_record import change_from_record, change_to_record
from catmem.domain.project import folder_key, former_home
from catmem.domain.projects import facts_of, homes_of, taken_back
from tests.domain.samples import moment

KEYS = ("shop-11111111", "茶壶-22222222", "blog-33333333", "notes")


def line(number: int, by: str = "user", device: str = "d1", **said: str) -> Change:
    return Change(number, moment(number), device, "project", by, project=said)  # type: ignore[arg-type]


KEY = st.sampled_from(KEYS)
LINES = st.lists(
    st.builds(
        lambda number, by, device, key, said: line(number, by, device, key=key, **said),
        st.integers(1, 6),
        st.sampled_from(["user", "distiller"]),
        st.sampled_from(["d1", "d2"]),
        KEY,
        st.fixed_dictionaries({}, optional={"into": KEY | st.just(""), "name": st.text(max_size=3), "folder": KEY}),
    ),
    max_size=8,
    unique_by=lambda change: (change.device, change.seq),
)


@given(LINES, st.randoms())
def test_the_order_of_arrival_does_not_matter(lines: list[Change], dice):
    shuffled = list(lines)
    dice.shuffle(shuffled)
    assert facts_of(shuffled) == facts_of(lines)


@given(LINES)
def test_every_key_has_one_home_that_is_its_own(lines: list[Change]):
    homes = homes_of(facts_of(lines))
    for key, home in homes.items():
        assert key != home and home not in homes


@given(LINES)
def test_a_line_reads_back_as_it_was_written(lines: list[Change]):
    assert [change_from_record(change_to_record(change)) for change in lines] == lines


@given(LINES, KEY, KEY)
def test_undoing_a_merge_leaves_every_home_as_it_was(lines: list[Change], key: str, into: str):
    before = homes_of(facts_of(lines))
    merged = [*lines, line(10, key=key, into=into)]
    back = taken_back(merged)
    assert back is not None
    assert homes_of(facts_of([*merged, line(11, **back)])) == before


def test_merges_chain_and_a_circle_has_the_first_key_as_its_home():
    chain = [line(1, key="a", into="b"), line(2, key="b", into="c")]
    assert homes_of(facts_of(chain)) == {"a": "c", "b": "c"}
    circle = [line(1, key="b", into="a"), line(1, device="d2", key="a", into="b"), line(3, key="x", into="b")]
    assert homes_of(facts_of(circle)) == {"b": "a", "x": "a"}


def test_what_the_user_says_stands_against_every_job():
    split = [line(1, "distiller", key="a", into="b"), line(2, key="a", into="")]
    assert homes_of(facts_of([*split, line(3, "distiller", key="a", into="b")])) == {}
    assert homes_of(facts_of([*split, line(3, key="a", into="b")])) == {"a": "b"}


def test_the_name_first_seen_stays_until_the_user_gives_one():
    seen = [line(1, "distiller", key="k", label="Docu2", folder="D:\\Docu2")]
    seen.append(line(2, "distiller", key="k", label="docu2", folder="d:/docu2", name="not a job's"))
    facts = facts_of(seen)["k"]
    assert (facts.label, facts.name, facts.folders) == ("Docu2", "", ("D:\\Docu2", "d:/docu2"))
    assert facts_of([*seen, line(3, key="k", name="文档")])["k"].name == "文档"


def test_there_is_nothing_to_take_back_of_a_job():
    assert taken_back([line(1, "distiller", key="a", into="b")]) is None


OLD, NEW = "/a/app", "/b/app"
SEEN = {folder_key(OLD): ("c0ffee", [OLD])}


def home(
    key: str = folder_key(NEW), folder: str = NEW, root: str = "c0ffee", there: tuple[str, ...] = (), **more
) -> str:
    seen = {**SEEN, **more.get("seen", {})}
    return former_home(seen, more.get("homes", {}), key, root, folder, lambda place: place in there)


def test_a_repository_is_known_again_only_where_nothing_else_can_be_meant():
    assert home() == folder_key(OLD), "moved"
    assert home(there=(OLD,)) == "", "a copy beside the original"
    assert home(root="beef") == "" and home(root="") == "", "another history, or none"
    assert home(key="app-of-a-remote", folder=OLD, there=(OLD,)) == folder_key(OLD), "it got a remote"
    assert home(key="app-of-a-remote") == "", "a clone elsewhere of what was only a folder"
    assert home(key=folder_key(OLD), folder=OLD) == "", "itself"
    other = {"fork-of-a-remote": ("c0ffee", ["/c/app"])}
    assert home(seen=other) == folder_key(OLD), "a fork with a remote is no candidate for a move"
    twin = {folder_key("/c/app"): ("c0ffee", ["/c/app"])}
    assert home(seen=twin) == "", "two could be meant"
    assert home(seen=twin, homes={folder_key("/c/app"): folder_key(OLD)}) == folder_key(OLD), "the two are one"
    assert home(seen=twin, homes={folder_key("/c/app"): folder_key(OLD)}, there=("/c/app",)) == "", "it lies there now"
