"""Chains of transforms, as connector configurations declare them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from penstock.connect.config import nearest
from penstock.connect.config.config_key import ConfigType, parse_type
from penstock.connect.data import ConnectRecord
from penstock.connect.errors import ConfigError, missing_value
from penstock.connect.plugins import subset
from penstock.connect.transforms.predicates.predicate import Predicate
from penstock.connect.transforms.registry import PREDICATES, TRANSFORMS
from penstock.connect.transforms.transformation import Apply, Transformation

P = TypeVar("P", Predicate, Transformation)
STAGE_KEYS = ("type", "predicate", "negate", "plugin.version")


@dataclass(frozen=True, slots=True)
class TransformationStage:
    """A transform, and the condition under which it is applied.

    Attributes:
        alias: Name in the configuration.
        transformation: The transform.
        predicate: The condition; None is always.
        negate: Whether the condition is turned round.
    """

    alias: str
    transformation: Transformation
    predicate: Predicate | None = None
    negate: bool = False

    @property
    def apply(self) -> Apply:
        """The stage as one function."""
        change = self.transformation.compiled()
        if self.predicate is None:
            return change
        test, unwanted = self.predicate.test, self.negate

        def conditional(record: ConnectRecord) -> ConnectRecord | None:
            return record if bool(test(record)) is unwanted else change(record)

        return conditional

    def close(self) -> None:
        """Closes transform and predicate."""
        self.transformation.close()
        if self.predicate is not None:
            self.predicate.close()


@dataclass(frozen=True, slots=True)
class TransformationChain:
    """Transforms in order. A transform that drops a record ends the chain for it."""

    stages: tuple[TransformationStage, ...] = ()

    def compiled(
        self, around: Callable[[TransformationStage, Apply], Apply] | None = None
    ) -> Callable[[ConnectRecord], ConnectRecord | None] | None:
        """The chain as one function; None if there is nothing to do.

        Args:
            around: Puts something around each stage, such as error handling.
        """
        steps = [stage.apply if around is None else around(stage, stage.apply) for stage in self.stages]
        if not steps:
            return None
        if len(steps) == 1:
            return steps[0]

        def apply(record: ConnectRecord) -> ConnectRecord | None:
            current: ConnectRecord | None = record
            for step in steps:
                current = step(current)  # type: ignore[arg-type]  # the loop ends with None
                if current is None:
                    return None
            return current

        return apply

    def close(self) -> None:
        """Closes all stages."""
        for stage in self.stages:
            stage.close()


def configured_chain(settings: Mapping[str, Any]) -> TransformationChain:
    """The chain that `transforms` and `predicates` of a connector declare.

    Raises:
        ConfigError: A class is missing, a setting cannot be used, or a predicate is not declared.
    """
    predicates = {alias: _predicate(settings, alias) for alias in aliases(settings, "predicates")}
    stages = [_stage(settings, alias, predicates) for alias in aliases(settings, "transforms")]
    return TransformationChain(tuple(stages))


def aliases(settings: Mapping[str, Any], key: str) -> Sequence[str]:
    """The names `transforms` or `predicates` lists.

    Raises:
        ConfigError: A name comes twice.
    """
    names: list[str] = parse_type(key, settings.get(key, ""), ConfigType.LIST) or []
    if len(set(names)) != len(names):
        raise ConfigError(
            f"Invalid value [{', '.join(names)}] for configuration {key}: Duplicate alias provided.", key=key
        )
    return names


def _predicate(settings: Mapping[str, Any], alias: str) -> Predicate:
    prefix = f"predicates.{alias}."
    own = subset(settings, prefix)
    if "type" not in own:
        raise missing_value(f"{prefix}type")
    return _built(PREDICATES.find(own.pop("type").strip()), own, prefix)


def _stage(settings: Mapping[str, Any], alias: str, predicates: Mapping[str, Predicate]) -> TransformationStage:
    prefix = f"transforms.{alias}."
    own = subset(settings, prefix)
    if "type" not in own:
        raise missing_value(f"{prefix}type")
    condition = own.get("predicate", "").strip()
    if condition and condition not in predicates:
        near = nearest(condition, predicates)
        raise ConfigError(
            f"Transform {alias} asks for the predicate {condition}, which is not declared",
            key=f"{prefix}predicate",
            hint=f"Did you mean {near}?" if near else f"Add it: predicates={condition}.",
        )
    negate = parse_type(f"{prefix}negate", own.get("negate", "false"), ConfigType.BOOLEAN)
    if "negate" in own and not condition:
        raise ConfigError(
            f"{prefix}negate is set, but {prefix}predicate is not", key=f"{prefix}type", hint="Set both or neither."
        )
    found = TRANSFORMS.find(own["type"].strip())
    configured = {name: value for name, value in own.items() if name not in STAGE_KEYS}
    transformation = _built(found, configured, prefix)
    return TransformationStage(alias, transformation, predicates.get(condition), negate)


def _built(found: type[P], settings: Mapping[str, Any], prefix: str) -> P:
    """An object of a class; errors name the settings as the user wrote them."""
    found.CONFIG.warn_unknown((name for name in settings if name != "type"), prefix.rstrip("."))
    try:
        return found(settings)
    except ConfigError as error:
        key = f"{prefix}{error.key}" if error.key else None
        raise ConfigError(f"{prefix.rstrip('.')}: {error.message}", key=key, hint=error.hint) from error
