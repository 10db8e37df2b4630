"""The entry of `mem`. A hook goes its own short way, before any command-line library is imported."""

from __future__ import annotations

import sys


def main() -> None:
    _occupy_standard_streams()
    if sys.argv[1:2] == ["hook"]:
        _hook()
    try:
        from catmem.cli.app import main as run

        code = run()
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def _occupy_standard_streams() -> None:
    """A stream that was closed before we began is nowhere, so that no file of ours gets its number and our output."""
    import os

    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8"))  # noqa: SIM115


def _hook() -> None:
    """Whatever is broken, even in our own installation, the host must not notice: exit 0."""
    import os

    try:
        from catmem.inject.hook import run

        run(sys.argv[2:])
    except BaseException:
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
