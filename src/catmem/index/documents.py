"""What the index keeps of a memory and of a message, as plain dictionaries of fields."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Set
from itertools import islice
from typing import Any, TypeAlias

from catmem.domain.clock import seconds_of
from catmem.domain.memory import SCOPES, Memory, Revision, memory_id, normal, statement_hash
from catmem.domain.message import Message, ToolCall, is_said
from catmem.domain.session import SessionHeader, SessionRef
from catmem.index import layout
from catmem.index.stored import pack
from catmem.text.sense import sense_of
from catmem.text.tokens import passage_tokens, tokens

Record: TypeAlias = dict[str, Any]
"""The stored JSON of a document: the fields of a result of design 11, and what ranking needs."""
Fields: TypeAlias = dict[str, Any]

# A longer message (a pasted log) becomes several passages: a result is read by people, and BM25 favours short texts.
PASSAGE_LENGTH = 4000
# Of one message: what is pasted beyond 64,000 characters is data, and would make the index as large as the sessions.
MOST_PASSAGES = 16
# Of what a tool gave back the beginning tells what it was: 32,000 characters.
MOST_OUTPUTS = 8

# Subjects that stand for "nothing in particular"; to find by them would be to find everything.
_PLAIN_SUBJECTS = frozenset({"user", "project", "用户", "项目"})


def memory_records(memory: Memory) -> list[Record]:
    """The present statement of a memory, and each one that it superseded. A forgotten memory has none."""
    if memory.now.status == "forgotten":
        return []
    records = [_memory_record(memory, memory.now, memory.now.status)]
    seen = {memory.now.text}
    for revision in reversed(memory.revisions[:-1]):
        if revision.text and revision.text not in seen:
            seen.add(revision.text)
            records.append(_memory_record(memory, revision, "superseded"))
    return records


def _memory_record(memory: Memory, revision: Revision, status: str) -> Record:
    said = [evidence.at for evidence in revision.evidence] or [memory.updated_at]
    newest = max(revision.evidence, default=None)
    instants = sorted({*_instants([*said, revision.valid_from])})
    return {
        "type": "memory",
        "id": memory.id,
        "text": revision.text,
        "kind": revision.kind,
        "scope": revision.scope,
        "project": memory.project,
        "session": newest.session if newest else "",
        "message_id": newest.message_id if newest else 0,
        "at": max(said),
        "instants": instants,
        "confirmations": revision.confirmations,
        "pinned": revision.pinned,
        "status": status,
        "successor": memory.superseded_by or memory.id,
        "words": " ".join(_memory_words(revision)),
        "sense": sense_of(revision.text),
        **_slot(memory, revision),
        **({"from": revision.valid_from, "to": revision.valid_to} if status == "superseded" else {}),
        # Only where it matters: nobody but a model says what an assistant has noted.
        **({"by": revision.by} if revision.by == "assistant" else {}),
    }


def _slot(memory: Memory, revision: Revision) -> dict[str, str]:
    """What a statement is the one answer to, where it is one: a project and the profile may each have one in force."""
    own = (revision.subject, revision.predicate)
    if all(memory.id != memory_id(scope, memory.project, *own) for scope in SCOPES):
        return {}
    return {"slot": "\x1f".join(map(normal, own))}


def _memory_words(revision: Revision) -> list[str]:
    """The tokens of the text, those of its triple once more: what is known of what weighs more than what is said beside.

    Those of tags are added where text and triple lack them.
    """
    words = tokens(revision.text)
    if revision.object != revision.text:  # a whole sentence is no object
        words += tokens(revision.object)
    if revision.subject not in _PLAIN_SUBJECTS:
        words += tokens(revision.subject)
    known = set(words)
    return words + [token for token in tokens(" \n ".join(revision.tags)) if token not in known]


def passage_records(ref: SessionRef, message: Message, forgotten: Set[str] = frozenset()) -> Iterator[Record]:
    """The passages of a message: one, or several if it is long. Sentences that the user had forgotten are left out."""
    if is_said(message):
        text = without_forgotten(message.content, forgotten)
        yield from _passages(ref, message, message.role, _pieces(text), MOST_PASSAGES)


def output_records(ref: SessionRef, message: Message, forgotten: Set[str] = frozenset()) -> Iterator[Record]:
    """The passages of what a message gave to tools, or brought back from one; bounded as a whole."""
    texts = [message.content] if message.role == "tool" else [_call_text(call) for call in message.tool_calls]
    pieces = (piece for text in texts for piece in _pieces(text))
    bounded = islice(pieces, MOST_OUTPUTS)
    kept = (without_forgotten(piece, forgotten) for piece in bounded)
    yield from _passages(ref, message, "tool", filter(str.strip, kept), MOST_OUTPUTS)


def title_record(header: SessionHeader, forgotten: Set[str] = frozenset()) -> Record:
    """The title of a session, for who remembers no more of it; it stands for the session's beginning."""
    title = without_forgotten(header.title, forgotten)
    (record,) = _passages(header.ref, _beginning(header), "title", iter([title]), 1)
    return {**record, "id": f"{header.key}#title"}


def _beginning(header: SessionHeader) -> Message:
    return Message("system", "", header.created_at, "", 1, header.key)


def _call_text(call: ToolCall) -> str:
    """The name and arguments of a call as a person reads them: without the quotes and escapes of JSON."""
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        arguments = call.arguments
    if not isinstance(arguments, dict):
        return f"{call.name}\n{call.arguments}"
    lines = (f"{n}: {v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)}" for n, v in arguments.items())
    return "\n".join([call.name, *lines])


def _passages(ref: SessionRef, message: Message, kind: str, pieces: Iterator[str], most: int) -> Iterator[Record]:
    for number, piece in enumerate(islice(pieces, most)):
        yield {
            "type": "passage",
            "id": f"{ref.key}#{message.id}" + (f".{number}" if number else ""),
            "text": piece,
            "kind": kind,
            "scope": "project",
            "project": ref.project,
            "session": ref.key,
            "message_id": message.id,
            "at": message.timestamp,
            "instants": list(_instants([message.timestamp])),
        }


def fields_of(record: Record) -> Fields:
    """The fields of the document of a record; the record alone is enough to make its document again."""
    status = record.get("status", "live")
    instants = record["instants"] or [0]
    key = key_of(record)
    return {
        layout.ID: id_term(record),
        layout.SESSION: session_term(record["project"], record["session"]),
        layout.HOME: "" if record["scope"] == "global" else record["project"],
        layout.KIND: record["kind"],
        layout.AT: instants,
        layout.NEWEST: max(instants),
        layout.STANDING: [status, "pinned"] if record.get("pinned") else [status],
        **(_memory_text(record, status) if record["type"] == "memory" else _passage_text(record)),
        layout.KEY: key,
        layout.SHELF: layout.shelf_of(key),
        layout.RECORD: pack(record),
    }


def _memory_text(record: Record, status: str) -> Fields:
    return {layout.PAST if status == "superseded" else layout.BODY: record["words"]}


def _passage_text(record: Record) -> Fields:
    """Each word of an output once: a log says the same a thousand times, and making tokens is what indexing costs."""
    text = " ".join(dict.fromkeys(record["text"].split())) if record["kind"] == "tool" else record["text"]
    body, once = passage_tokens(text)
    return {layout.BODY: " ".join(body), layout.ONCE: " ".join(once)}


def id_term(record: Record) -> str:
    """What names the document: ids of memories are unique, those of passages within their project."""
    return str(record["id"]) if record["type"] == "memory" else f"{record['project']}\x1f{record['id']}"


def key_of(record: Record) -> int:
    """Names the document together with what it says, so that whatever was derived of another text is not taken for its."""
    return hash_of(f"{id_term(record)}\x1f{record['text']}")


def hash_of(text: str) -> int:
    """63 bits: what an integer of the index holds. Of a million texts two are alike once in ten million times."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()) >> 1


def session_term(project: str, session: str) -> str:
    return f"{project}\x1f{session}"


def without_forgotten(text: str, forgotten: Set[str]) -> str:
    """`text` without each sentence, or part of one between commas, whose hash is that of a forgotten statement."""
    if not forgotten:
        return text
    return "".join(_without_forgotten_parts(sentence, forgotten) for sentence in _split(text, _SENTENCE_ENDS))


# A memory is the part of a sentence that carries the fact; from so many parts on it is a list and no statement.
_MOST_PARTS = 8
_SENTENCE_ENDS = frozenset("\n。！？!?；;")
_PART_ENDS = frozenset(",，:：")


def _without_forgotten_parts(sentence: str, forgotten: Set[str]) -> str:
    parts = list(_split(sentence, _PART_ENDS))
    for length in range(min(len(parts), _MOST_PARTS), 0, -1):
        for start in range(len(parts) - length + 1):
            if statement_hash("".join(parts[start : start + length])) in forgotten:
                parts[start : start + length] = [""] * length
    return "".join(parts)


def _split(text: str, ends: Set[str]) -> Iterator[str]:
    start = 0
    for position, character in enumerate(text):
        closes = character in ends or (character == "." and text[position + 1 : position + 2] in ("", " ", "\n"))
        if closes:
            yield text[start : position + 1]
            start = position + 1
    if start < len(text):
        yield text[start:]


def _pieces(text: str) -> Iterator[str]:
    """Cuts at line ends where it can, else at blanks, else anywhere."""
    start = 0
    while len(text) - start > PASSAGE_LENGTH:
        end = start + PASSAGE_LENGTH
        cut = max(text.rfind("\n", start + PASSAGE_LENGTH // 2, end), -1)
        cut = cut if cut > 0 else text.rfind(" ", start + PASSAGE_LENGTH // 2, end)
        end = cut + 1 if cut > 0 else end
        yield text[start:end]
        start = end
    if text[start:].strip():
        yield text[start:]


def _instants(stamps: Iterable[str]) -> Iterator[int]:
    for stamp in stamps:
        try:
            yield round(seconds_of(stamp) * 1000)
        except ValueError:
            # A memory of an import may lack a time; it then is met by no search for a time.
            continue
