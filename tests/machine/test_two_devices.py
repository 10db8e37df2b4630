"""Two devices in any order of learning, deciding, syncing, crashing and losing their database.

What must hold at every moment: a database made anew is the same; what was forgotten last stays forgotten and no file of
the device that forgot has a byte of it; and after an exchange both have the same memories.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from catmem.domain.change import Change
from catmem.domain.clock import stamp
from catmem.domain.errors import NotFound
from catmem.domain.restoring import restoring
from catmem.domain.state import is_restored
from catmem.ledger.ledger import Ledger
from catmem.settings.paths import Paths
from catmem.store.memories import MemoryStore
from catmem.store.records import export_entries
from tests.domain.samples import OBJECTS, claim_about, distilled, moment, said

WHO = st.integers(0, 1)
SLOT = st.integers(0, 2)
OBJECT = st.sampled_from(OBJECTS)


class TwoDevices(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.root = Path(tempfile.mkdtemp())
        self.paths = [Paths(self.root / name) for name in ("laptop", "desktop")]
        self.seconds = 1_780_000_100.0
        self.said = 0
        self.stores = [self.open(0), self.open(1)]
        self.users: dict[str, str] = {}

    def open(self, who: int) -> MemoryStore:
        return MemoryStore(self.paths[who], Ledger(self.paths[who], self.clock), self.clock)

    def clock(self) -> float:
        # Every reading a moment of its own, so that no two lines tie.
        self.seconds += 1
        return self.seconds

    def word(self, object: str, slot: int) -> str:
        return f"walrus-{slot} {object}"

    def claim(self, slot: int, object: str, session: str = "s1"):
        self.said += 1
        return claim_about(slot, object, self.said % 90, session=session, text=self.word(object, slot))

    @rule(who=WHO, slot=SLOT, object=OBJECT, session=st.sampled_from(("s1", "s2", "会话")))
    def distil(self, who, slot, object, session):
        claim = self.claim(slot, object, session)
        change = distilled(claim, 0)
        self.stores[who].commit(
            [Change(0, "", "", "distilled", "distiller", job=change.job, claims=(claim,), digest=change.digest)]
        )

    @rule(who=WHO, slot=SLOT, object=OBJECT, op=st.sampled_from(("remember", "edit")))
    def user_says(self, who, slot, object, op):
        claim = self.claim(slot, object)
        self.stores[who].commit([Change(0, "", "", op, "user", claims=(claim,))])
        now = self.stores[who].get(claim.id).now
        assert now.status == "forgotten" if op == "edit" and now.status == "forgotten" else now.object == object

    @rule(who=WHO, slot=SLOT, pinned=st.booleans())
    def pin(self, who, slot, pinned):
        self.stores[who].commit([Change(0, "", "", "pin", "user", ids=(claim_about(slot).id,), pinned=pinned)])

    @rule(who=WHO, slot=SLOT)
    def promote(self, who, slot):
        memory = self.stores[who].get(claim_about(slot).id)
        if memory and memory.now.status == "live":
            claim = claim_about(slot, memory.now.object, 0, scope="global", text=memory.now.text)
            change = said("promote", claim, 0)
            self.stores[who].commit(
                [Change(0, "", "", "promote", "dream", claims=change.claims)], {memory.id: memory.version}
            )
            assert self.stores[who].get(memory.id).now.scope == "global"

    @rule(who=WHO, slot=SLOT)
    def forget(self, who, slot):
        memory = self.stores[who].get(claim_about(slot).id)
        if memory is None or memory.now.status == "forgotten":
            return
        words = {r.text for r in memory.revisions if r.text}
        self.stores[who].forget([memory.id])
        assert self.stores[who].get(memory.id).now.status == "forgotten"
        assert self.stores[who].get(memory.id).version > memory.version
        own = self.stores[who]._ledger.device
        foreign = {path for path in self.paths[who].ledger.glob("*.jsonl") if path.stem != own}
        for path in self.paths[who].root.rglob("*"):
            if path.is_file() and path not in foreign:
                data = path.read_bytes()
                assert not [text for text in words if text.encode() in data], path

    @rule(who=WHO, slot=SLOT)
    def revert(self, who, slot):
        store, id = self.stores[who], claim_about(slot).id
        memory = store.get(id)
        if memory is None or memory.now.status == "forgotten":
            return
        with contextlib.suppress(NotFound):
            way = restoring(memory, store.history(id), store.forgotten_statements(), store.get)
            if way:
                store.commit([way.change(stamp(self.clock()))], way.versions)
                assert store.get(id).now.text == way.back[0][1].text and is_restored(store.get(id).now)

    @rule(who=WHO)
    def lose_the_database(self, who):
        for path in self.paths[who].root.glob("memories.db*"):
            path.unlink()

    @rule(who=WHO, where=st.floats(0, 1))
    def damage_the_database(self, who, where):
        self.stores[who].close()
        path = self.paths[who].database
        if path.exists():
            data = path.read_bytes()
            path.write_bytes(data[: int(len(data) * where)])
        self.stores[who] = self.open(who)

    @rule(who=WHO, data=st.binary(min_size=1, max_size=40))
    def tear_a_line(self, who, data):
        """A kill in the middle of an append."""
        ledger = self.paths[who].ledger / f"{self.stores[who]._ledger.device}.jsonl"
        with ledger.open("ab") as file:
            file.write(b"{" + data.replace(b"\n", b""))

    @rule(who=WHO)
    def restart(self, who):
        self.stores[who].close()
        self.stores[who] = self.open(who)

    @rule()
    def exchange(self):
        for _ in range(2):  # The second time carries what the first made each device take away.
            for source, target in ((0, 1), (1, 0)):
                self.stores[source].catch_up()
                name = f"{self.stores[source]._ledger.device}.jsonl"
                self.paths[target].make(self.paths[target].ledger)
                shutil.copyfile(self.paths[source].ledger / name, self.paths[target].ledger / name)
                self.stores[target].catch_up()
        assert self.stores[0].all() == self.stores[1].all()

    @invariant()
    def a_database_made_anew_is_the_same(self):
        for number, store in enumerate(self.stores):
            store.catch_up()
            again = Paths(self.root / f"again-{number}")
            shutil.rmtree(again.root, ignore_errors=True)
            if not self.paths[number].ledger.is_dir():
                continue
            shutil.copytree(self.paths[number].ledger, again.ledger)
            made = MemoryStore(again, Ledger(again))
            assert made.all() == store.all()
            for memory in made.all():
                assert export_entries(memory)[-1]["version"] == memory.version
            made.close()

    @invariant()
    def histories_are_read_together_as_one_by_one(self):
        for store in self.stores:
            ids = [memory.id for memory in store.all()]
            assert dict(store.histories(ids)) == {id: store.history(id) for id in ids}

    @invariant()
    def every_stamp_is_ours(self):
        assert all(
            m.updated_at <= stamp(self.seconds) and m.created_at >= moment(0) for s in self.stores for m in s.all()
        )

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        shutil.rmtree(self.root)


TestTwoDevices = TwoDevices.TestCase
TestTwoDevices.settings = settings(
    max_examples=10, stateful_step_count=10, deadline=None, suppress_health_check=list(HealthCheck)
)
