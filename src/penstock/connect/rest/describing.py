"""Pieces of the OpenAPI description."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

from penstock.connect.rest.models import ErrorMessage

_REASONS = {
    400: "The request asks for something impossible.",
    401: "User or password is missing or wrong.",
    403: "The worker's settings switch this off.",
    404: "There is no such thing.",
    409: "There is a connector of that name, or no worker leads at the moment.",
    415: "The body is not declared to be JSON.",
    500: "The body is not of the right shape, or something failed.",
}


def answers(*failures: int, **success: Any) -> dict[int | str, dict[str, Any]]:
    """What an operation may answer: `answers(404, ok=ConnectorInfo, created=ConnectorInfo, no_content=None)`."""
    codes = {"ok": 200, "created": 201, "accepted": 202, "no_content": 204}
    described: dict[int | str, dict[str, Any]] = {}
    for name, model in success.items():
        described[codes[name]] = {"description": name.replace("_", " ").capitalize()}
        if model is not None:
            described[codes[name]]["model"] = model
    for code in sorted({*failures, 500}):
        described[code] = {"description": _REASONS[code], "model": ErrorMessage}
    return described


def body(model: type[BaseModel] | dict[str, Any]) -> dict[str, Any]:
    """The JSON body an operation takes, for `openapi_extra`."""
    schema = model if isinstance(model, dict) else model.model_json_schema(ref_template="#/components/schemas/{model}")
    inlined = _inlined(schema, schema.get("$defs", {}))
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": inlined}}}}


def _inlined(schema: Any, definitions: dict[str, Any]) -> Any:
    """A schema without references: nothing has to be registered anywhere."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            return _inlined(definitions[schema["$ref"].rpartition("/")[2]], definitions)
        return {key: _inlined(value, definitions) for key, value in schema.items() if key != "$defs"}
    if isinstance(schema, list):
        return [_inlined(one, definitions) for one in schema]
    return schema


def describe_without_422(app: FastAPI) -> None:
    """FastAPI describes an answer for parameters it refuses; here it refuses none, and Kafka never answers 422."""
    original = app.openapi

    def openapi() -> dict[str, Any]:
        schema = original()
        for methods in schema["paths"].values():
            for operation in methods.values():
                operation["responses"].pop("422", None)
        for unused in ("HTTPValidationError", "ValidationError"):
            schema["components"]["schemas"].pop(unused, None)
        return schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way to change it


CONFIG_BODY: dict[str, Any] = {
    "type": "object",
    "description": "Settings by name; numbers and booleans become their text.",
    "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
}
