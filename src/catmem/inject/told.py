"""What each session has been told, by which door, when and why: one file a session, appended to (hot path).

The first brief of a session stands there word for word, so that every request of it, by whichever door, repeats the
same bytes; no prompt is told again what stands there; and `mem why` shows all of it.
"""

from __future__ import annotations

import json
import os

from catmem.sessions.names import ENDING, file_name
from catmem.settings.places import DIRECTORY_MODE, FILE_MODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from catmem.settings.paths import Paths
    from catmem.settings.places import Places

BRIEF, AGAIN, PROMPT, RECALL = "brief", "again", "prompt", "recall"
"""What a record tells of: the frozen brief, its repetition, what stood beside a prompt, what was asked for."""


def told(places: Places | Paths, session: str) -> dict[str, Any] | None:
    """{"text": the frozen brief, "door": who told it, "items": every id that the session has been shown}.

    None for a session that was told no brief yet, "items" of other records notwithstanding; see `shown`.
    """
    records = records_of(places, session)
    brief = next((record for record in reversed(records) if record["event"] == BRIEF), None)
    if brief is None:
        return None
    return {"text": brief["text"], "door": brief["door"], "items": _ids(records)}


def shown(places: Places | Paths, session: str) -> list[str]:
    """Every id that a session has been shown, whatever the occasion."""
    return _ids(records_of(places, session))


def tell(
    places: Places | Paths,
    session: str,
    *,
    door: str,
    event: str,
    project: str,
    at: str,
    text: str = "",
    items: Sequence[Mapping[str, Any]] = (),
    query: str = "",
) -> None:
    """Appends what a session is told now. `items` are {"id", "section", "matched"}, as Brief.reasons has them.

    A record that cannot be kept costs a repetition, nothing else: a disk that refuses is no reason to tell nothing.
    """
    record: dict[str, Any] = {"at": at, "session": session, "door": door, "event": event, "project": project}
    if query:
        record["query"] = query
    record["items"] = list(items)
    record["text"] = text
    path = _path(places, session)
    try:
        os.makedirs(os.path.dirname(path), mode=DIRECTORY_MODE, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, FILE_MODE)
        try:
            # With its newline before it, too: what a killed writer left cut off costs no second record.
            line = json.dumps(record, ensure_ascii=False)
            os.write(descriptor, f"\n{line}\n".encode("utf-8", "surrogatepass"))
        finally:
            os.close(descriptor)
    except OSError:
        return


def records_of(places: Places | Paths, session: str) -> list[dict[str, Any]]:
    """All that a session was told, the oldest first; [] if nothing."""
    return _records(_path(places, session))


def sessions_told(places: Places | Paths) -> list[str]:
    """The keys of the sessions that were told anything, the one told last at the end."""
    folder = str(places.told)
    try:
        names = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(ENDING)]
        names.sort(key=os.path.getmtime)
    except OSError:
        return []
    return [records[-1]["session"] for records in map(_records, names) if records]


def forget(places: Places | Paths, ids: Iterable[str], holds: Callable[[str], bool] = lambda text: False) -> None:
    """Takes the records that told any of these memories or messages out of every file, and those with a text that
    `holds` finds: they have the words. Raises OSError.

    A session whose brief goes with them is told what is known by then, if it must be told again.
    """
    wanted = set(ids)
    folder = str(places.told)
    if not os.path.isdir(folder):
        return
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        records = _records(path)
        kept = [record for record in records if not (_tells(record, wanted) or _any_text(record, holds))]
        if len(kept) < len(records):
            _rewrite(path, kept)


def _tells(record: Mapping[str, Any], ids: set[str]) -> bool:
    """A passage is a piece of a message, `key#12.3`, and counts as the message."""
    shown = _ids([record])
    return not ids.isdisjoint(shown) or not ids.isdisjoint(id.rpartition(".")[0] for id in shown)


def _any_text(record: Mapping[str, Any], holds: Callable[[str], bool]) -> bool:
    return any(holds(text) for text in (record["text"], record.get("query")) if isinstance(text, str))


def _rewrite(path: str, records: list[dict[str, Any]]) -> None:
    if not records:
        os.unlink(path)
        return
    temporary = f"{path}.{os.getpid()}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
    with open(descriptor, "w", encoding="utf-8", errors="surrogatepass") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    os.replace(temporary, path)


def _path(places: Places | Paths, session: str) -> str:
    return os.path.join(str(places.told), file_name(session) + ENDING)


def _records(path: str) -> list[dict[str, Any]]:
    """The sound records of a file; one that was cut off is none."""
    found = []
    try:
        with open(path, "rb") as file:
            for line in file:
                record = _read(line)
                if record is not None:
                    found.append(record)
    except OSError:
        return []
    return found


def _read(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line.decode("utf-8", "surrogatepass"))
    except ValueError:
        return None
    if not isinstance(record, dict) or not isinstance(record.get("items"), list):
        return None
    texts = ("at", "session", "door", "event", "project", "text")
    return record if all(isinstance(record.get(name), str) for name in texts) else None


def _ids(records: Iterable[Mapping[str, Any]]) -> list[str]:
    return [item["id"] for record in records for item in record["items"] if isinstance(item, dict) and "id" in item]
