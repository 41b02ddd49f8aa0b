"""Paths to nested fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.connect.config import ConfigKey, Importance
from penstock.connect.config.validators import OneOf
from penstock.connect.data import Field, Schema, Struct
from penstock.connect.errors import ConfigError
from penstock.connect.transforms.transformation import require_map_or_null, require_struct_or_null

_PURPOSE = "nested field access"

FIELD_SYNTAX_VERSION = ConfigKey(
    name="field.syntax.version",
    default="V1",
    validator=OneOf("V1", "V2", ignore_case=True),
    importance=Importance.HIGH,
    doc="V1: a field is a name of the top level. V2: dots lead to nested fields; names with dots are put in backticks.",
)


@dataclass(frozen=True, slots=True)
class FieldPath:
    """A path: `address.city`, or with V1 one name with whatever characters.

    >>> FieldPath.parse("address.`zip.code`", "V2").steps
    ('address', 'zip.code')
    """

    text: str
    steps: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, version: str = "V1") -> FieldPath:
        """The path a text means.

        Raises:
            ConfigError: A backtick is not closed.
        """
        return cls(text, _steps(text) if version.upper() == "V2" else (text,))

    def field(self, schema: Schema) -> Field | None:
        """The field the path leads to, or None."""
        found: Field | None = None
        for step in self.steps:
            found = schema.field(step)
            if found is None:
                return None
            schema = found.schema
        return found

    def value_in_struct(self, struct: Struct, *, replace_null_with_default: bool = True) -> Any:
        """The value the path leads to; None if a struct on the way is null or has no such field."""
        *parents, last = self.steps
        current: Struct | None = struct
        for step in parents:
            if current is None or step not in current:
                return None
            current = require_struct_or_null(current.get(step), _PURPOSE)
        if current is None or last not in current:
            return None
        return current.get(last) if replace_null_with_default else current.get_without_default(last)

    def value_in_map(self, value: dict[str, Any]) -> Any:
        """The value the path leads to, or None."""
        *parents, last = self.steps
        current = value
        for step in parents:
            inner = require_map_or_null(current.get(step), _PURPOSE)
            if inner is None:
                return None
            current = inner
        return current.get(last)


def _steps(path: str) -> tuple[str, ...]:
    steps: list[str] = []
    position = 0
    while position < len(path):
        if path[position] == "`":
            step, position = _quoted_step(path, position)
        else:
            end = path.find(".", position)
            end = len(path) if end < 0 else end
            step, position = path[position:end], end + 1
        steps.append(step)
    if path.endswith("."):
        steps.append("")
    return tuple(steps)


def _quoted_step(path: str, opening: int) -> tuple[str, int]:
    """A step in backticks, and where the next one starts. A backtick closes it before a dot or at the end."""
    parts: list[str] = []
    start = opening + 1
    position = start
    while True:
        position = path.find("`", position)
        at_end = position == len(path) - 1
        escaped = position > 0 and path[position - 1] == "\\"
        if position < 0 or (at_end and escaped):
            raise ConfigError(
                f"Incomplete backtick pair in path: [{path}], "
                f"consider adding a backslash before backtick at position {opening} to escape it"
            )
        if not at_end and path[position + 1] != ".":
            # Not followed by a dot: a backtick that belongs to the name.
            position += 1
        elif escaped:
            parts += [path[start : position - 1], "`"]
            position += 1
            start = position
        else:
            return "".join([*parts, path[start:position]]), position + 2
