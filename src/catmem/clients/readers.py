"""The reader of a client's transcripts, by the client's name."""

from __future__ import annotations

import importlib

from catmem.clients.catalogue import CLIENTS
from catmem.clients.port import History


def reader_of(client: str) -> History:
    """Loads the client's module only now: a catalogue of many clients costs nothing."""
    reader: History = importlib.import_module(CLIENTS[client]["history"]).READER
    return reader
