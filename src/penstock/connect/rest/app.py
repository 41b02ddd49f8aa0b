"""The REST API as one application."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version

from fastapi import APIRouter, FastAPI
from fastapi.responses import Response
from starlette.middleware.cors import CORSMiddleware

from penstock.connect.rest import models
from penstock.connect.rest.admin import SetClusterLevel, admin_router
from penstock.connect.rest.answering import Caller, json_answer
from penstock.connect.rest.basic_auth import BasicAuth, Credentials
from penstock.connect.rest.connectors import connectors_router
from penstock.connect.rest.describing import answers, describe_without_422
from penstock.connect.rest.failures import handle_failures
from penstock.connect.rest.offsets import offsets_router
from penstock.connect.rest.paths import RawPaths
from penstock.connect.rest.plugins import plugins_router
from penstock.connect.rest.response_headers import HeaderRule, ResponseHeaders
from penstock.connect.rest.running import running_router
from penstock.connect.worker.herder import Herder
from penstock.connect.worker.loggers import Loggers
from penstock.errors import PenstockError

# The API that is spoken here: clients switch features on by it.
KAFKA_VERSION = "4.3.1"

_HEALTHY = (200, "healthy", "Worker has completed startup and is ready to handle requests.")
_STARTING = (503, "starting", "Worker is still starting up.")
_UNHEALTHY = "Worker was unable to handle this request and may be unable to handle other requests."
_HEALTH_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RestOptions:
    """What the worker's settings say about the REST API.

    Attributes:
        credentials: Users and passwords; None lets everybody in.
        allow_origins: Origins of web pages that may read answers.
        allow_methods: Methods they may use.
        headers: Headers for every answer.
        connectors: Whether there are the routes of connectors.
        admin: Whether there are those of /admin.
    """

    credentials: Credentials | None = None
    allow_origins: tuple[str, ...] = ()
    allow_methods: tuple[str, ...] = ()
    headers: tuple[HeaderRule, ...] = ()
    connectors: bool = True
    admin: bool = True


@dataclass(slots=True)
class Readiness:
    """Whether the worker has started."""

    ready: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What the routes call."""

    herder: Herder
    loggers: Loggers = field(default_factory=Loggers)
    readiness: Readiness = field(default_factory=Readiness)
    set_cluster_level: SetClusterLevel | None = None
    call: Caller = field(default_factory=Caller)
    probe: Callable[[], None] = lambda: None
    call_probe: Caller = field(default_factory=lambda: Caller(_HEALTH_SECONDS))


def build_app(
    services: Services, options: RestOptions | None = None, *, forward: Callable[[FastAPI], None] | None = None
) -> FastAPI:
    """The application.

    Args:
        services: What it calls.
        options: What it offers, and to whom.
        forward: Adds what hands requests over to the worker that leads.
    """
    chosen = options or RestOptions()
    herder, loggers, call = services.herder, services.loggers, services.call
    app = FastAPI(
        title="Kafka Connect REST API",
        description=f"penstock speaks the REST API of Kafka Connect {KAFKA_VERSION}.",
        version=version("penstock"),
        redirect_slashes=False,
    )
    handle_failures(app, herder.secrets.redact)
    app.include_router(_root_router(services))
    if chosen.connectors:
        for router in (connectors_router, running_router, offsets_router, plugins_router):
            app.include_router(router(herder, call))
    if chosen.admin:
        app.include_router(admin_router(loggers, call, services.set_cluster_level or _here_only(loggers)))
    describe_without_422(app)
    if forward is not None:
        forward(app)
    _add_middleware(app, chosen)
    return app


def _here_only(loggers: Loggers) -> SetClusterLevel:
    def set_level(logger: str, level: str) -> None:
        loggers.set_level(logger, level)

    return set_level


def _root_router(services: Services) -> APIRouter:
    router = APIRouter(tags=["worker"])

    @router.get("/", responses=answers(ok=models.ServerInfo))
    async def get_root() -> Response:
        """The worker: the version of the API, and the Kafka cluster it works with."""
        info = {
            "version": KAFKA_VERSION,
            "commit": f"penstock-{version('penstock')}",
            "kafka_cluster_id": services.herder.kafka_cluster_id,
        }
        return json_answer(info)

    @router.get(
        "/health",
        responses={**answers(ok=models.Health), 500: {"model": models.Health}, 503: {"model": models.Health}},
    )
    async def get_health() -> Response:
        """Whether the worker can work: in a group, whether one leads and the topics can be read."""
        code, status, message = _HEALTHY if services.readiness.ready else _STARTING
        if services.readiness.ready:
            try:
                await services.call_probe(services.probe)
            except PenstockError as error:
                reason = services.herder.secrets.redact(str(error))
                code, status, message = 500, "unhealthy", f"{_UNHEALTHY} {reason}"
        return json_answer({"status": status, "message": message}, code)

    return router


def _add_middleware(app: FastAPI, options: RestOptions) -> None:
    """The last one added is the first one to see a request."""
    if options.credentials is not None:
        app.add_middleware(BasicAuth, credentials=options.credentials)
    if options.allow_origins:
        methods = options.allow_methods or ("GET", "POST", "HEAD")
        app.add_middleware(
            CORSMiddleware, allow_origins=options.allow_origins, allow_methods=methods, allow_headers=["*"]
        )
    if options.headers:
        app.add_middleware(ResponseHeaders, rules=options.headers)
    app.add_middleware(RawPaths)
