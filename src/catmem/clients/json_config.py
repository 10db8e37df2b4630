"""Our part of a JSON configuration: hooks in lists, our server among the others, each under its own path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from catmem.clients.installing import decoded
from catmem.clients.json_text import Node, parse, with_entry, without_entry

Where = tuple[str, ...]
# From the outermost object down to an entry: each holder, and which of its children leads there.
_Chain = list[tuple[Node, int]]

_HOOKS = "hooks"


@dataclass(frozen=True, slots=True)
class JsonPart:
    """An Edit of a file of JSON.

    client    whose hooks these are: ours are known by their command, wherever the program lay then
    hooks     event -> our entry in its list under "hooks"
    members   where an entry of ours stands -> its value; the name is ours, whatever stands under it
    defaults  what the file must have besides
    comments  the host reads comments, and so do we
    """

    path: Path
    client: str
    hooks: Mapping[str, object] = field(default_factory=dict)
    members: Mapping[Where, object] = field(default_factory=dict)
    defaults: Mapping[str, object] = field(default_factory=dict)
    comments: bool = False

    def has(self, data: bytes) -> bool:
        root = self._parsed(self._text(data))
        found: dict[str, list[object]] = {}
        for chain in self._our_hooks(root):
            holder, number = chain[-1]
            found.setdefault(chain[1][0].names[chain[1][1]], []).append(holder.children[number].value)
        return found == {event: [entry] for event, entry in self.hooks.items()} and all(
            _values_at(root, where) == [value] for where, value in self.members.items()
        )

    def put(self, data: bytes) -> bytes:
        text = self._without(self._text(data))
        for name, value in self.defaults.items():
            root = self._parsed(text)
            text = text if name in root.names else with_entry(text, root, name, value)
        for where, value in self.members.items():
            text = self._added(text, where, value)
        for event, entry in self.hooks.items():
            text = self._added(text, (_HOOKS, event), entry, listed=True)
        self._checked(text)
        return text.encode("utf-8", "surrogatepass")

    def take(self, data: bytes) -> bytes:
        text = self._text(data)
        clean = self._without(text)
        return data if clean == text else clean.encode("utf-8", "surrogatepass")

    def is_empty(self, data: bytes) -> bool:
        return self._parsed(self._text(data)).value in ({}, dict(self.defaults))

    def _text(self, data: bytes) -> str:
        return decoded(data, self.path, self._checked)

    def _parsed(self, text: str) -> Node:
        return parse(text, comments=self.comments)

    def _checked(self, text: str) -> None:
        """Raises ValueError where something of another shape stands in our way."""
        root = self._parsed(text)
        if not isinstance(root.value, dict):
            raise ValueError("not a JSON object")
        holders: list[tuple[Where, type]] = [
            (where[:end], dict) for where in self.members for end in range(1, len(where))
        ]
        if self.hooks:
            holders += [((_HOOKS,), dict), *(((_HOOKS, event), list) for event in self.hooks)]
        for where, shape in holders:
            if not all(isinstance(value, shape) for value in _values_at(root, where)):
                raise ValueError(f'"{".".join(where)}" has an unexpected shape')

    def _without(self, text: str) -> str:
        while True:
            root = self._parsed(text)
            chain = next(self._our_hooks(root), None) or next(
                (chain for where in self.members if (chain := _chain(root, where))), None
            )
            if chain is None:
                return text
            while len(chain) > 1 and len(chain[-1][0].children) == 1:
                chain.pop()  # what would be empty only because of that
            text = without_entry(text, *chain[-1])

    def _added(self, text: str, where: Where, value: Any, *, listed: bool = False) -> str:
        """With a value under a path, or at the end of the list there; what is missing of the path comes with it."""
        holder, left = self._parsed(text), list(where)
        while left and (child := holder.child(left[0])):
            holder, left = child, left[1:]
        if listed:
            value = [value] if left else value
        name = left[0] if left else None
        for missing in reversed(left[1:]):
            value = {missing: value}
        return with_entry(text, holder, name, value)

    def _our_hooks(self, root: Node) -> Iterator[_Chain]:
        """Our hooks at all events, also at those that we do not use any more."""
        hooks = root.child(_HOOKS) if self.hooks else None
        if hooks is None or not isinstance(hooks.value, dict):
            return
        for number, events in enumerate(hooks.children):
            above: _Chain = [(root, root.names.index(_HOOKS)), (hooks, number)]
            for place, entry in enumerate(events.children if isinstance(events.value, list) else ()):
                for inner in self._ours_in(entry):
                    yield [*above, (events, place), *inner]

    def _ours_in(self, entry: Node) -> Iterator[_Chain]:
        """[] if all of an entry is ours; the way to each of our hooks if others share its group."""
        inner = entry.child(_HOOKS)
        if inner is None or not isinstance(inner.value, list):
            if self._is_ours(entry.value):
                yield []
            return
        ours = [number for number, hook in enumerate(inner.children) if self._is_ours(hook.value)]
        if ours and len(ours) == len(inner.children):
            yield []
            return
        for number in ours:
            yield [(entry, entry.names.index(_HOOKS)), (inner, number)]

    def _is_ours(self, hook: object) -> bool:
        command = hook.get("command") if isinstance(hook, dict) else None
        return isinstance(command, str) and bool(re.search(rf"(?:^|\s)hook {self.client} [A-Za-z]+\b", command))


def _chain(root: Node, where: Where) -> _Chain | None:
    """The way to an entry, None if there is none."""
    chain: _Chain = []
    holder = root
    for name in where:
        if name not in holder.names:
            return None
        chain.append((holder, holder.names.index(name)))
        holder = holder.child(name) or holder
    return chain


def _values_at(root: Node, where: Where) -> list[Any]:
    """What stands under a path: one value or none."""
    chain = _chain(root, where)
    return [chain[-1][0].children[chain[-1][1]].value] if chain else []
