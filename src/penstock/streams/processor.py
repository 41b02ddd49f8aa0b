"""Base classes of user processors."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from penstock.errors import StreamsError
from penstock.records import FixedKeyRecord, Record
from penstock.streams.processor_context import ProcessorContext

KIn = TypeVar("KIn")
VIn = TypeVar("VIn")
KOut = TypeVar("KOut")
VOut = TypeVar("VOut")


class Processor(Generic[KIn, VIn, KOut, VOut]):
    """Gets records one after the other and forwards any records. Each task makes its own instance."""

    def init(self, context: ProcessorContext) -> None:
        """Called once, before the first record."""

    def process(self, record: Record[KIn, VIn]) -> None:
        """Called for each record."""
        raise NotImplementedError(f"{type(self).__name__} has no process(record)")

    def close(self) -> None:
        """Called at the end, also after a failure."""


class ContextualProcessor(Processor[KIn, VIn, KOut, VOut]):
    """A processor that keeps its context as `self.context`."""

    _context: ProcessorContext | None = None

    def init(self, context: ProcessorContext) -> None:
        """Keep the context; call `super().init(context)` if you override it."""
        self._context = context

    @property
    def context(self) -> ProcessorContext:
        """What the processor may do: forward, reach stores, schedule."""
        return _given(self._context, self)


class FixedKeyProcessor(Generic[KIn, VIn, VOut]):
    """Gets records one after the other and forwards records with the same key."""

    def init(self, context: ProcessorContext) -> None:
        """Called once, before the first record."""

    def process(self, record: FixedKeyRecord[KIn, VIn]) -> None:
        """Called for each record."""
        raise NotImplementedError(f"{type(self).__name__} has no process(record)")

    def close(self) -> None:
        """Called at the end, also after a failure."""


class ContextualFixedKeyProcessor(FixedKeyProcessor[KIn, VIn, VOut]):
    """A fixed-key processor that keeps its context as `self.context`."""

    _context: ProcessorContext | None = None

    def init(self, context: ProcessorContext) -> None:
        """Keep the context; call `super().init(context)` if you override it."""
        self._context = context

    @property
    def context(self) -> ProcessorContext:
        """What the processor may do: forward, reach stores, schedule."""
        return _given(self._context, self)


class ProcessorWrapper:
    """Wraps the suppliers of user processors; named by `processor.wrapper.class`. Both methods give a supplier."""

    def wrap_processor(self, name: str, supplier: Any) -> Any:
        """Wrap the supplier of a processor."""
        return supplier

    def wrap_fixed_key_processor(self, name: str, supplier: Any) -> Any:
        """Wrap the supplier of a fixed-key processor."""
        return supplier


def _given(context: ProcessorContext | None, processor: object) -> ProcessorContext:
    if context is None:
        raise StreamsError(
            f"{type(processor).__name__} has no context",
            hint="It is there from init() on; if you override init, call super().init(context).",
        )
    return context
