"""From the lines of a transcript to messages: who speaks, which lines are one reply, what hangs from what."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from catmem.clients import reasons
from catmem.clients.claude_code import wire
from catmem.clients.claude_code.ahead import PROVISIONAL, Ahead, Queue, same_words
from catmem.clients.claude_code.chain import Chain, in_talk_order
from catmem.clients.claude_code.entry import Entry
from catmem.clients.claude_code.typed import separate
from catmem.clients.claude_code.wire import Record, text_of
from catmem.clients.claude_code.words import words_of
from catmem.clients.lines import Line, shortened
from catmem.clients.own_tools import RECALLED, is_own_tool
from catmem.clients.port import Mark, Problem
from catmem.clients.reasons import Reason
from catmem.domain.clock import parse_instant
from catmem.domain.helper import is_helper_prompt
from catmem.domain.message import Message, Role

# Where several sources name a session, the better one wins: the program's summary, its title, the person's own.
_TITLE_FIELDS = {"summary": ("summary", 1), "ai-title": ("aiTitle", 2), "custom-title": ("customTitle", 3)}
_SILENT_NOTES = ("stop_hook_summary", "turn_duration", "microcompact_boundary", "api_error")
_SAID: tuple[Role, ...] = ("user", "assistant")


class Assembly:
    """Takes the records of one part of a file in; `finish` once, then read what it found."""

    def __init__(
        self, file: str, fallback_time: str, *, reply: str = "", earlier: Callable[[str], str] = lambda uuid: uuid
    ) -> None:
        self.problems: list[Problem] = []
        self.prompts: dict[str, str] = {}
        self.queue = Queue()
        self.cwd = ""
        self.forked = False
        self.records = 0
        self.last_reply = reply
        self.title, self.title_rank = "", 0
        self._file = file
        self._time = fallback_time
        self._chain = Chain(earlier)
        self._entries: list[Entry] = []
        self._ahead: list[Entry] = []
        self._replies: dict[str, Entry] = {}
        self._counted = reply
        self._tools: dict[str, str] = {}
        self._kept_before: dict[str, str] = {}
        self._boundary: tuple[str, str] | None = None
        self._compact_summary = ""
        self._leaf = ""
        self._summary: tuple[str, str] = ("", "")
        self._flags: dict[Reason, list[int]] = {}

    def take(self, record: object, line: Line) -> None:
        """One record of the file."""
        if not isinstance(record, dict):
            self.problems.append(Problem(self._file, line.number, *reasons.NOT_A_RECORD))
            return
        self.records += 1
        kind = wire.kind_of(record)
        if kind in ("user", "assistant", "system", "attachment"):
            if text_of(record.get("uuid")) in self._chain:
                record = self._renamed(record)
                if not record:
                    return
            self.cwd = self.cwd or text_of(record.get("cwd"))
            self.forked = self.forked or record.get("sessionKind") == "bg"
            getattr(self, f"_{kind}")(record, line)
        elif kind == "queue-operation":
            self._queued(record, line)
        elif kind in _TITLE_FIELDS:
            self._titled(record, kind)
        elif kind == "last-prompt":
            self._leaf = text_of(record.get("leafUuid"))
        else:
            self._pass(record)

    def finish(self, *, final: bool) -> list[Message]:
        """The messages in the order of the talk. `final`: words that wait to be sent are said now or never."""
        for ahead in self.queue.unsent() if final else ():
            self._typed_ahead(ahead)
        kept = []
        for entry in self._entries:
            if entry.is_empty:
                self._chain.add(entry.uid, entry.parent)
            else:
                kept.append(entry)
        for entry in kept:
            entry.parent = self._chain.resolve(entry.parent)
        title, leaf = self._summary
        if title and self.title_rank <= 1 and (not leaf or leaf in self._chain):
            self.title, self.title_rank = title, 1
        for reason, (first, count) in self._flags.items():
            self.problems.append(Problem(self._file, first, *reasons.counted(reason, count)))
        self._entries = in_talk_order(kept)
        return [entry.message() for entry in self._entries]

    def marks(self) -> list[Mark]:
        """The leaf of the living branch: what the program named last, unless the talk went on after it."""
        leaf = self._chain.resolve(self._leaf) if self._leaf else ""
        if not leaf:
            said = [e.uid for e in self._entries if e.role in _SAID and not e.uid.startswith(PROVISIONAL)]
            leaf = said[-1] if said else ""
        return [{"mark": "leaf", "uid": leaf}] if leaf else []

    def is_helper(self) -> bool:
        """True if the first thing said is a prompt of catmem itself."""
        first = next((e for e in self._entries if e.role == "user"), None)
        return first is not None and bool(first.parts) and is_helper_prompt(first.parts[0])

    # Lines of the talk

    def _user(self, record: Record, line: Line) -> None:
        blocks = wire.blocks_of(record)
        results = [b for b in blocks if b.get("type") == "tool_result"]
        said, kind, rest = words_of(record, blocks)
        uid = self._uid(record)
        if not uid or not (results or said or rest):
            return self._pass(record)
        speaks = bool(said or rest)
        for number, block in enumerate(results, start=1 if speaks else 0):
            self._result(record, line, block, f"{uid}:{number}" if number else uid)
        if said:
            self._typed(self._entry(record, line, uid, "user", said), text_of(record.get("promptId")))
        elif rest:
            self.queue.met(rest)
            self._entry(record, line, uid, "system", shortened(rest, wire.TOOL_LIMIT), kind)
            self._compact_summary = uid if kind == "summary" else self._compact_summary
        return None

    def _typed(self, entry: Entry, prompt_id: str) -> None:
        """Words of the person with a line of their own: words typed ahead that are the same are these."""
        text = same_words(entry.parts[0])
        self.queue.met(entry.parts[0])
        twin = next((e for e in self._ahead if same_words(e.parts[0]) == text), None)
        if twin:
            self._ahead.remove(twin)
            self._entries.remove(twin)
        if prompt_id:
            self.prompts[entry.uid] = prompt_id
        self._went_on()

    def _result(self, record: Record, line: Line, block: Record, uid: str) -> None:
        call_id = text_of(block.get("tool_use_id"))
        own = is_own_tool(self._tools.get(call_id, ""))
        entry = self._entry(record, line, uid, "tool", RECALLED if own else wire.result_text(block))
        entry.call_id = call_id or "unknown"
        entry.kind = "agent" if entry.side else ""

    def _assistant(self, record: Record, line: Line) -> None:
        uid = self._uid(record)
        if not uid:
            return
        if wire.is_error_text(record):
            text = "\n".join(text_of(b.get("text")) for b in wire.blocks_of(record))
            self._entry(record, line, uid, "system", text, "notice")
            return
        reply_id = text_of(wire.message_of(record).get("id")) or uid
        reply = self._replies.get(reply_id)
        if reply is None:
            role: Role = "system" if wire.is_side_chain(record) else "assistant"
            reply = self._entry(record, line, uid, role, "", "agent" if role == "system" else "")
            self._replies[reply_id] = reply
        else:
            self._chain.add(text_of(record.get("uuid")), reply.uid)
        for block in wire.blocks_of(record):
            self._block(reply, block)
        if reply_id != self._counted:
            reply.usage = wire.usage_of(record) or reply.usage
        if not reply.side:
            self.last_reply = reply_id
            self._went_on()

    def _block(self, reply: Entry, block: Record) -> None:
        kind = block.get("type")
        if kind == "text":
            text = text_of(block.get("text"))
            if text.strip() and text not in reply.parts[-1:]:
                reply.parts.append(text)
        elif kind in ("tool_use", "server_tool_use"):
            call = wire.call_of(block)
            reply.calls[call.id or str(len(reply.calls))] = call
            self._tools[call.id] = call.name
        elif kind in ("image", "document"):
            reply.parts.append(wire.placeholder(block))

    # Lines beside the talk

    def _system(self, record: Record, line: Line) -> None:
        subtype = record.get("subtype")
        if subtype == "compact_boundary":
            return self._compacted(record)
        content = record.get("content")
        text = text_of(content) if isinstance(content, str) else ""
        text = text or "\n".join(text_of(b.get("text")) for b in wire.blocks_of(record))
        uid = self._uid(record)
        if subtype in _SILENT_NOTES or not text.strip() or not uid:
            return self._pass(record)
        said, kind, rest = separate(text)
        if subtype == "local_command" and said.startswith("/"):
            self._typed(self._entry(record, line, uid, "user", said), "")
        elif said or rest:
            self._entry(record, line, uid, "system", shortened(said or rest, wire.TOOL_LIMIT), kind or "notice")
        else:
            self._pass(record)
        return None

    def _compacted(self, record: Record) -> None:
        """A compaction: the chain goes on over it, and messages kept may follow it with their old times."""
        before = text_of(record.get("logicalParentUuid")) or text_of(record.get("parentUuid"))
        self._chain.add(text_of(record.get("uuid")), before)
        self._leaf = ""
        instant = parse_instant(record.get("timestamp"))
        talk = [entry.uid for entry in self._entries if not entry.side]
        self._boundary = (instant[0] if instant else self._time, talk[-1] if talk else "")
        details = record.get("compactMetadata")
        preserved = details.get("preservedMessages") if isinstance(details, dict) else None
        uuids = preserved.get("uuids") if isinstance(preserved, dict) else None
        kept = [u for u in uuids if isinstance(u, str)] if isinstance(uuids, list) else []
        self._kept_before.update(zip(kept[1:], kept, strict=False))

    def _attachment(self, record: Record, line: Line) -> None:
        """Context that the program or a hook adds is not kept; words typed ahead and folded in are."""
        attachment = record.get("attachment")
        if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
            return self._pass(record)
        blocks = wire.blocks_of({"message": {"content": attachment.get("prompt")}})
        said, kind, rest = words_of({**record, "origin": attachment.get("origin")}, blocks)
        uid = self._uid(record)
        if said and attachment.get("commandMode") in (None, "prompt"):
            self._typed(self._entry(record, line, uid, "user", said), "")
        elif said or rest:
            self._entry(record, line, uid, "system", shortened(said or rest, wire.TOOL_LIMIT), kind or "notice")
        else:
            self._pass(record)
        return None

    def _queued(self, record: Record, line: Line) -> None:
        ahead = Ahead(line.start, text_of(record.get("content")), self._instant(record, line))
        said = self.queue.apply(text_of(record.get("operation")), ahead)
        if said:
            self._typed_ahead(said)

    def _typed_ahead(self, ahead: Ahead) -> None:
        words = ahead.words
        met = any(
            e.role == "user" and e.timestamp >= ahead.timestamp and same_words(e.parts[0]) == same_words(words)
            for e in self._entries
        )
        if words and not met:
            self._ahead.append(Entry(ahead.uid, "user", "", ahead.timestamp, parts=[words]))
            self._entries.append(self._ahead[-1])

    def _titled(self, record: Record, kind: str) -> None:
        name, rank = _TITLE_FIELDS[kind]
        value = text_of(record.get(name)).strip()
        if kind == "summary":
            self._summary = (value, text_of(record.get("leafUuid"))) if value else self._summary
        elif value and rank >= self.title_rank:
            self.title, self.title_rank = value, rank

    # What every line has

    def _pass(self, record: Record) -> None:
        self._chain.add(text_of(record.get("uuid")), text_of(record.get("parentUuid")))

    def _renamed(self, record: Record) -> Record:
        """A line whose uuid was met before: {} if it is a copy, else the line under a name of its own."""
        uuid = text_of(record.get("uuid"))
        texts = [text_of(b.get("text")) for b in wire.blocks_of(record) if b.get("type") == "text"]
        words = separate("\n".join(texts))[0]
        entry = next((e for e in self._entries if e.uid == uuid), None)
        if wire.kind_of(record) != "user" or not words or (entry and words in entry.parts):
            return {}
        return {**record, "uuid": f"{uuid}:{hashlib.blake2b(words.encode(), digest_size=4).hexdigest()}"}

    def _went_on(self) -> None:
        self._leaf = ""

    def _uid(self, record: Record) -> str:
        """The line's own id; a message of a version without one is known by what it says."""
        uuid = text_of(record.get("uuid"))
        message = wire.message_of(record)
        if uuid or not message.get("content") or not record.get("timestamp"):
            return uuid
        told = f"{record['timestamp']}\n{message.get('role')}\n{message['content']!r}"
        return "line:" + hashlib.blake2b(told.encode("utf-8", "replace"), digest_size=12).hexdigest()

    def _entry(self, record: Record, line: Line, uid: str, role: Role, text: str, kind: str = "") -> Entry:
        parent = self._kept_before.get(uid) or text_of(record.get("parentUuid"))
        entry = Entry(uid, role, parent, self._instant(record, line), kind, [text] if text else [])
        entry.side = wire.is_side_chain(record)
        after_summary = self._boundary and parent and parent == self._compact_summary
        if self._boundary and after_summary and entry.timestamp < self._boundary[0]:
            # Kept over a compaction without being listed: it follows what stood before, not the summary.
            entry.parent = self._boundary[1]
        self._chain.add(uid, uid)
        self._entries.append(entry)
        return entry

    def _instant(self, record: Record, line: Line) -> str:
        instant = parse_instant(record.get("timestamp"))
        if instant is None:
            self._flag(reasons.NO_TIME, line)
            return self._time
        if not instant[1]:
            self._flag(reasons.NO_ZONE, line)
        self._time = instant[0]
        return instant[0]

    def _flag(self, reason: Reason, line: Line) -> None:
        self._flags.setdefault(reason, [line.number, 0])[1] += 1
