#!/usr/bin/env bash
# provide.sh NAME...: fetch a program that is not ours into .cache, once.
#
#   uv           installs this project from uv.lock. Without it nothing goes on: exit 1 and what to do.
#   claude-code  the assistant that tests/real runs. Where it cannot be had, the reason goes to .cache/missing/NAME,
#                and the tests that need it are skipped by that name.
#
# As root on Debian, missing system packages come from apt; otherwise the message names them.
set -euo pipefail
cd "$(dirname "$0")/.."
cache=$PWD/.cache
mkdir -p "$cache/bin" "$cache/missing"

CLAUDE_CODE_VERSION=2.1.197

# apt PACKAGE...: true if they could be installed.
apt() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    echo "installing $* with apt" >&2
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -qq -y --no-install-recommends "$@" >/dev/null 2>&1 && return
    apt-get update -qq >/dev/null && apt-get install -qq -y --no-install-recommends "$@" >/dev/null
}

# The newest usable Python by name; "" if there is none.
python_of_this_machine() {
    local name
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$name"
            return
        fi
    done
}

provide_uv() {
    if command -v uv >/dev/null && uv --version >/dev/null 2>&1; then
        ln -sf "$(command -v uv)" "$cache/bin/uv"
        return
    fi
    local python
    python=$(python_of_this_machine)
    if [ -z "$python" ]; then
        apt python3 python3-venv || true
        python=$(python_of_this_machine)
    fi
    [ -n "$python" ] || stop "Python 3.11 or newer is needed (Debian: apt-get install python3 python3-venv)"
    if ! "$python" -c 'import ensurepip' 2>/dev/null; then
        apt python3-venv || stop "the venv module of $python is missing (Debian: apt-get install python3-venv)"
    fi
    "$python" -m venv "$cache/uv" || stop "$python could not make a virtual environment; see above"
    "$cache/uv/bin/pip" install --quiet uv || stop "uv could not be fetched from PyPI; see above. Or install uv yourself (https://docs.astral.sh/uv) and try again"
    ln -sf "$cache/uv/bin/uv" "$cache/bin/uv"
}

provide_claude-code() {
    local folder=$cache/clients/claude-code
    local program=$folder/claude
    [ -x "$program" ] && [ "$(cat "$folder/version" 2>/dev/null)" = "$CLAUDE_CODE_VERSION" ] && return
    if ! command -v npm >/dev/null; then
        apt nodejs npm || missing "npm is missing (Debian: apt-get install nodejs npm)" || return
    fi
    mkdir -p "$folder"
    echo "fetching Claude Code $CLAUDE_CODE_VERSION from npm" >&2
    npm install --prefix "$folder" --no-audit --no-fund --loglevel=error --fetch-retries=2 \
        "@anthropic-ai/claude-code@$CLAUDE_CODE_VERSION" >&2 || missing "npm could not install it" || return
    # The package links the program of this platform into place only if npm may run its install script.
    local candidate
    for candidate in "$folder"/node_modules/.bin/claude "$folder"/node_modules/@anthropic-ai/claude-code-*/claude; do
        if HOME=$folder DISABLE_AUTOUPDATER=1 "$candidate" --version >/dev/null 2>&1; then
            ln -sf "$candidate" "$program"
            echo "$CLAUDE_CODE_VERSION" >"$folder/version"
            return
        fi
    done
    missing "it was installed, but does not start on this machine"
}

# missing REASON: note why the program cannot be had.
missing() {
    echo "$1" >"$cache/missing/$name"
    echo "$name: $1" >&2
    return 1
}

stop() {
    echo "catmem: $1" >&2
    exit 1
}

for name in "$@"; do
    declare -F "provide_$name" >/dev/null || stop "tools/provide.sh does not know $name"
    if "provide_$name"; then
        rm -f "$cache/missing/$name"
    fi
done
