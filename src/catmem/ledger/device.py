"""Whose a ledger is: the device that its first line names, and how this device knows its own again.

`machine` in line 1 is a fingerprint of machine and user. Two directories on one machine are two devices: where ledgers were
copied from one to the other, a note under run/ tells which is this directory's own.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import socket
from collections.abc import Iterable
from pathlib import Path

from catmem.ledger.lines import FORMAT, record_of
from catmem.settings.paths import Paths, write_private

# Where line 1 is damaged, the changes after it still make the file a ledger.
_HEAD_BYTES = 1 << 16


def device_of(path: Path) -> str:
    """The device that a file's first line names; its own name if it has changes only; "" if it is no ledger at all."""
    try:
        with path.open("rb") as file:
            first, *rest = (record_of(line) for line in file.read(_HEAD_BYTES).split(b"\n"))
    except OSError:
        return ""
    if first.get("format") == FORMAT:
        return str(first.get("device", ""))
    return path.stem if any("op" in record for record in (first, *rest)) else ""


def own_device(paths: Paths, ledgers: Iterable[Path]) -> str:
    """This device's name among those of `ledgers`, or "" if none of them is surely its own."""
    machine = _machine()
    ours = [path.stem for path in ledgers if record_of(_first_line(path)).get("machine") == machine]
    note = _note(paths, machine)
    noted = _first_line(note).decode("utf-8", "replace").strip()
    if noted in ours:
        return noted
    # Without a note two candidates cannot be told apart, and to write into another's ledger is the worse error.
    if len(ours) != 1:
        return ""
    _write_note(note, ours[0])
    return ours[0]


def create_ledger(paths: Paths) -> str:
    """A new device with a ledger of its own; its name. Raises OSError."""
    device, machine = secrets.token_hex(4), _machine()
    write_private(paths.ledger / f"{device}.jsonl", head_of(device, machine))
    _write_note(_note(paths, machine), device)
    return device


def head_of(device: str, machine: str = "") -> bytes:
    """Line 1 of a device's ledger; a `machine` that is not known makes it nobody's own."""
    return json.dumps({"format": FORMAT, "device": device, "machine": machine}).encode() + b"\n"


def _note(paths: Paths, machine: str) -> Path:
    return paths.run / f"device.{machine}"


def _write_note(note: Path, device: str) -> None:
    # Only needed where ledgers of two directories meet; the name in the ledger itself serves elsewhere.
    with contextlib.suppress(OSError):
        write_private(note, device.encode())


def _first_line(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.readline(1 << 12)
    except OSError:
        return b""


def _machine() -> str:
    """A stable fingerprint of this machine and user, as a hash: the ledger may be synced to other people's disks."""
    parts = [str(getattr(os, "getuid", lambda: 0)())]
    for source in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        with contextlib.suppress(OSError):
            parts.append(Path(source).read_text("utf-8").strip())
            break
    else:
        parts.append(socket.gethostname())
    return hashlib.blake2b("\x1f".join(parts).encode(), digest_size=8).hexdigest()
