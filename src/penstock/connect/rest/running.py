"""/connectors/{name}/...: states, tasks, topics; pausing, resuming, stopping, restarting."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from penstock.connect.rest import models
from penstock.connect.rest.answering import Caller, empty_answer, flag, json_answer
from penstock.connect.rest.connectors import ForwardFlag
from penstock.connect.rest.describing import answers
from penstock.connect.rest.paths import ConnectorName, TaskNumber
from penstock.connect.worker.config_store import TargetState
from penstock.connect.worker.herder import Herder


def running_router(herder: Herder, call: Caller) -> APIRouter:
    """Routes of what runs."""
    router = APIRouter(tags=["running"])
    _add_states(router, herder)
    _add_targets(router, herder, call)
    _add_restarts(router, herder, call)
    _add_topics(router, herder, call)
    return router


def _add_states(router: APIRouter, herder: Herder) -> None:
    @router.get("/connectors/{name}/status", responses=answers(404, ok=models.StatusInfo))
    async def get_status(name: ConnectorName) -> Response:
        """The states of a connector and its tasks."""
        return json_answer(herder.status(name))

    @router.get("/connectors/{name}/tasks", responses=answers(404, ok=list[models.TaskInfo]))
    async def get_tasks(name: ConnectorName) -> Response:
        """The tasks of a connector with their configurations."""
        return json_answer(herder.tasks(name))

    @router.get("/connectors/{name}/tasks/{task}/status", responses=answers(404, ok=models.TaskState))
    async def get_task_status(name: ConnectorName, task: TaskNumber) -> Response:
        """The state of a task."""
        return json_answer(herder.task_status(name, task))


def _add_targets(router: APIRouter, herder: Herder, call: Caller) -> None:
    @router.put(
        "/connectors/{name}/pause", status_code=202, response_class=Response, responses=answers(404, 409, accepted=None)
    )
    async def pause(name: ConnectorName, forward: ForwardFlag = None) -> Response:
        """Pauses a connector; its tasks stay."""
        await call(herder.set_target, name, TargetState.PAUSED)
        return empty_answer(202)

    @router.put(
        "/connectors/{name}/resume",
        status_code=202,
        response_class=Response,
        responses=answers(404, 409, accepted=None),
    )
    async def resume(name: ConnectorName, forward: ForwardFlag = None) -> Response:
        """Lets a paused or stopped connector go on."""
        await call(herder.set_target, name, TargetState.STARTED)
        return empty_answer(202)

    @router.put("/connectors/{name}/stop", status_code=204, responses=answers(404, 409, no_content=None))
    async def stop(name: ConnectorName, forward: ForwardFlag = None) -> Response:
        """Stops a connector: it has no tasks, its offsets may be changed."""
        await call(herder.set_target, name, TargetState.STOPPED)
        return empty_answer(204)


def _add_restarts(router: APIRouter, herder: Herder, call: Caller) -> None:
    @router.post(
        "/connectors/{name}/restart",
        status_code=204,
        responses=answers(404, 409, no_content=None, accepted=models.StatusInfo),
    )
    async def restart(
        name: ConnectorName,
        include_tasks: Annotated[str | None, Query(alias="includeTasks", description="true: tasks, too.")] = None,
        only_failed: Annotated[str | None, Query(alias="onlyFailed", description="true: only what failed.")] = None,
        forward: ForwardFlag = None,
    ) -> Response:
        """Restarts a connector; with a flag, answers with what is restarted."""
        status = await call(herder.restart, name, include_tasks=flag(include_tasks), only_failed=flag(only_failed))
        return empty_answer(204) if status is None else json_answer(status, 202)

    @router.post(
        "/connectors/{name}/tasks/{task}/restart", status_code=204, responses=answers(404, 409, no_content=None)
    )
    async def restart_task(name: ConnectorName, task: TaskNumber, forward: ForwardFlag = None) -> Response:
        """Restarts a task."""
        await call(herder.restart_task, name, task)
        return empty_answer(204)


def _add_topics(router: APIRouter, herder: Herder, call: Caller) -> None:
    @router.get("/connectors/{name}/topics", responses=answers(403, ok=dict[str, models.TopicList]))
    async def get_topics(name: ConnectorName) -> Response:
        """The topics a connector used since it was created, or since the last reset."""
        return json_answer(herder.topics(name))

    @router.put(
        "/connectors/{name}/topics/reset",
        status_code=202,
        response_class=Response,
        responses=answers(403, 409, accepted=None),
    )
    async def reset_topics(name: ConnectorName, forward: ForwardFlag = None) -> Response:
        """Empties that list."""
        await call(herder.reset_topics, name)
        return empty_answer(202)
