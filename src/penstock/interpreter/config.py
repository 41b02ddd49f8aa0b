"""What a task needs to know of the application's settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import ConfigError
from penstock.serde import resolve_serde


@dataclass(frozen=True, slots=True)
class TaskConfig:
    """Settings of a task; made from the application's settings by `penstock.runtime.settings`.

    Attributes:
        application_id: Prefix of internal topics.
        default_key_serde / default_value_serde: For nodes that name no serde; None if there is no default.
        caching: Whether materialised tables collect updates until the next flush.
        timestamp_extractor: For sources that name none; None is FailOnInvalidTimestamp.
        deserialization_handler / processing_handler / production_handler: None is "log and fail".
        dead_letter_topic: Where the built-in handlers send records that failed.
        emit_interval_ms: Wall-clock throttle between two emissions of closed windows or unmatched join rows.
        app_configs: All settings, for `context.app_configs`.
    """

    application_id: str = "penstock"
    default_key_serde: Any = None
    default_value_serde: Any = None
    caching: bool = True
    timestamp_extractor: Any = None
    deserialization_handler: Any = None
    processing_handler: Any = None
    production_handler: Any = None
    dead_letter_topic: str | None = None
    global_processing_handler: bool = False
    emit_interval_ms: int = 0
    max_task_idle_ms: int = 0
    processor_wrapper: Any = None
    state_dir: str = ""
    app_configs: Mapping[str, Any] = field(default_factory=dict)

    def key_serde(self, serde: Any, where: str) -> Any:
        """The node's serde, or the default for keys."""
        return self._serde(serde, self.default_key_serde, where, "key")

    def value_serde(self, serde: Any, where: str) -> Any:
        """The node's serde, or the default for values."""
        return self._serde(serde, self.default_value_serde, where, "value")

    def _serde(self, serde: Any, default: Any, where: str, what: str) -> Any:
        if serde is None and default is None:
            raise ConfigError(
                f"{where} has no {what} serde and there is no default",
                hint=f'Give {what}_serde="string" (or another) to the operator, or set default.{what}.serde.',
            )
        return self.complete(resolve_serde(serde if serde is not None else default))

    def complete(self, serde: Any) -> Any:
        """A serde around another (windowed keys, table changes) that was not named takes the default inside."""
        with_defaults = getattr(serde, "with_defaults", None)
        if with_defaults is None:
            return serde
        return with_defaults(resolve_serde(self.default_key_serde), resolve_serde(self.default_value_serde))

    def topic(self, name: str, *, internal: bool) -> str:
        """A topic's real name: internal topics carry the application's id."""
        return f"{self.application_id}-{name}" if internal else name
