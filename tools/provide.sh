#!/usr/bin/env bash
# provide.sh NAME...: fetch a program that is not ours into .cache, once.
#
#   uv           installs this project from uv.lock. Without it nothing goes on: exit 1 and what to do.
#   claude-code  the assistants that tests/real runs, from npm. Where one cannot be had, the reason goes to
#   codex        .cache/missing/NAME, and the tests that need it are skipped by that name.
#   gemini
#   opencode
#
# As root on Debian, missing system packages come from apt; otherwise the message names them.
set -euo pipefail
cd "$(dirname "$0")/.."
cache=$PWD/.cache
mkdir -p "$cache/bin" "$cache/missing"

CLAUDE_CODE_VERSION=2.1.197
CODEX_VERSION=0.171.0
GEMINI_VERSION=0.61.0
OPENCODE_VERSION=1.18.33

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

# from_npm COMMAND VERSION [--scripts] PACKAGE... -- PROGRAM...: installs the packages into .cache/clients/NAME and links
# the first of the programs (paths in node_modules) that starts to .cache/clients/NAME/COMMAND.
from_npm() {
    local folder=$cache/clients/$name version=$2 scripts=--ignore-scripts packages=()
    local program=$folder/$1 candidate
    shift 2
    [ -x "$program" ] && [ "$(cat "$folder/version" 2>/dev/null)" = "$version" ] && return
    if ! command -v npm >/dev/null; then
        apt nodejs npm || missing "npm is missing (Debian: apt-get install nodejs npm)" || return
    fi
    while [ "$1" != -- ]; do
        if [ "$1" = --scripts ]; then scripts=; else packages+=("$1@$version"); fi
        shift
    done
    shift
    mkdir -p "$folder"
    echo "fetching $name $version from npm" >&2
    npm install --prefix "$folder" $scripts --no-audit --no-fund --loglevel=error --fetch-retries=2 \
        "${packages[@]}" >&2 || missing "npm could not install it" || return
    for candidate in "$@"; do
        candidate=$folder/node_modules/$candidate
        if HOME=$folder DISABLE_AUTOUPDATER=1 timeout 60 "$candidate" --version >/dev/null 2>&1 </dev/null; then
            ln -sf "$candidate" "$program"
            echo "$version" >"$folder/version"
            return
        fi
    done
    missing "it was installed, but does not start on this machine"
}

# The package links the program of this platform into place only if npm may run its install script.
provide_claude-code() {
    local program=claude-code-$(platform)
    from_npm claude "$CLAUDE_CODE_VERSION" --scripts @anthropic-ai/claude-code -- .bin/claude "@anthropic-ai/$program/claude"
}

provide_codex() { from_npm codex "$CODEX_VERSION" @openai/codex -- .bin/codex; }

provide_gemini() { from_npm gemini "$GEMINI_VERSION" @google/gemini-cli -- .bin/gemini; }

# The package opencode-ai holds the program of this platform twice. Its plugin library is what opencode would fetch from
# npm itself, at the first start with a plugin, into the configuration of whoever runs it.
provide_opencode() {
    local program=opencode-$(platform)
    from_npm opencode "$OPENCODE_VERSION" "$program" @opencode-ai/plugin -- "$program/bin/opencode"
}

# The platform as npm packages name it: linux-x64, darwin-arm64.
platform() {
    local system machine
    system=$(uname -s | tr '[:upper:]' '[:lower:]')
    machine=$(uname -m)
    case $machine in x86_64) machine=x64 ;; aarch64) machine=arm64 ;; esac
    echo "$system-$machine"
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
