"""/connector-plugins: what can be configured, and validation of configurations."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from penstock.connect.requests.body import parse_body, string_map
from penstock.connect.rest import models
from penstock.connect.rest.answering import Caller, flag, json_answer, json_body
from penstock.connect.rest.describing import CONFIG_BODY, answers, body
from penstock.connect.rest.paths import PluginName
from penstock.connect.worker.herder import Herder
from penstock.connect.worker.plugin_listing import plugin_config, plugin_list


def plugins_router(herder: Herder, call: Caller) -> APIRouter:
    """Routes of plugins."""
    router = APIRouter(tags=["connector-plugins"])
    types = herder.check.types

    @router.get("/connector-plugins", responses=answers(ok=list[models.PluginInfo]))
    async def list_plugins(
        connectors_only: Annotated[
            str | None, Query(alias="connectorsOnly", description="false: also transforms, predicates and converters.")
        ] = None,
    ) -> Response:
        """The connectors this worker can run: sinks, then sources."""
        only = flag(connectors_only, default=True)
        return json_answer(await call(plugin_list, types, connectors_only=only))

    @router.get("/connector-plugins/{plugin}/config", responses=answers(404, ok=list[models.KeyInfo]))
    async def get_plugin_config(
        plugin: PluginName,
        version: Annotated[str | None, Query(description="Accepted: there is one version of each plugin.")] = None,
    ) -> Response:
        """The settings of a connector, transform, predicate or converter."""
        return json_answer(await call(plugin_config, types, plugin))

    @router.put(
        "/connector-plugins/{plugin}/config/validate",
        responses=answers(400, 415, ok=models.ConfigInfos),
        openapi_extra=body(CONFIG_BODY),
    )
    async def validate(plugin: PluginName, request: Request) -> Response:
        """Everything that is wrong with a configuration, setting by setting."""
        config = string_map(parse_body(await json_body(request)), "config")
        return json_answer(await call(herder.validate, plugin, config))

    return router
