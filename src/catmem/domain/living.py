"""Which messages of a rewound talk are alive, on bare numbers: the same for five messages and for a million."""

from __future__ import annotations

from collections.abc import Callable, Sequence

# Of a message off the path: not looked at yet, being looked at, stays, is dead.
_OPEN, _SEEN, _STAYS, _DEAD = range(4)


def living(
    uids: Sequence[int],
    parents: Sequence[int],
    said: Sequence[int],
    leaf: int,
    place_of: Callable[[int], int],
) -> bytearray:
    """For each message 1 if it is on the branch that the user is on, else 0. What `live_path` says holds.

    uids, parents  small numbers that stand for the names of each message and of its parent; 0 for none
    said           whether the message is somebody's words
    leaf           the number of the message that the user is at, 0 if that is not known
    place_of       the place of the message with that name, -1 if there is none
    """
    children = _children(parents, max(leaf, max(uids, default=0), max(parents, default=0)))
    if max(children) < 2 and not children[leaf]:
        return bytearray(b"\x01") * len(uids)
    if place_of(leaf) < 0 and not children[leaf]:
        leaf = _newest_leaf(uids, said, children)
    alive = bytearray(len(uids))
    outside = 0  # the oldest name of the path, if no message here has it
    while leaf:
        place = place_of(leaf)
        if place < 0:
            outside = leaf
        if place < 0 or alive[place]:
            break
        alive[place] = 1
        leaf = parents[place]

    def is_on_path(name: int) -> bool:
        place = place_of(name)
        return bool(alive[place]) if place >= 0 else name == outside

    states = bytearray(len(uids))
    found = bytearray(alive)
    for start in range(len(uids)):
        if not alive[start]:
            found[start] = _follow(start, parents, said, place_of, is_on_path, states) != _DEAD
    return found


def _follow(
    start: int,
    parents: Sequence[int],
    said: Sequence[int],
    place_of: Callable[[int], int],
    is_on_path: Callable[[int], bool],
    states: bytearray,
) -> int:
    """_DEAD if the chain of parents of a message runs into the living path from a dead branch, else _STAYS."""
    way, place, state = [], start, _STAYS
    while True:
        if states[place]:
            state = states[place] if states[place] != _SEEN else _STAYS
            break
        states[place] = _SEEN
        way.append(place)
        parent = parents[place]
        if not parent:
            break
        if is_on_path(parent):
            # Directly on the path: a tool result beside it is part of the turn, words are a dead branch.
            state = _DEAD if said[place] else _STAYS
            break
        place = place_of(parent)
        if place < 0:
            break
    for each in way:
        states[each] = state
    return state


def _children(parents: Sequence[int], largest: int) -> bytearray:
    """How many messages answer each name; two stand for any more."""
    children = bytearray(largest + 1)
    for parent in parents:
        if parent and children[parent] < 2:
            children[parent] += 1
    return children


def _newest_leaf(uids: Sequence[int], said: Sequence[int], children: bytearray) -> int:
    leaves = (
        place for place in reversed(range(len(uids))) if uids[place] and said[place] and not children[uids[place]]
    )
    return uids[next(leaves, -1)]
