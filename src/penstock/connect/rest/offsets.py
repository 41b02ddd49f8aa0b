"""/connectors/{name}/offsets: where a connector stands."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from penstock.connect.requests.connector_offsets import parse_alter_offsets
from penstock.connect.rest import models
from penstock.connect.rest.answering import Caller, json_answer, json_body
from penstock.connect.rest.connectors import ForwardFlag
from penstock.connect.rest.describing import answers, body
from penstock.connect.rest.paths import ConnectorName
from penstock.connect.worker.herder import Herder


def offsets_router(herder: Herder, call: Caller) -> APIRouter:
    """Routes of offsets."""
    router = APIRouter(tags=["offsets"])

    @router.get("/connectors/{name}/offsets", responses=answers(404, ok=models.Offsets))
    async def get_offsets(name: ConnectorName) -> Response:
        """Where a connector stands."""
        return json_answer(await call(herder.offsets, name))

    @router.patch(
        "/connectors/{name}/offsets",
        responses=answers(400, 404, 409, 415, ok=models.Message),
        openapi_extra=body(models.AlterOffsets),
    )
    async def alter_offsets(name: ConnectorName, request: Request, forward: ForwardFlag = None) -> Response:
        """Changes where a stopped connector stands."""
        wanted = parse_alter_offsets(await json_body(request))
        return json_answer(await call(herder.alter_offsets, name, wanted))

    @router.delete("/connectors/{name}/offsets", responses=answers(400, 404, 409, ok=models.Message))
    async def reset_offsets(name: ConnectorName, forward: ForwardFlag = None) -> Response:
        """Lets a stopped connector start over."""
        return json_answer(await call(herder.reset_offsets, name))

    return router
