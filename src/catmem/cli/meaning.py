"""How far finding by meaning has come: for `mem status`, and what is wrong with it: for `mem doctor`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from catmem.cli.output import Session
from catmem.domain.errors import CatmemError
from catmem.wiring import Catmem


def meaning_of(catmem: Catmem) -> dict[str, Any]:
    """`model` is None where recall goes by words alone; `done` of `wanted` documents have vectors."""
    embedder = catmem.embedder
    if embedder is None:
        return {"model": None, "done": 0, "wanted": 0}
    found = catmem.vectors.coverage(embedder)
    return {"model": embedder.model, "done": found.done, "wanted": found.wanted}


def trouble_of(catmem: Catmem, *, ask: bool) -> tuple[str, str] | None:
    """Why there is no finding by meaning although it is configured; `ask` tries the embedder, too."""
    embedder = catmem.embedder
    if embedder is None:
        return None
    if find_spec("numpy") is None:
        return (
            "finding by meaning needs numpy; run `pip install 'catmem[semantic]'`, or `mem config set embedder none`",
            "按语义检索需要 numpy；请运行 `pip install 'catmem[semantic]'`，或 `mem config set embedder none`",
        )
    try:
        if ask or not embedder.model:
            embedder.embed(["."], "query")
    except CatmemError as error:
        return error.en, error.zh
    found = catmem.vectors.coverage(embedder)
    return (found.trouble[0], found.trouble[1]) if found.trouble and not ask else None


def print_meaning(session: Session, meaning: dict[str, Any]) -> None:
    model, done, wanted = meaning["model"], meaning["done"], meaning["wanted"]
    if model is None:
        session.say(
            "found by: words (`pip install 'catmem[semantic]'` adds meaning)",
            "检索方式：关键词（`pip install 'catmem[semantic]'` 可增加语义）",
        )
    elif done < wanted:
        session.say(
            f"found by: words, and meaning where there are vectors ({model}: {done} of {wanted}); `mem work` makes the rest",
            f"检索方式：关键词，已有向量的再加语义（{model}：{wanted} 条中的 {done} 条）；用 `mem work` 补齐",
        )
    else:
        session.say(f"found by: words and meaning ({model}: {done})", f"检索方式：关键词与语义（{model}：{done} 条）")
