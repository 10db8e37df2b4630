"""The entry of `mem`. A hook and an MCP server go their own short ways, before any command-line library is imported."""

from __future__ import annotations

import sys


def main() -> None:
    _occupy_standard_streams()
    if sys.argv[1:2] == ["hook"]:
        _hook()
    try:
        if sys.argv[1:2] == ["mcp"]:
            _mcp()
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


def _mcp() -> None:
    """Serves if that is all that is asked; returns where the command line must explain something."""
    from catmem.cli.serving import plain_options, start

    options = plain_options(sys.argv[2:])
    if options is not None:
        start(**options)


if __name__ == "__main__":
    main()
