"""The parts of a proxy put together, as the settings of a data directory say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from catmem.domain.clock import now
from catmem.domain.errors import BadInput, CatmemError
from catmem.inject.failures import record_failure
from catmem.proxy.exchange import Exchange
from catmem.proxy.reading import Manner, Reader
from catmem.proxy.recorder import Recorder
from catmem.proxy.routes import Routes, Upstream
from catmem.proxy.server import Proxy
from catmem.sessions.history import History
from catmem.settings import registry, snapshot
from catmem.settings.config import load_settings
from catmem.settings.paths import Paths
from catmem.settings.places import Places
from catmem.settings.schema import Settings
from catmem.settings.workspace import project_of

if TYPE_CHECKING:
    from catmem.sessions.door import Redact


def assemble(
    paths: Paths,
    settings: Settings,
    make_history: Callable[[], History],
    redact: Redact,
    upstreams: Mapping[str, str],
    manner: Manner,
    *,
    environment: Mapping[str, str],
    pure: bool = False,
    token: str = "",
) -> tuple[Proxy, Recorder]:
    """A proxy that is ready to start, and its recorder. Raises BadInput for an upstream that is no address."""
    places = Places(str(paths.root))

    def fault(error: Exception) -> None:
        record_failure(places, "proxy", error, now())

    def finished(exchange: Exchange) -> None:
        recorder.put(exchange)

    reader = Reader(
        places,
        make_history(),
        manner,
        settings=lambda: _current(paths),
        project_of=lambda folder: registry.read(places).home_of(project_of(folder, settings.project_roots)),
        finished=finished,
        listen=lambda: recorder.listen(),
        settle=lambda: recorder.settle(),
    )
    recorder = Recorder(
        make_history(),
        reader.conversations,
        fault,
        redact=redact,
        batch_size=settings.archive_batch_size,
        held=manner.hold,
    )
    routes = Routes(
        {name: _upstream(name, address) for name, address in upstreams.items()},
        token=token,
        pure=pure,
        home=lambda key: registry.read(places).home(key),
    )
    return Proxy(routes, reader, recorder, environment=environment, fault=fault), recorder


def _current(paths: Paths) -> Mapping[str, Any]:
    """The settings as they stand now: a proxy runs for weeks. Defaults where config.yaml cannot be read."""
    values = snapshot.read(paths)
    if values is not None:
        return values
    try:
        return asdict(load_settings(paths))
    except CatmemError:
        return {}


def _upstream(name: str, address: str) -> Upstream:
    try:
        return Upstream.at(address)
    except ValueError:
        raise BadInput(
            f"the upstream {name} is no http address; mend the variable or the option that names it",
            f"上游 {name} 不是 http 地址；请修正指定它的变量或选项",
        ) from None
