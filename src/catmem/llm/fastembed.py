"""Models of the library `fastembed`, for who wants another one in process: it fetches them from a hub when first asked.

So it is used only where the settings name it, never by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from catmem.llm.one_core import one_core
from catmem.llm.port import Failure, Purpose, Row
from catmem.llm.prefixes import prefixed

if TYPE_CHECKING:
    from fastembed import TextEmbedding

_THREADS = 2


def make_embedder(row: Row, environment: Mapping[str, str]) -> FastEmbed:
    """Raises Failure without the library."""
    try:
        with one_core():
            import fastembed as _  # noqa: F401
    except ImportError as error:
        raise Failure(
            "fastembed is not installed; run `pip install fastembed`, or `mem config set embedder auto`",
            "没有安装 fastembed；请运行 `pip install fastembed`，或 `mem config set embedder auto`",
            remedy="another",
            kind="setup",
        ) from error
    return FastEmbed(row["model"])


class FastEmbed:
    def __init__(self, model: str) -> None:
        self._name = model

    @property
    def model(self) -> str:
        return f"fastembed:{self._name}"

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[list[float]]:
        asked = prefixed(self._name, texts, purpose)
        try:
            vectors = [[float(number) for number in vector] for vector in self._engine.embed(asked)]
        except Failure:
            raise
        except Exception as error:  # What onnxruntime raises has no common kind.
            raise self._failed(error) from error
        if len(vectors) != len(texts) or not all(vector and all(map(math.isfinite, vector)) for vector in vectors):
            raise self._failed(ValueError("no vector for each text"))
        return vectors

    @cached_property
    def _engine(self) -> TextEmbedding:
        from fastembed import TextEmbedding

        try:
            return TextEmbedding(model_name=self._name, threads=_THREADS)
        except Exception as error:  # An unknown name, a hub that is out of reach, a disk that is full.
            raise Failure(
                f"fastembed cannot load {self._name} ({error}); it comes from a hub: check the name and the network, or "
                "`mem config set embedder auto`",
                f"fastembed 无法加载 {self._name}（{error}）；模型需从网络下载，请检查名称和网络，或 "
                "`mem config set embedder auto`",
                remedy="later",
                kind="setup",
                rest=300.0,
            ) from error

    def _failed(self, error: Exception) -> Failure:
        return Failure(
            f"fastembed failed with {self._name} ({error}); try again, or `mem config set embedder auto`",
            f"fastembed 使用 {self._name} 时失败（{error}）；请重试，或 `mem config set embedder auto`",
            remedy="later",
            rest=30.0,
        )
