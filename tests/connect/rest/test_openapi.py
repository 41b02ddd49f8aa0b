from __future__ import annotations

import httpx


def test_the_description_has_every_endpoint(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    found = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert found == {
        "GET /",
        "GET /health",
        "GET /connectors",
        "POST /connectors",
        "GET /connectors/{name}",
        "DELETE /connectors/{name}",
        "GET /connectors/{name}/config",
        "PUT /connectors/{name}/config",
        "PATCH /connectors/{name}/config",
        "GET /connectors/{name}/status",
        "GET /connectors/{name}/tasks",
        "GET /connectors/{name}/tasks/{task}/status",
        "POST /connectors/{name}/tasks/{task}/restart",
        "POST /connectors/{name}/restart",
        "PUT /connectors/{name}/pause",
        "PUT /connectors/{name}/resume",
        "PUT /connectors/{name}/stop",
        "GET /connectors/{name}/topics",
        "PUT /connectors/{name}/topics/reset",
        "GET /connectors/{name}/offsets",
        "PATCH /connectors/{name}/offsets",
        "DELETE /connectors/{name}/offsets",
        "GET /connector-plugins",
        "GET /connector-plugins/{plugin}/config",
        "PUT /connector-plugins/{plugin}/config/validate",
        "GET /admin/loggers",
        "GET /admin/loggers/{logger}",
        "PUT /admin/loggers/{logger}",
    }
    for methods in paths.values():
        for operation in methods.values():
            assert "422" not in operation["responses"]
            assert operation["summary"]
