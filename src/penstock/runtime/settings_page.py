"""Writes `docs/settings.md` from the tables of settings: `python -m penstock.runtime.settings_page > docs/settings.md`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from penstock.runtime.setting_table import (
    CLIENT_KEYS,
    CLIENT_PREFIXES,
    KAFKA,
    NO_EFFECT,
    NO_EFFECT_PREFIXES,
    NOT_YET,
    OLD_NAMES,
    OWN,
    PREFIXES,
    Setting,
)

_HEAD = """\
# Settings

<!-- Made by `python -m penstock.runtime.settings_page > docs/settings.md`; edit the tables there. -->

An application takes its settings as a mapping with Kafka's keys, as keywords with `_` for `.`, or both:

```python
from penstock.runtime.settings import Settings

settings = Settings({"application.id": "word-count"}, bootstrap_servers="localhost:9092")
assert settings["application.id"] == "word-count"
assert settings["commit.interval.ms"] == 100
```

`KafkaStreams(topology, config, **settings)` and `penstock run --config app.toml -X key=value` take the same ones. A key that
is not on this page is refused with the nearest one that is. Milliseconds may also be written as durations: `"30s"`, `"5m"`.
"""


def settings_page() -> str:
    """The page as Markdown."""
    return "\n".join(
        [
            _HEAD,
            "## Settings of Kafka Streams\n",
            *_table(KAFKA),
            "\n## Settings of penstock\n",
            *_table(OWN),
            "\n## Settings that are passed on\n",
            "| prefix | for |",
            "|---|---|",
            *(f"| `{prefix}` | {what} |" for prefix, what in PREFIXES.items()),
            "",
            (
                f"For all Kafka clients, without a prefix: {_list(CLIENT_KEYS)}, and all that begin with "
                f"{_list(CLIENT_PREFIXES)}. Consumers and admin clients take `request.timeout.ms` as the "
                "`socket.timeout.ms` of the client library, which is from 10 to 300000; one that is given itself, as "
                "`consumer.socket.timeout.ms`, wins."
            ),
            "",
            (
                "Consumers start at the earliest record of a topic without a committed position "
                "(`consumer.auto.offset.reset`), and with exactly once read committed records only."
            ),
            "",
            "## Old names\n",
            *(f"- `{old}` is `{new}`." for old, new in OLD_NAMES.items()),
            "",
            "## Accepted without effect\n",
            (
                "So that an existing configuration runs; a line in the log says so. Spark does what they steer: "
                f"{_list(NO_EFFECT)}, and all that begin with {_list(NO_EFFECT_PREFIXES)}."
            ),
            "",
            f"What these steer is not there yet: {_list(NOT_YET)}.",
            "",
        ]
    )


def _table(settings: Mapping[str, Setting]) -> list[str]:
    rows = [f"| `{key}` | {s.kind.name} | {_default(s.default)} | {s.doc} |" for key, s in settings.items()]
    return ["| setting | value | default | what it does |", "|---|---|---|---|", *rows]


def _default(value: Any) -> str:
    if value is None or value == "":
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _list(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


if __name__ == "__main__":
    sys.stdout.write(settings_page())
