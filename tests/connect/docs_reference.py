"""The reference of Connect: every plugin and every setting, with a link to the page that has its table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from penstock.connect.api import CONNECTORS, connector_kind
from penstock.connect.config import ConfigDef
from penstock.connect.converters import CONVERTERS
from penstock.connect.converters.registry import HEADER_CONVERTERS
from penstock.connect.plugins import Plugin, Plugins
from penstock.connect.transforms import PREDICATES, TRANSFORMS
from penstock.connect.validation import ConnectorKind
from penstock.connect.validation.connector_keys import connector_keys
from penstock.connect.worker.worker_keys import DISTRIBUTED, STANDALONE

# Settings that belong to no plugin: of workers, and of every connector.
DEFINITIONS: dict[str, ConfigDef] = {
    "worker": ConfigDef(*STANDALONE, *(key for key in DISTRIBUTED if key.name not in STANDALONE)),
    "source": connector_keys(ConnectorKind.SOURCE),
    "sink": connector_keys(ConnectorKind.SINK),
}
KINDS: dict[str, Plugins[Any]] = {
    "connectors": CONNECTORS,
    "converters": CONVERTERS,
    "header-converters": HEADER_CONVERTERS,
    "transforms": TRANSFORMS,
    "predicates": PREDICATES,
}
_TABLE = re.compile(r"^<!-- settings: (\S+) -->$", re.MULTILINE)


def documented(pages: Iterable[Path]) -> dict[str, str]:
    """The page that has the table of a plugin or definition, by the name in its mark."""
    return {name: page.name for page in pages for name in _TABLE.findall(page.read_text(encoding="utf-8"))}


def plugins(kind: str) -> Iterator[tuple[Plugin, Any]]:
    """The plugins of a kind with their classes; of `$Key` and `$Value` the second stands for both."""
    known = KINDS[kind]
    elsewhere = set(CONVERTERS) if kind == "header-converters" else set()  # each of them can do headers, too
    for plugin in known:
        if not plugin.simple_name.endswith("$Key") and plugin not in elsewhere:
            yield plugin, known.find(plugin.java_name)


def settings(found: Any) -> list[str]:
    """The settings of a plugin that users may see."""
    return [key.name for key in found.CONFIG if not key.internal]


def summary(plugin: Plugin, found: Any) -> str:
    """What a plugin does, in a line; a transform says it once, in the class that both variants share."""
    described = found.__mro__[1] if "$" in plugin.simple_name else found
    return (described.__doc__ or "").partition("\n")[0]


def missing(pages: Iterable[Path]) -> list[str]:
    """Plugins with settings that no page has a table of."""
    found = documented(pages)
    return [
        plugin.java_name
        for kind in KINDS
        for plugin, made in plugins(kind)
        if settings(made) and plugin.simple_name not in found
    ]


def plugin_table(kind: str, pages: Iterable[Path]) -> str:
    """All plugins of a kind."""
    where = documented(pages)
    rows = ["| class | what it does | settings |", "|---|---|---|"]
    for plugin, found in sorted(plugins(kind), key=lambda pair: pair[0].java_name):
        what = summary(plugin, found)
        if kind == "connectors":
            what = f"{connector_kind(found).value}: {what}"
        rows.append(f"| `{plugin.java_name}` | {what} | {_link(plugin, found, where)} |")
    return "\n".join(rows)


def _link(plugin: Plugin, found: Any, where: Mapping[str, str]) -> str:
    names = settings(found)
    if not names:
        return "none"
    page = where.get(plugin.simple_name)
    text = f"{len(names)} setting{'s' if len(names) > 1 else ''}"
    return text if page is None else f"[{text}]({page}#{_anchor(plugin.simple_name)})"


def _anchor(simple_name: str) -> str:
    name, _, variant = simple_name.partition("$")
    return f"{name.lower()}-key-value" if variant else name.lower()


def settings_table(pages: Iterable[Path]) -> str:
    """All settings by name, and what they belong to."""
    where = documented(pages)
    owners: dict[str, dict[str, str]] = {}
    for name, definition in DEFINITIONS.items():
        of = {"worker": "workers", "source": "every source", "sink": "every sink"}[name]
        for key in definition:
            if not key.internal:
                owners.setdefault(key.name, {})[of] = f"[{of}]({where[name]})"
    for kind in KINDS:
        for plugin, found in plugins(kind):
            short = plugin.simple_name.partition("$")[0]
            page = where.get(plugin.simple_name)
            shown = short if page is None else f"[{short}]({page}#{_anchor(plugin.simple_name)})"
            for setting in settings(found):
                owners.setdefault(setting, {})[short] = shown
    rows = [f"| `{name}` | {', '.join(of[key] for key in sorted(of))} |" for name, of in sorted(owners.items())]
    return "\n".join(["| setting | of |", "|---|---|", *rows])


def without_effect_table() -> str:
    """The settings that are taken so that files of Kafka Connect can be used as they are, and change nothing."""
    rows = ["| accepted, without effect | of | why |", "|---|---|---|"]
    for of, definition in DEFINITIONS.items():
        for key in definition:
            _, found, why = key.doc.partition("Accepted, without effect")
            if found and (of != "sink" or key.name not in DEFINITIONS["source"]):
                rows.append(f"| `{key.name}` | {of} | {why.strip(' :.')} |")
    return "\n".join(rows)
