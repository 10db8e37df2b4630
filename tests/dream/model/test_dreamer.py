"""A dream: the model points, the rules decide, one append is the effect; a bad model changes nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catmem.domain.change import Change, Job
from catmem.dream.model import dreamer
from catmem.dream.model.dreamer import MOST_ATTEMPTS, Dreamer
from catmem.llm.port import Failure
from catmem.store.memories import MemoryStore
from tests.dream.model.models import NOTHING, Said, TestModel
from tests.index.world import World

MARCH, APRIL, MAY = "2026-03-01T10:00:00.000Z", "2026-04-01T10:00:00.000Z", "2026-05-01T10:00:00.000Z"


class Bed:
    def __init__(self, root) -> None:
        self.world = World(root)
        self.store = self.world.store
        self.moment = datetime(2026, 6, 1, tzinfo=UTC).timestamp()
        self.sessions = 0

    def learn(self, text: str, at: str = MARCH, **how) -> str:
        return self.world.learn(text, at=at, **how)

    def digest(self, text: str, project: str = "shop") -> None:
        self.sessions += 1
        job = Job(project, f"d{self.sessions}", 1, 2, "rules/1")
        digest = {"text": text, "topics": [], "progress": []}
        self.store.commit([Change(0, "", "", "distilled", "distiller", job=job, digest=digest)])

    def dreamer(self, model, **settings) -> Dreamer:
        values = {"interval_minutes": 120, "entries_per_run": 20, "max_loss": 0.5, **settings}
        return Dreamer(self.store, self.world.paths, model, values, threshold=2, clock=lambda: self.moment)

    def dream(self, *answers, force=True, **settings):
        model = TestModel(*answers)
        dreamt = self.dreamer(model, **settings).run(["shop"], force=force)
        return model, {one.project: one for one in dreamt}

    def live(self) -> set[str]:
        return {memory.now.text for memory in self.store.live()}

    def lines_of(self, *ops: str) -> int:
        lines = [line for path in self.world.paths.ledger.glob("*.jsonl") for line in path.read_text().splitlines()]
        return sum(json.loads(line).get("op") in ops for line in lines)

    def lines(self) -> int:
        return sum(len(p.read_bytes().splitlines()) for p in self.world.paths.ledger.glob("*.jsonl"))


@pytest.fixture
def bed(tmp_path) -> Bed:
    return Bed(tmp_path / "catmem")


def test_paraphrases_become_one_and_the_other_words_stay_readable(bed):
    kept = bed.learn("Run make check before each commit.", MARCH, sessions=("a",))
    gone = bed.learn("Before committing, always run make check.", APRIL, sessions=("b",))
    bed.learn("We deploy on Fridays.", MAY)
    bed.digest("ran make check again")
    _, dreamt = bed.dream(NOTHING | {"merge": [{"same": [1, 2]}]})
    assert [o.name for o in dreamt["shop"].done] == ["merge"], dreamt
    assert bed.live() == {"Run make check before each commit.", "We deploy on Fridays."}
    assert bed.store.get(gone).superseded_by == kept
    assert bed.store.get(kept).now.confirmations == 2


def test_chinese_and_english_of_one_statement(bed):
    bed.learn("我们一律用 pnpm 装依赖。", MARCH, sessions=("a",))
    bed.learn("Install packages with pnpm.", APRIL, sessions=("b",))
    bed.learn("Deploy with ansible.", APRIL, sessions=("c",))
    bed.digest("pnpm 装好了")
    _, dreamt = bed.dream(NOTHING | {"merge": [{"same": [1, 2]}, {"same": [1, 3]}]})
    assert len(dreamt["shop"].done) == 1 and len(dreamt["shop"].refused) == 1
    assert bed.live() == {"我们一律用 pnpm 装依赖。", "Deploy with ansible."}


@pytest.mark.parametrize(
    ("one", "other", "done"),
    [
        ("We deploy on Fridays.", "周五部署。", 1),
        ("提交信息用英文。", "Commit messages in English.", 1),
        ("We deploy on Fridays.", "周四部署。", 0),
        ("We deploy on Fridays.", "周五不部署。", 0),
        ("We deploy on Fridays.", "We deploy on Thursdays.", 0),
        ("We indent with tabs.", "缩进用空格。", 0),
    ],
)
def test_without_a_name_in_common_the_tables_of_words_decide(bed, one: str, other: str, done: int):
    bed.learn(one, MARCH, sessions=("a",))
    bed.learn(other, APRIL, sessions=("b",))
    bed.digest("worked on")
    _, dreamt = bed.dream(NOTHING | {"merge": [{"same": [1, 2]}]})
    assert (len(dreamt["shop"].done), len(bed.live())) == (done, 2 - done)


def test_a_contradiction_is_settled_for_the_later_one(bed):
    old = bed.learn("We serve the model with vLLM.", MARCH, kind="decision")
    new = bed.learn("We serve the model with llama.cpp now.", MAY, kind="decision")
    bed.digest("moved the model server")
    _, dreamt = bed.dream(NOTHING | {"replace": [{"old": 1, "new": 2}]})
    assert bed.live() == {"We serve the model with llama.cpp now."}, dreamt
    assert (bed.store.get(old).now.status, bed.store.get(old).superseded_by) == ("superseded", new)


def test_an_open_question_that_was_settled_is_retired(bed):
    bed.learn("Which database do we take for the shop?", MARCH, kind="question")
    bed.learn("We take Postgres as the database for the shop.", MAY, kind="decision")
    bed.digest("database settled")
    bed.dream(NOTHING | {"retire": [{"old": 1, "because": 2}]})
    assert bed.live() == {"We take Postgres as the database for the shop."}


def test_a_preference_of_two_projects_joins_the_profile(bed):
    bed.learn("I like short answers without a preamble.", MARCH, kind="preference", project="shop", sessions=("a",))
    bed.learn("I like short answers, no preamble please.", APRIL, kind="preference", project="blog", sessions=("b",))
    _, dreamt = bed.dream(NOTHING | {"merge": [{"same": [1, 2]}]})
    assert [o.name for o in dreamt[""].done] == ["merge"]
    profile = [memory for memory in bed.store.live() if memory.now.scope == "global"]
    assert [memory.now.text for memory in profile] == ["I like short answers without a preamble."]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"merge": [{"same": [1, 2]}]}, "do not say the same"),
        ({"merge": [{"same": [1, 4]}]}, "do not say the same"),  # another number
        ({"merge": [{"same": [1]}]}, "names only one"),
        ({"merge": [{"same": []}]}, "names nothing"),
        ({"merge": [{"same": "all"}]}, "names nothing"),
        ({"merge": [{"same": [1, 99]}]}, "names a number that is not there"),
        ({"merge": [{"same": [True, 2]}]}, "names only one"),
        ({"merge": [{"same": [1, 3]}]}, "are of different kinds"),
        ({"replace": [{"old": 4, "new": 1}]}, "is not later than what it replaces"),
        ({"replace": [{"old": 2, "new": 4}]}, "speak of different things"),
        ({"replace": [{"old": 5, "new": 4}]}, "would replace the user's own word"),
        ({"retire": [{"old": 1, "because": 4}]}, "is not of a kind that ends by itself"),
        ({"promote": [{"memory": 1}]}, "was not said in enough sessions"),
    ],
)
def test_what_a_lying_model_asks_for_is_refused(bed, answer, why):
    bed.learn("The staging port is 5433.", MARCH)
    bed.learn("Write tests in pytest.", MARCH, sessions=("b",))
    bed.learn("The staging port question is open.", MARCH, kind="question")
    bed.learn("The staging port is 6000.", APRIL, sessions=("c",))
    from catmem.capture.remember import remember
    from catmem.domain.clock import system_clock

    remember(
        bed.store, "Staging port: ask Mia", project="shop", scope="project", kind="note", session="cli",
        redact=lambda text, source: text, clock=lambda: bed.moment,
    )  # fmt: skip
    assert system_clock
    bed.digest("staging")
    before = bed.live()
    _, dreamt = bed.dream(NOTHING | answer)
    assert [r.why for r in dreamt["shop"].refused] == [why] and bed.live() == before


def test_no_more_than_its_share_is_lost_in_a_run(bed):
    for number in range(8):
        bed.learn(f"Progress of the parser rewrite, step {'abcdefgh'[number]}.", MARCH, kind="progress")
    bed.learn("The parser rewrite is done, all steps of it.", MAY, kind="progress")
    bed.digest("parser done")
    answer = NOTHING | {"retire": [{"old": n, "because": 9} for n in range(1, 9)]}
    _, dreamt = bed.dream(answer, max_loss=0.25)
    assert len(bed.live()) >= 7 and any(r.why for r in dreamt["shop"].refused)


def test_nothing_new_is_no_question_and_no_write(bed):
    bed.learn("We deploy on Fridays.")
    bed.learn("Write tests in pytest.")
    bed.digest("tests")
    model, _ = bed.dream(NOTHING)
    assert len(model.asked) == 1
    lines = bed.lines()
    model, dreamt = bed.dream(NOTHING)
    assert model.asked == [] and dreamt == {} and bed.lines() == lines
    bed.digest("and new input always reaches a run")
    model, _ = bed.dream(NOTHING)
    assert len(model.asked) == 1 and "always reaches" in model.asked[0]


def test_a_batch_without_effect_moves_the_cursor_and_the_next_follows(bed):
    bed.learn("We deploy on Fridays.")
    bed.learn("Write tests in pytest.")
    for number in range(5):
        bed.digest(f"digest number {number}")
    seen = [bed.dream(NOTHING, entries_per_run=2)[0].asked for _ in range(4)]
    assert [len(asked) for asked in seen] == [1, 1, 1, 0]
    assert "number 0" in seen[0][0] and "number 4" in seen[2][0] and "number 0" not in seen[1][0]


@pytest.mark.parametrize(
    "bad",
    ["prose, not JSON", "", '{"merge": [', "[]", "null", '"x"', '{"merge": {}}', Said('{"merge": []', "length"),
     '{"merge": [{"same": [1, 2]}]}'],
    ids=repr,
)  # fmt: skip
def test_a_useless_answer_moves_nothing_and_after_a_second_chance_and_three_runs_the_rest_goes_on(bed, bad):
    bed.learn("We deploy on Fridays.")
    bed.learn("Write tests in pytest.")
    bed.digest("first digest")
    before = bed.live()
    for _ in range(MOST_ATTEMPTS):
        model, dreamt = bed.dream(bad)
        assert len(model.asked) == 2 and dreamt["shop"].error and bed.store.dream_cursor("shop") == {}
        assert "cannot be used" in model.asked[1]
    model, dreamt = bed.dream(bad)
    assert model.asked == [] and bed.store.dream_cursor("shop") and bed.live() == before
    bed.digest("second digest")
    model, _ = bed.dream(NOTHING)
    assert len(model.asked) == 1 and "second digest" in model.asked[0] and "first digest" not in model.asked[0]


def test_fenced_json_and_a_second_chance_will_do(bed):
    bed.learn("Run make check before each commit.", MARCH, sessions=("a",))
    bed.learn("Before committing, always run make check.", APRIL, sessions=("b",))
    bed.digest("x")
    fenced = '```json\n{"merge": [{"same": [1, 2]}], "replace": [], "retire": [], "promote": []}\n```'
    model, dreamt = bed.dream("Sure! Here is", fenced)
    assert len(dreamt["shop"].done) == 1 and len(model.asked) == 2


def test_a_dead_model_ends_the_run_and_moves_nothing(bed):
    bed.learn("We deploy on Fridays.")
    bed.learn("Write tests in pytest.")
    bed.digest("x")
    dead = Failure("connection refused", "连接被拒绝", remedy="later")
    for _ in range(MOST_ATTEMPTS + 2):
        model, dreamt = bed.dream(dead)
        assert len(model.asked) == 1 and "refused" in dreamt["shop"].error
    assert bed.store.dream_cursor("shop") == {}
    model, _ = bed.dream(NOTHING)
    assert len(model.asked) == 1 and bed.store.dream_cursor("shop")


def test_killed_between_the_answer_and_the_commit_it_is_not_asked_again(bed, monkeypatch):
    bed.learn("Run make check before each commit.", MARCH, sessions=("a",))
    bed.learn("Before committing, always run make check.", APRIL, sessions=("b",))
    bed.digest("x")
    commit = bed.store.commit_retrying
    monkeypatch.setattr(bed.store, "commit_retrying", lambda propose: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        bed.dream(NOTHING | {"merge": [{"same": [1, 2]}]})
    monkeypatch.setattr(bed.store, "commit_retrying", commit)
    model, dreamt = bed.dream(AssertionError("asked twice"))
    assert model.asked == [] and len(dreamt["shop"].done) == 1 and len(bed.live()) == 1


def test_killed_at_any_step_nothing_is_asked_twice_and_what_was_answered_is_done(tmp_path, monkeypatch):
    """Of a project and of the profile; the steps are the files that are written or removed, and the commits."""
    state = {"at": 0, "step": 0}

    def stepping(function):
        def stepped(*arguments, **options):
            for before in (True, False):
                state["step"] += 1
                if state["step"] == state["at"]:
                    raise KeyboardInterrupt
                if before:
                    result = function(*arguments, **options)
            return result

        return stepped

    monkeypatch.setattr(dreamer, "write_private", stepping(dreamer.write_private))
    monkeypatch.setattr(MemoryStore, "commit", stepping(MemoryStore.commit))
    monkeypatch.setattr(Path, "unlink", stepping(Path.unlink))
    answer = lambda question: NOTHING | {"merge": [{"same": [1, 2]}]}  # noqa: E731
    step, finished = 0, False
    while not finished:
        state.update(at=0, step=0)
        bed = Bed(tmp_path / str(step))
        bed.learn("Run make check before each commit.", MARCH, sessions=("a",))
        bed.learn("Before committing, always run make check.", APRIL, sessions=("b",))
        bed.learn("I like short answers without a preamble.", MARCH, kind="preference", project="x", sessions=("a",))
        bed.learn("I like short answers, no preamble please.", APRIL, kind="preference", project="y", sessions=("b",))
        bed.digest("x")
        step += 1
        state.update(at=step, step=0)
        model, finished = TestModel(answer), True
        try:
            bed.dreamer(model).run(["shop"], force=True)
        except KeyboardInterrupt:
            finished = False
        state.update(at=0)
        heard = len(model.asked)
        # Nobody can know of an answer that was never written down.
        unheard = heard - bed.lines_of("merge", "promote") - len(list(bed.world.paths.run.glob("proposals/dream-*")))
        for _ in range(2):
            bed.dreamer(model).run(["shop"], force=True)
        assert len(model.asked) <= 2 + max(0, unheard), step
        assert bed.live() == {"Run make check before each commit.", "I like short answers without a preamble."}, step
        assert bed.store.dream_cursor("shop"), step
    assert step > 16


@pytest.mark.parametrize(
    ("hours", "runs"),
    [
        ([0, 0.5, 1, 2.1, 2.2], [0, 2.1]),
        ([0, -0.0003, -0.0002, 1, 1.9996, 2], [0, 2]),  # a second back, as a time server does it
        ([2.1, -5, -4.9, -3.5, -2.9, 0.1], [2.1, -2.9, 0.1]),  # hours back
        ([9000, 0, 1, 1.9, 2.1], [9000, 2.1]),  # a battery that was empty
    ],
)
def test_one_run_an_interval_whatever_the_clock_does(bed, hours, runs):
    bed.learn("We deploy on Fridays.")
    bed.learn("Write tests in pytest.")
    ran = []
    for hour in hours:
        bed.moment = datetime(2026, 6, 1, 12, tzinfo=UTC).timestamp() + hour * 3600
        bed.digest(f"digest at {hour}")
        if bed.dream(NOTHING, force=False)[0].asked:  # each time another process
            ran.append(hour)
    assert ran == runs


def test_what_changed_since_the_model_looked_is_left_alone(bed):
    bed.learn("Run make check before each commit.", MARCH, sessions=("a",))
    bed.learn("Before committing, always run make check.", APRIL, sessions=("b",))
    bed.digest("x")

    def meanwhile(question: str):
        id = next(m.id for m in bed.store.live() if m.now.text.startswith("Before"))
        bed.store.forget([id])
        return NOTHING | {"merge": [{"same": [1, 2]}]}

    _, dreamt = bed.dream(meanwhile)
    assert [r.why for r in dreamt["shop"].refused] == ["has changed meanwhile"]
    assert bed.live() == {"Run make check before each commit."}


def test_a_dry_run_shows_and_changes_nothing(bed):
    bed.learn("Run make check before each commit.", MARCH, sessions=("a",))
    bed.learn("Before committing, always run make check.", APRIL, sessions=("b",))
    bed.digest("x")
    before, lines = bed.live(), bed.lines()
    dreamt = bed.dreamer(TestModel(NOTHING | {"merge": [{"same": [1, 2]}]})).run(["shop"], force=True, dry=True)
    assert len(dreamt[-1].done) == 1 and (bed.live(), bed.lines()) == (before, lines)


def test_two_devices_that_dream_agree(bed, tmp_path):
    bed.learn("Run make check before each commit.", MARCH, sessions=("a",))
    bed.learn("Before committing, always run make check.", APRIL, sessions=("b",))
    bed.digest("x")
    bed.dream(NOTHING | {"merge": [{"same": [1, 2]}]})
    from catmem.ledger.ledger import Ledger
    from catmem.settings.paths import Paths
    from catmem.store.memories import MemoryStore

    other = Paths(tmp_path / "other")
    other.ledger.mkdir(parents=True)
    for path in bed.world.paths.ledger.glob("*.jsonl"):
        (other.ledger / path.name).write_bytes(path.read_bytes())
    twin = MemoryStore(other, Ledger(other))
    twin.catch_up()
    assert twin.all() == bed.store.all() and twin.dream_cursor("shop") == bed.store.dream_cursor("shop")


_NUMBERS = st.integers(-1, 8)
_ANSWERS = st.fixed_dictionaries(
    {
        "merge": st.lists(st.fixed_dictionaries({"same": st.lists(_NUMBERS, max_size=4), "text": st.just("all done")}), max_size=3),
        "replace": st.lists(st.fixed_dictionaries({"old": _NUMBERS, "new": _NUMBERS}), max_size=3),
        "retire": st.lists(st.fixed_dictionaries({"old": _NUMBERS, "because": _NUMBERS}), max_size=3),
        "promote": st.lists(st.fixed_dictionaries({"memory": _NUMBERS}), max_size=3),
    }
)  # fmt: skip


@given(_ANSWERS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_told_of_a_dream_is_what_it_did(tmp_path_factory, answer):
    """Whatever a model claims: each memory that changed was told of, and each that was told of has changed."""
    bed = Bed(tmp_path_factory.mktemp("dream") / "catmem")
    bed.learn("Run make check before each commit.", MARCH, sessions=("a",))
    bed.learn("Before committing, always run make check.", APRIL, sessions=("b",))
    bed.learn("提交之前先跑 make check。", MAY, sessions=("c",))
    bed.learn("Which database do we take for the shop?", MARCH, kind="question")
    bed.learn("We take Postgres as the database for the shop.", MAY, kind="decision")
    bed.learn("I like short answers.", MARCH, kind="preference", sessions=("a", "b"))
    bed.digest("tidied")
    before = {m.id: (m.now.status, m.now.scope, m.now.text) for m in bed.store.all()}
    _, dreamt = bed.dream(answer, max_loss=1.0)
    after = {m.id: (m.now.status, m.now.scope, m.now.text) for m in bed.store.all()}
    assert set(after) == set(before), "no word of a model becomes a memory"
    done = [operation for one in dreamt.values() for operation in one.done]
    changed = {id for id in after if after[id] != before[id]}
    told = [{memory.id for memory in operation.touched} for operation in done]
    assert changed <= set().union(*told) and all(changed & ids for ids in told)
    assert sum(operation.loses for operation in done) == sum(after[id][0] != "live" for id in changed)
