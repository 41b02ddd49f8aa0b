"""Documentation from declarations."""

from __future__ import annotations

from penstock.connect.config.config_def import ConfigDef
from penstock.connect.config.config_key import ConfigKey, value_as_text

_HEADER = "| setting | type | default | valid values | importance | meaning |\n|---|---|---|---|---|---|"


def config_table(definition: ConfigDef) -> str:
    """Markdown tables of all settings, one for each group; internal settings are left out.

    >>> print(config_table(ConfigDef(ConfigKey(name="file", default="", doc="Where to write."))))
    | setting | type | default | valid values | importance | meaning |
    |---|---|---|---|---|---|
    | `file` | string | "" | | medium | Where to write. |
    """
    shown = [key for key in definition if not key.internal]
    parts: list[str] = []
    for group in dict.fromkeys(key.group for key in shown):
        rows = [_row(key) for key in shown if key.group == group]
        heading = [f"### {group}\n"] if group is not None else []
        parts.append("\n".join([*heading, _HEADER, *rows]))
    return "\n\n".join(parts)


def _row(key: ConfigKey) -> str:
    valid = _cell(str(key.validator)) if key.validator is not None else ""
    cells = [f"`{key.name}`", key.type.value, _default(key), valid, key.importance.value, _cell(key.doc)]
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def _default(key: ConfigKey) -> str:
    if key.required:
        return "**required**"
    text = value_as_text(key.default_value, key.type)
    if text is None:
        return "null"
    return _cell(text) if text else '""'


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
