"""One of the two tantivy indexes: its schema, how documents get in and out, and how a text leaves no trace in it."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import tantivy

from catmem.domain.errors import CatmemError
from catmem.index import layout
from catmem.index.documents import Record, fields_of, id_term
from catmem.index.failures import translate
from catmem.index.pages import given_back
from catmem.index.segments import missing, smallest
from catmem.index.stored import unpack
from catmem.index.terms import holding
from catmem.settings.paths import DIRECTORY_MODE, FILE_MODE
from catmem.text.tokens import query_tokens

# A segment is written when it is full. Two parts are written at once; with four times as much the index is made 5 %
# faster. One thread: tokenising is the slow part.
_HEAP_BYTES = 16_000_000
_WORDS = {layout.BODY: "freq", layout.PAST: "freq", layout.ONCE: "basic"}
"""The fields that a text is found by, and what is kept of a token there: how often, or that it is there."""


class PartWriter:
    """Open between `with part.writing()` and its end, which commits."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def replace(self, id: str, records: Iterable[Record]) -> None:
        """Puts in the documents of an id in place of those that it had."""
        self.remove(id)
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        self._writer.add_document(tantivy.Document(**fields_of(record)))

    def remove(self, id: str) -> None:
        self._writer.delete_documents_by_term(layout.ID, id)

    def remove_session(self, term: str) -> None:
        self._writer.delete_documents_by_term(layout.SESSION, term)

    def commit(self) -> None:
        self._writer.commit()

    def abandon(self) -> None:
        """Drops what was not committed and gives the lock back."""
        with contextlib.suppress(Exception):
            self._writer.rollback()
            self._writer.wait_merging_threads()

    def finish(self) -> None:
        """Commits, drops the files that nothing refers to any more, and lets merges end."""
        self._writer.commit()
        self._writer.garbage_collect_files()
        self._writer.wait_merging_threads()


class Part:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def exists(self) -> bool:
        return (self._folder / "meta.json").is_file()

    def clear(self) -> None:
        if self._folder.is_dir():
            shutil.rmtree(self._folder)

    @contextlib.contextmanager
    def writing(self) -> Iterator[PartWriter]:
        """A writer; what came in since its last commit is dropped if the block fails. Raises DataDamaged, LockBusy."""
        with _translated(), given_back(self._folder):
            writer = PartWriter(self._index().writer(heap_size=_HEAP_BYTES, num_threads=1))
            try:
                yield writer
            except BaseException:
                writer.abandon()
                raise
            writer.finish()
            small = smallest([segment["max_doc"] for segment in self._segments()])
            if wanted := missing(small):
                self._gather(wanted, most=small[0])
        self._make_private()

    def _gather(self, wanted: int, most: int) -> None:
        """Has the segments of at most so many documents merged, by writing some of these anew, each a segment of its own."""
        index = tantivy.Index.open(str(self._folder))
        searcher = index.searcher()
        writer = PartWriter(self._index().writer(heap_size=_HEAP_BYTES, num_threads=1))
        for id, documents in islice(_of_small_segments(self._folder.name, index, searcher, most), wanted):
            writer.replace(id, list(_records(searcher, documents)))
            writer.commit()
        writer.finish()

    def scrub(self, ids: Collection[str], phrases: Collection[str] = ()) -> int:
        """Removes the documents of `ids`, cuts `phrases` out of the others, and leaves no byte of them in the files.

        Tantivy only marks a document as deleted until its segment is merged, and a merge cannot be asked for. So the
        living documents of each segment concerned are written anew; a segment without any is dropped whole.
        Returns how many documents went or changed.
        """
        if not self.exists():
            return 0
        with _translated():
            # Opened apart from the writer's, which keeps the files of every reader that it knows of.
            index = tantivy.Index.open(str(self._folder))
            searcher = index.searcher()
            held = {address.segment_ord for address in _holders(self._folder.name, index, searcher, ids, phrases)}
            # A dead document of a segment may be an earlier form of what is to go.
            everything = self._has_dead()
            if not held and not everything:
                return 0
            living = searcher.search(tantivy.Query.all_query(), max(searcher.num_docs, 1), count=False).hits
            concerned = [address for _, address in living if everything or address.segment_ord in held]
            with self.writing() as writer:
                return _write_anew(writer, searcher, concerned, ids, phrases)

    def texts_of(self, ids: Collection[str]) -> list[str]:
        """What the living documents of `ids` say."""
        if not self.exists() or not ids:
            return []
        with _translated():
            index = tantivy.Index.open(str(self._folder))
            searcher = index.searcher()
            return [
                record["text"] for record in _records(searcher, _holders(self._folder.name, index, searcher, ids, ()))
            ]

    def _has_dead(self) -> bool:
        return any(segment["deletes"] for segment in self._segments())

    def _segments(self) -> list[dict[str, Any]]:
        segments: list[dict[str, Any]] = json.loads((self._folder / "meta.json").read_bytes())["segments"]
        return segments

    def _index(self) -> Any:
        if self.exists():
            return tantivy.Index.open(str(self._folder))
        self._folder.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        tantivy.Index(_schema(), str(self._folder))
        _keep_no_lengths(self._folder)
        return tantivy.Index.open(str(self._folder))

    def _make_private(self) -> None:
        """Tantivy gives its files the mode of the process; the folder is private, the files shall be too."""
        for file in self._folder.iterdir():
            with contextlib.suppress(FileNotFoundError):
                file.chmod(FILE_MODE)


def _holders(part: str, index: Any, searcher: Any, ids: Collection[str], phrases: Collection[str]) -> list[Any]:
    """The addresses of the documents that have one of the ids or may hold one of the phrases."""
    query, should, must = tantivy.Query, tantivy.Occur.Should, tantivy.Occur.Must
    wanted = [(should, query.term_query(index.schema, layout.ID, id, "basic")) for id in ids]
    for phrase in phrases:
        words = [(must, holding(index.schema, searcher, part, token)) for token in set(query_tokens(phrase))]
        if words:
            wanted.append((should, query.boolean_query(words)))
    if not wanted:
        return []
    hits = searcher.search(query.boolean_query(wanted), max(searcher.num_docs, 1), count=False).hits
    return [address for _, address in hits]


def _of_small_segments(part: str, index: Any, searcher: Any, most: int) -> Iterator[tuple[str, list[Any]]]:
    """Ids with the addresses of their documents, all of which are in segments of at most `most` documents."""
    small = [n for n in range(searcher.num_segments) if not _has_document(searcher, n, most)]
    known = set()
    for segment in small:
        for number in itertools.takewhile(functools.partial(_has_document, searcher, segment), itertools.count()):
            (record,) = _records(searcher, [tantivy.DocAddress(segment, number)])
            if (id := id_term(record)) not in known:
                known.add(id)
                living = _holders(part, index, searcher, [id], ())
                if living and all(address.segment_ord in small for address in living):
                    yield id, living


def _has_document(searcher: Any, segment: int, number: int) -> bool:
    try:
        searcher.doc(tantivy.DocAddress(segment, number))
    except ValueError:
        return False
    return True


def _write_anew(
    writer: PartWriter, searcher: Any, addresses: list[Any], ids: Collection[str], phrases: Collection[str]
) -> int:
    # All removals first: a removal also hits what was added before it, and one id may have several documents.
    for record in _records(searcher, addresses):
        writer.remove(id_term(record))
    changed = 0
    for record in _records(searcher, addresses):
        text = record["text"]
        for phrase in phrases:
            text = without_phrase(text, phrase)
        if record["id"] in ids or not text.strip():
            changed += 1
            continue
        changed += text != record["text"]
        writer.add({**record, "text": text})
    return changed


def _records(searcher: Any, addresses: list[Any]) -> Iterator[Record]:
    for address in addresses:
        yield unpack(searcher.doc(address).get_first(layout.RECORD))


def without_phrase(text: str, phrase: str) -> str:
    """`text` without a phrase, however its letters are cased and its words spaced."""
    words = [re.escape(word) for word in phrase.split()]
    return re.sub(r"\s+".join(words), "", text, flags=re.IGNORECASE) if words else text


def _schema() -> Any:
    builder = tantivy.SchemaBuilder()
    for name in (layout.ID, layout.SESSION, layout.HOME, layout.KIND, layout.STANDING):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name, option in _WORDS.items():
        builder.add_text_field(name, tokenizer_name="whitespace", index_option=option)
    for name in (layout.AT, layout.NEWEST):
        builder.add_integer_field(name, fast=True)
    builder.add_integer_field(layout.KEY, fast=True)
    builder.add_integer_field(layout.SHELF, indexed=True)
    builder.add_bytes_field(layout.RECORD, stored=True)
    return builder.build()


def _keep_no_lengths(folder: Path) -> None:
    """Of an index without documents: filters need no lengths of texts, a byte a document each. No builder says that."""
    file = folder / "meta.json"
    meta = json.loads(file.read_bytes())
    for field in meta["schema"]:
        if "indexing" in field["options"] and field["name"] not in _WORDS:
            field["options"]["indexing"]["fieldnorms"] = False
    file.write_text(json.dumps(meta), encoding="utf-8")


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except CatmemError:
        raise
    except BaseException as error:
        translate(error)
