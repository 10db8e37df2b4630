"""`mem eval retrieval SET`: for who works on catmem, or wants to know how well it finds their own texts."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import click

from catmem.cli.output import Session, mem_command, mem_group
from catmem.cli.usage import Group
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.recall.trial import DEPTH, Document, measure, read_set
from catmem.wiring import Catmem

_PROJECT = "eval"
_TIMELESS = "1970-01-01T00:00:00.000Z"

command = mem_group("eval", Group, "Measure how well things are found.", "衡量检索的效果。")


@mem_command(
    "retrieval",
    "Find the answers of a set of questions, in a memory of its own.",
    "在一个独立的记忆库中检索一组问题的答案。",
)
@click.argument("path", metavar="SET.jsonl", type=click.Path(path_type=Path))
def retrieval(session: Session, path: Path) -> None:
    documents, questions = read_set(path)
    with tempfile.TemporaryDirectory(prefix="catmem-eval-") as folder:
        catmem = Catmem(Path(folder), session.catmem.clock)
        # Every question is asked to the end: what is cut off as irrelevant says nothing about the order.
        catmem.settings = replace(session.catmem.settings, semantic_match_threshold=0.0)
        _take_in(catmem, documents)
        modes: set[str] = set()

        def search(query: str) -> list[tuple[str, float]]:
            found = catmem.recaller.recall(query, project=_PROJECT, limit=DEPTH)
            modes.add(found["mode"])
            return [(documents[int(item["session"])].id, item["score"]) for item in found["items"]]

        scores = measure(documents, questions, search)
    mode = "+".join(sorted(modes))
    session.result({"mode": mode, **scores})
    if session.as_json:
        return
    counts = scores["documents"], scores["questions"], scores["unanswerable"]
    session.say(
        "{} documents, {} questions, {} of them without an answer; found by {}".format(*counts, mode),
        "文档 {} 篇，问题 {} 个，其中 {} 个没有答案；检索方式 {}".format(*counts, mode),
    )
    auroc = "-" if scores["auroc"] is None else f"{scores['auroc']:.1f}"
    line = f"hit@1 {scores['hit_at_1']:.1f}  hit@10 {scores['hit_at_10']:.1f}  NDCG@10 {scores['ndcg_at_10']:.1f}  AUROC {auroc}"
    session.say(line, line)


def _take_in(catmem: Catmem, documents: list[Document]) -> None:
    """Each document as a session of one message, named by its place."""
    for number, document in enumerate(documents):
        ref = SessionRef(_PROJECT, str(number))
        message = Message("user", document.text, document.time or _TIMELESS, f"d{number}")
        catmem.history.append(ref, [message])
    catmem.index.catch_up(catmem.store, catmem.history)


command.add_command(retrieval)
