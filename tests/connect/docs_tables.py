"""`make docs-tables`: writes the generated tables of docs/connect again, wherever a page has the marks of one.

<!-- settings: NAME --> ... <!-- /settings -->     the settings of a plugin (by its simple class name), or of worker, source, sink
<!-- endpoints: TAG --> ... <!-- /endpoints -->    a part of the REST API
<!-- plugins: KIND --> ... <!-- /plugins -->       all plugins of a kind, with links to their settings
<!-- without-effect --> ... <!-- /without-effect --> settings of workers and connectors that change nothing
<!-- every-setting --> ... <!-- /every-setting --> all settings, with links to what they belong to
"""

from __future__ import annotations

import re
from pathlib import Path

from penstock.connect.config import config_table
from penstock.connect.rest.app import Services, build_app
from tests.connect.docs_reference import (
    DEFINITIONS,
    KINDS,
    plugin_table,
    plugins,
    settings_table,
    summary,
    without_effect_table,
)
from tests.connect.worker.in_process import parts

PAGES = sorted((Path(__file__).parents[2] / "docs" / "connect").glob("*.md"))
_TABLE = re.compile(r"(<!-- settings: (\S+) -->\n).*?(<!-- /settings -->)", re.DOTALL)
_ENDPOINTS = re.compile(r"(<!-- endpoints: (\S+) -->\n).*?(<!-- /endpoints -->)", re.DOTALL)
_PLUGINS = re.compile(r"(<!-- plugins: (\S+) -->\n).*?(<!-- /plugins -->)", re.DOTALL)
_WITHOUT_EFFECT = re.compile(r"(<!-- without-effect -->\n).*?(<!-- /without-effect -->)", re.DOTALL)
_EVERY = re.compile(r"(<!-- every-setting -->\n).*?(<!-- /every-setting -->)", re.DOTALL)


def filled(text: str) -> str:
    """A page with its tables as the declarations are now."""
    text = _TABLE.sub(lambda match: f"{match[1]}{_section(match[2])}\n{match[3]}", text)
    text = _ENDPOINTS.sub(lambda match: f"{match[1]}{_endpoints(match[2])}\n{match[3]}", text)
    text = _PLUGINS.sub(lambda match: f"{match[1]}{plugin_table(match[2], PAGES)}\n{match[3]}", text)
    text = _WITHOUT_EFFECT.sub(lambda match: f"{match[1]}{without_effect_table()}\n{match[2]}", text)
    return _EVERY.sub(lambda match: f"{match[1]}{settings_table(PAGES)}\n{match[2]}", text)


def _endpoints(tag: str) -> str:
    """The operations of one part of the REST API, from its own description."""
    paths = build_app(Services(herder=parts().herder)).openapi()["paths"]
    rows = ["| request | what it does | answers |", "|---|---|---|"]
    for path, methods in paths.items():
        for method, operation in methods.items():
            if tag in operation["tags"]:
                query = [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]
                known = [name for name in query if name != "forward"]
                shown = f"{path}?{'&'.join(f'{name}=' for name in known)}" if known else path
                codes = ", ".join(code for code in operation["responses"] if code != "500")
                rows.append(f"| `{method.upper()} {shown}` | {' '.join(operation['description'].split())} | {codes} |")
    return "\n".join(rows)


def _section(name: str) -> str:
    if name in DEFINITIONS:
        return f"{config_table(DEFINITIONS[name])}\n"
    pairs = [pair for kind in KINDS for pair in plugins(kind) if pair[0].simple_name == name]
    if not pairs:
        raise LookupError(f"<!-- settings: {name} -->: no plugin of that name is registered")
    plugin, found = pairs[0]
    variants = " (`$Key`, `$Value`)" if "$" in name else ""
    return f"### {name.partition('$')[0]}{variants}\n\n{summary(plugin, found)}\n\n{config_table(found.CONFIG)}\n"


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
