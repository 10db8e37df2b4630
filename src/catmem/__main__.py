"""The entry of `mem`. A hook goes its own short way, before any command-line library is imported."""

from __future__ import annotations

import sys


def main() -> None:
    if sys.argv[1:2] == ["hook"]:
        _hook()
    from catmem.cli.app import main as run

    sys.exit(run())


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
