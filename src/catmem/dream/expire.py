"""Memories that nobody confirmed for a long time are retired, where the user wants that."""

from __future__ import annotations

from catmem.domain.change import Change
from catmem.domain.clock import Clock, now, shifted
from catmem.domain.memory import Memory
from catmem.store.memories import MemoryStore


def expire(store: MemoryStore, after_days: int, clock: Clock) -> int:
    """Retires unpinned memories last changed more than `after_days` ago; 0 days means never. Returns how many."""
    if after_days <= 0:
        return 0
    limit = shifted(now(clock), days=-after_days)
    stale = [m for m in store.live() if not m.now.pinned and m.now.by != "user" and _last_said(m) < limit]
    if stale:
        why = f"not confirmed for {after_days} days"
        store.commit(
            [Change(0, "", "", "retire", "dream", why=why, ids=tuple(m.id for m in stale))],
            {m.id: m.version for m in stale},
        )
    return len(stale)


def _last_said(memory: Memory) -> str:
    return max((e.at for e in memory.now.evidence), default=memory.now.valid_from)
