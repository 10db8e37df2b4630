"""Where a request goes: what its path says of project and mode, which API it speaks, which server is meant.

    /p/<project>      the project that the talk belongs to
    /pure             nothing in, nothing out
    /key/<token>      who may use a proxy that others can reach
    /to/<upstream>    the server, where path and headers leave it open

These stand before the API's own path in any order, and are taken off; the rest goes on as it came.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes, urlsplit

from catmem.proxy.http1 import Head, answer
from catmem.proxy.upstream import Origin

ANTHROPIC, OPENAI, GEMINI = "anthropic", "openai", "gemini"
USUAL_UPSTREAMS = {
    ANTHROPIC: "https://api.anthropic.com",
    OPENAI: "https://api.openai.com/v1",
    GEMINI: "https://generativelanguage.googleapis.com",
}

PROJECT_HEADER, TOKEN_HEADER, HELPER_HEADER = b"x-catmem-project", b"x-catmem-token", b"x-catmem-helper"
_OURS = (PROJECT_HEADER, TOKEN_HEADER, HELPER_HEADER)

# The end of a path that asks for an answer -> the API that it speaks.
_WIRES = (("/messages", "anthropic"), ("/chat/completions", "chat"), ("/responses", "responses"))
_GEMINI_VERBS = (":generateContent", ":streamGenerateContent")


class Refused(Exception):
    """A request that goes nowhere; `closes` the connection unless nothing is wrong with it."""

    def __init__(self, status: int, reason: str, message: str, *, closes: bool = True) -> None:
        super().__init__(message)
        self.status, self.reason, self.closes = status, reason, closes
        self.body = json.dumps({"type": "error", "error": {"type": "catmem_proxy", "message": message}}).encode()

    def response(self, head: Head) -> bytes:
        whole = answer(self.status, self.reason, b"" if self.status == 200 else self.body, close=self.closes)
        return whole if head.method != "HEAD" else whole.split(b"\r\n\r\n")[0] + b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Upstream:
    """A server by the base address that a client would be given for it."""

    origin: Origin
    path: bytes

    @classmethod
    def at(cls, address: str) -> Upstream:
        """Raises ValueError for what is no http address."""
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(address)
        secure = parts.scheme == "https"
        return cls(
            Origin(parts.hostname, parts.port or (443 if secure else 80), secure), parts.path.rstrip("/").encode()
        )

    def target(self, rest: bytes) -> bytes:
        """The path and query there; a version that both the address and the request name stands once."""
        version = self.path.rpartition(b"/")[2]
        if version and rest.startswith((b"/%s/" % version, b"/%s?" % version)):
            rest = rest[len(version) + 1 :]
        return self.path + rest


@dataclass(frozen=True, slots=True)
class Route:
    """What is known of a request by its head. `wire` is the API of an answer to be recorded, "" of anything else."""

    origin: Origin
    target: bytes
    project: str = ""
    pure: bool = False
    wire: str = ""

    def outgoing(self, head: Head) -> Head:
        return head.without(_OURS).to(self.target, self.origin.name)


class Routes:
    """`upstreams` by name; `token` is asked for where others than this machine can come in."""

    def __init__(
        self,
        upstreams: Mapping[str, Upstream],
        *,
        token: str = "",
        pure: bool = False,
        home: Callable[[str], str] = str,
    ) -> None:
        self._upstreams = upstreams
        self._token = token.encode()
        self._pure = pure
        self._home = home

    def of(self, head: Head) -> Route:
        """Raises Refused: 401, 403, 404, 426, and 200 for a probe that only asks whether somebody is there."""
        path, mark, query = head.target.partition(b"?")
        said = _Prefix(path)
        self._admit(head, said)
        rest = said.rest + mark + query
        if head.method == "HEAD" and said.rest in (b"", b"/"):
            raise Refused(200, "OK", "", closes=False)
        if not said.rest.startswith(b"/"):
            raise Refused(404, "Not Found", "the path of this request names nothing of any API")
        wire = _wire(head, said.rest)
        if head.upgrade and said.rest.endswith(b"/responses"):
            # The assistant then asks by POST, at once; any other answer makes it try again and again.
            raise Refused(426, "Upgrade Required", "ask by POST, please")
        upstream = self._upstreams.get(said.upstream or _upstream(head, said.rest, wire))
        if upstream is None:
            raise Refused(404, "Not Found", f"there is no upstream {said.upstream!r}")
        project = said.project or unquote_to_bytes(head.value(PROJECT_HEADER)).decode("utf-8", "replace")
        # What our own model calls say is no talk of the user's.
        wire = "" if head.value(HELPER_HEADER) else wire
        pure = self._pure or said.pure
        return Route(upstream.origin, upstream.target(rest), self._home(project) if project else "", pure, wire)

    def _admit(self, head: Head, said: _Prefix) -> None:
        if self._token:
            given = said.token or head.value(TOKEN_HEADER).encode("latin-1")
            if not hmac.compare_digest(given, self._token):
                raise Refused(401, "Unauthorized", "this proxy needs its token: /key/<token> before the path")
        elif not _is_local(head.value(b"host")) or not _is_home(head.value(b"origin")):
            # A page in a browser can make a name of its own mean this machine, and it can send what it likes to
            # localhost: words that we would take for the user's.
            raise Refused(403, "Forbidden", "this proxy answers this machine only, and no page of another")


class _Prefix:
    """What stands before the API's own path, and the rest of the path as it came."""

    def __init__(self, path: bytes) -> None:
        self.project, self.upstream, self.token, self.pure = "", "", b"", False
        # An absolute address, as a client sends it that takes us for a forward proxy.
        if path[:1] != b"/" and b"://" in path:
            path = b"/" + path.split(b"/", 3)[-1]
        while True:
            _, name, tail = (*path.split(b"/", 2), b"", b"")[:3]
            value, slash, after = tail.partition(b"/")
            if name == b"pure" and path[:1] == b"/":
                self.pure, path = True, _after(path, 1)
            elif name in (b"p", b"to", b"key") and value:
                self._note(name, unquote_to_bytes(value))
                path = slash + after
            else:
                break
        self.rest = path

    def _note(self, name: bytes, value: bytes) -> None:
        if name == b"p":
            self.project = value.decode("utf-8", "replace")
        elif name == b"to":
            self.upstream = value.decode("utf-8", "replace")
        else:
            self.token = value


def _after(path: bytes, count: int) -> bytes:
    parts = path.split(b"/", count + 1)
    return b"/" + parts[-1] if len(parts) > count + 1 else b""


def _wire(head: Head, path: bytes) -> str:
    if head.method != "POST":
        return ""
    text = path.decode("latin-1")
    if text.endswith(_GEMINI_VERBS):
        return GEMINI
    return next((wire for end, wire in _WIRES if text.endswith(end)), "")


def _upstream(head: Head, path: bytes, wire: str) -> str:
    """The server that a client means that was given one address for all."""
    if wire == "anthropic" or head.value(b"anthropic-version") or path.startswith((b"/v1/messages", b"/v1/complete")):
        return ANTHROPIC
    if wire == GEMINI or path.startswith((b"/v1beta", b"/v1alpha")) or head.value(b"x-goog-api-key"):
        return GEMINI
    if wire or head.value(b"authorization") or not head.value(b"x-api-key"):
        return OPENAI
    return ANTHROPIC


def _is_home(origin: str) -> bool:
    """True unless a browser sent the request for a page that is not of this machine, or that hides where it is from."""
    return origin != "null" and (not origin.startswith(("http://", "https://")) or _is_local(urlsplit(origin).netloc))


def _is_local(host: str) -> bool:
    """True for a Host header that names this machine. Without one (HTTP/1.0) there is no page that could lie."""
    name = host.strip().lower()
    if name.startswith("["):
        name = name[1:].partition("]")[0]
    elif name.count(":") == 1:
        name = name.partition(":")[0]
    try:
        return not host or name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
