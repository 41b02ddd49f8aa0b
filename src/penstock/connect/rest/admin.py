"""/admin/loggers: levels of loggers, changed while the worker runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from penstock.connect.errors import BadRequestError
from penstock.connect.requests.body import cannot_deserialize, parse_body, require_object
from penstock.connect.rest import models
from penstock.connect.rest.answering import Caller, empty_answer, json_answer, json_body
from penstock.connect.rest.describing import answers, body
from penstock.connect.rest.paths import LoggerName
from penstock.connect.worker.loggers import Loggers

SetClusterLevel = Callable[[str, str], None]
"""Sets the level of a logger on all workers of the group."""


def admin_router(loggers: Loggers, call: Caller, set_cluster_level: SetClusterLevel) -> APIRouter:
    """Routes of loggers."""
    router = APIRouter(tags=["admin"])

    @router.get("/admin/loggers", responses=answers(ok=dict[str, models.LoggerLevel]))
    async def list_loggers() -> Response:
        """All loggers with a level of their own."""
        return json_answer(loggers.levels())

    @router.get("/admin/loggers/{logger}", responses=answers(404, ok=models.LoggerLevel))
    async def get_logger(logger: LoggerName) -> Response:
        """The level of a logger."""
        return json_answer(loggers.level(logger))

    @router.put(
        "/admin/loggers/{logger}",
        responses=answers(400, 404, 415, ok=list[str], no_content=None),
        openapi_extra=body(models.NewLevel),
    )
    async def set_level(
        logger: LoggerName,
        request: Request,
        scope: Annotated[str | None, Query(description="worker, or cluster for all workers of the group.")] = None,
    ) -> Response:
        """Changes a logger and those below it; answers with the ones that had another level."""
        level = _level(await json_body(request))
        if (scope or "").lower() == "cluster":
            await call(set_cluster_level, logger, level)
            return empty_answer(204)
        return json_answer(loggers.set_level(logger, level))

    return router


def _level(text: bytes) -> str:
    level: Any = require_object(parse_body(text), "level").get("level")
    if level is None:
        raise BadRequestError("Desired 'level' parameter was not specified in request.")
    if not isinstance(level, str):
        raise cannot_deserialize("String", level, "level")
    return level
