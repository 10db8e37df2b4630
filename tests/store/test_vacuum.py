"""A vacuum gives space back and changes no memory."""

from __future__ import annotations

from catmem.store.vacuum import LEAST_BYTES, unused_bytes, vacuum
from tests.domain.samples import claim_about, distilled


def test_space_comes_back_and_every_memory_stays(store, paths):
    claims = [claim_about(0, f"tool-{n}", n, text=f"项目 uses {n} " + "长" * 500, many=True) for n in range(400)]
    store.commit([distilled(claim, 900) for claim in claims])
    kept = {memory.id for memory in store.all()} - {claim.id for claim in claims[50:]}
    assert unused_bytes(store) < LEAST_BYTES
    store.using(lambda c: c.executescript("CREATE TABLE ballast(x); INSERT INTO ballast VALUES(zeroblob(3000000));"))
    store.using(lambda c: c.executescript("DROP TABLE ballast"))
    unused = unused_bytes(store)
    assert unused > 2_900_000
    freed = vacuum(store, paths)
    assert freed >= unused * 0.9 and unused_bytes(store) == 0
    assert kept <= {memory.id for memory in store.all()} and len(store.all()) == 400
    assert vacuum(store, paths) == 0
