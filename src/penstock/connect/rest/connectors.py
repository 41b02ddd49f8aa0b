"""/connectors: creating, reading, changing and deleting connectors."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from penstock.connect.requests.create_connector import parse_create_request
from penstock.connect.rest import models
from penstock.connect.rest.answering import Caller, empty_answer, flag, json_answer, json_body
from penstock.connect.rest.describing import CONFIG_BODY, answers, body
from penstock.connect.rest.paths import ConnectorName, location
from penstock.connect.worker.herder import Herder

ForwardFlag = Annotated[str | None, Query(description="Accepted, without meaning for clients.")]


def connectors_router(herder: Herder, call: Caller) -> APIRouter:
    """Routes of connectors and their configurations."""
    router = APIRouter(tags=["connectors"])

    @router.get("/connectors", responses=answers(ok=list[str] | dict[str, dict[str, object]]))
    async def list_connectors(
        request: Request,
        expand: Annotated[
            list[str] | None, Query(description="status, info, or both: an object by name in place of a list.")
        ] = None,
    ) -> Response:
        """The names of all connectors, or all connectors with states and configurations."""
        wanted = [*(expand or ()), *request.query_params.getlist("expand[]")]
        return json_answer(herder.expanded(wanted) if wanted else herder.connectors())

    @router.post(
        "/connectors",
        status_code=201,
        responses=answers(400, 409, 415, created=models.ConnectorInfo),
        openapi_extra=body(models.CreateConnector),
    )
    async def create_connector(request: Request, forward: ForwardFlag = None) -> Response:
        """Creates a connector; 400 with everything that is wrong with its configuration."""
        wanted = parse_create_request(await json_body(request))
        created = await call(herder.create, wanted)
        return json_answer(created, 201, location(request, wanted.name))

    @router.get("/connectors/{name}", responses=answers(404, ok=models.ConnectorInfo))
    async def get_connector(name: ConnectorName) -> Response:
        """A connector and its tasks."""
        return json_answer(herder.connector(name))

    @router.delete("/connectors/{name}", status_code=204, responses=answers(404, 409, no_content=None))
    async def delete_connector(
        name: ConnectorName,
        forward: ForwardFlag = None,
        offsets: Annotated[
            str | None, Query(description="true: its offsets are forgotten, too. Not known to Kafka.")
        ] = None,
    ) -> Response:
        """Deletes a connector. Its offsets stay for a later one of the same name."""
        await call(herder.delete, name, offsets=flag(offsets))
        return empty_answer(204)

    @router.get("/connectors/{name}/config", responses=answers(404, ok=dict[str, str | None]))
    async def get_config(name: ConnectorName) -> Response:
        """The configuration of a connector; references to config providers are not replaced."""
        return json_answer(herder.config(name))

    @router.put(
        "/connectors/{name}/config",
        responses=answers(400, 409, 415, ok=models.ConnectorInfo, created=models.ConnectorInfo),
        openapi_extra=body(CONFIG_BODY),
    )
    async def put_config(name: ConnectorName, request: Request, forward: ForwardFlag = None) -> Response:
        """Replaces the configuration of a connector, or creates it."""
        is_new, info = await call(herder.put_config, name, await json_body(request))
        return json_answer(info, 201, location(request, name)) if is_new else json_answer(info)

    @router.patch(
        "/connectors/{name}/config",
        responses=answers(400, 404, 409, 415, ok=models.ConnectorInfo),
        openapi_extra=body(CONFIG_BODY),
    )
    async def patch_config(name: ConnectorName, request: Request, forward: ForwardFlag = None) -> Response:
        """Changes single settings; null removes one."""
        return json_answer(await call(herder.patch_config, name, await json_body(request)))

    return router
