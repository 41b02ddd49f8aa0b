"""An application's settings, by Kafka's keys (`application.id`) or as keywords (`application_id`)."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterator, Mapping
from typing import Any

from penstock.errors import ConfigError
from penstock.handlers import resolve_handler
from penstock.interpreter.config import TaskConfig
from penstock.runtime.setting_table import (
    CLIENT_KEYS,
    CLIENT_PREFIXES,
    NO_EFFECT,
    NO_EFFECT_PREFIXES,
    NOT_YET,
    OLD_NAMES,
    PREFIXES,
    SETTINGS,
)

log = logging.getLogger("penstock.settings")

# Settings of clients that programs give without the prefix they need here.
_OFTEN_MISSED = (
    "consumer.auto.offset.reset", "consumer.isolation.level", "consumer.max.poll.records", "consumer.fetch.max.bytes",
    "producer.acks", "producer.batch.size", "producer.compression.type", "producer.linger.ms", "producer.retries",
)  # fmt: skip


class Settings(Mapping[str, Any]):
    """Checked settings, by Kafka's keys; what was not given has its default.

    >>> Settings({"application.id": "app"}, bootstrap_servers="localhost:9092")["bootstrap.servers"]
    'localhost:9092'
    """

    def __init__(self, given: Mapping[str, Any] | None = None, /, **keywords: Any) -> None:
        self.given: dict[str, Any] = {}
        names: dict[str, str] = {}
        pairs = [(key, key, value, False) for key, value in (given or {}).items()]
        pairs += [(key.replace("_", "."), key, value, True) for key, value in keywords.items()]
        for key, shown, value, keyword in pairs:
            name = OLD_NAMES.get(key, key)
            if name in names:
                other = names[name]
                what = f"as {other} and as {shown}" if other != shown else "twice"
                raise ConfigError(f"the setting {name} is given {what}", hint="Keep one of the two.")
            names[name] = shown
            if value is not None:
                self._take(name, shown, value, keyword=keyword)
        self._values = {key: self.given.get(key, setting.default) for key, setting in SETTINGS.items()}

    def _take(self, name: str, shown: str, value: Any, *, keyword: bool) -> None:
        if name in SETTINGS:
            setting = SETTINGS[name]
            try:
                value = setting.kind.parse(value)
            except (TypeError, ValueError) as error:
                raise ConfigError(f"the setting {shown} is {value!r}: {error}", hint=setting.doc) from error
        elif name in NO_EFFECT or name.startswith(NO_EFFECT_PREFIXES):
            log.info("the setting %s has no effect here: Spark does what it steers", shown)
        elif name in NOT_YET:
            log.info("the setting %s has no effect yet", shown)
        elif not _passes(name):
            raise _unknown(name, shown, keyword=keyword)
        self.given[name] = value

    def __getitem__(self, key: str) -> Any:
        if key in self.given:
            return self.given[key]
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._values, **self.given})

    def __len__(self) -> int:
        return len({**self._values, **self.given})

    def required(self, key: str) -> str:
        """A setting that has no default."""
        value = self[key]
        if not value:
            raise ConfigError(
                f"the setting {key} is missing",
                hint=f"Give it as {key.replace('.', '_')}=... or in the mapping as {key!r}. {SETTINGS[key].doc}",
            )
        return str(value)

    @property
    def exactly_once(self) -> bool:
        """True with exactly_once_v2."""
        return bool(self["processing.guarantee"] == "exactly_once_v2")

    def with_prefix(self, *prefixes: str) -> dict[str, Any]:
        """Settings for a client: those for all clients, then those of the prefixes, the last one first in rank."""
        found = {k: v for k, v in self.given.items() if k in CLIENT_KEYS or k.startswith(CLIENT_PREFIXES)}
        if self["client.id"]:
            found["client.id"] = self["client.id"]
        for prefix in prefixes:
            found.update({k[len(prefix) :]: v for k, v in self.given.items() if k.startswith(prefix)})
        return found

    def task_config(self, **overrides: Any) -> TaskConfig:
        """The part of the settings that tasks need."""
        values: dict[str, Any] = {
            "application_id": self["application.id"] or "penstock",
            "default_key_serde": self["default.key.serde"],
            "default_value_serde": self["default.value.serde"],
            "caching": self["statestore.cache.max.bytes"] > 0,
            "timestamp_extractor": self["default.timestamp.extractor"],
            "deserialization_handler": self._handler("deserialization.exception.handler"),
            "processing_handler": self._handler("processing.exception.handler"),
            "production_handler": self._handler("production.exception.handler"),
            "dead_letter_topic": self["errors.dead.letter.queue.topic.name"],
            "global_processing_handler": self["processing.exception.handler.global.enabled"],
            "max_task_idle_ms": self["max.task.idle.ms"],
            "processor_wrapper": self["processor.wrapper.class"],
            "state_dir": self["state.dir"] or "",
            "app_configs": dict(self),
        }
        return TaskConfig(**{**values, **overrides})

    def _handler(self, key: str) -> Any:
        return resolve_handler(self[key], key)


def _passes(name: str) -> bool:
    return name in CLIENT_KEYS or name.startswith((*CLIENT_PREFIXES, *PREFIXES))


def _unknown(name: str, shown: str, *, keyword: bool) -> ConfigError:
    known = [*SETTINGS, *OLD_NAMES, *NO_EFFECT, *NOT_YET, *CLIENT_KEYS, *_OFTEN_MISSED]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if not near:
        return ConfigError(f"unknown setting {shown!r}", hint="See docs/settings.md for all settings.")
    suggestion = near[0].replace(".", "_") if keyword else near[0]
    return ConfigError(f"unknown setting {shown!r}", hint=f"Did you mean {suggestion!r}?")
