"""Joins of a stream with streams, tables and global tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock.durations import Duration
from penstock.errors import TopologyError
from penstock.functions import GLOBAL_JOINER, JOINER, MAPPER, function
from penstock.source_line import user_line
from penstock.streams.global_ktable import GlobalKTable
from penstock.streams.joined import Joined, StreamJoined
from penstock.streams.parameters import Named, SerdeLike
from penstock.streams.settings import Settings, gather
from penstock.streams.stream_base import K, StreamBase, V
from penstock.streams.stream_stream_join import join_windows, stream_stream_join
from penstock.streams.stream_table_join import stream_table_join
from penstock.streams.table_base import TableBase
from penstock.streams.table_joins import pair
from penstock.topology.graph import OperatorNode
from penstock.topology.operators import StreamGlobalJoin
from penstock.topology.views import StoreView
from penstock.windows import JoinWindows

if TYPE_CHECKING:
    from penstock.expr import Expression
    from penstock.streams.kstream import KStream

_PARAMETERS = (Joined, StreamJoined, Named)


class JoinOperators(StreamBase[K, V]):
    """The part of KStream that joins."""

    __slots__ = ()

    def join(
        self,
        other: Any,
        joiner: Callable[..., Any] | JoinWindows | Joined | StreamJoined | Named | None = None,
        windows: JoinWindows | Joined | StreamJoined | Named | None = None,
        *parameters: Joined | StreamJoined | Named,
        within: Duration | None = None,
        before: Duration | None = None,
        after: Duration | None = None,
        grace: Duration | None = None,
        on: Callable[..., Any] | Expression | None = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        other_value_serde: SerdeLike = None,
        store: Any = None,
        logging: Any = None,
        name: str | None = None,
    ) -> KStream[K, Any]:
        """Pair the records of this stream with those of another stream, or with the rows of a table.

        Args:
            other: A stream (needs a window), a table, or a global table (needs `on`).
            joiner: Function of (left, right) or (key, left, right); gives `(left, right)` if left out. With a global
                table also (stream_key, key, left, right).
            windows: How far apart records of two streams may be, in place of `within`, `before` and `after`.
            parameters: `StreamJoined` for streams, `Joined` for tables, `Named`.
            within: Records of the two streams may be that far apart.
            before: The other record may be that much older; `within` by default.
            after: The other record may be that much newer; `within` by default.
            grace: Streams: how long unmatched records wait beyond the window. Tables: how long records wait, in time
                order, for the rows of a versioned table.
            on: Key to look up in a global table: function of (value) or (key, value), or an expression.
            key_serde: Serde of keys; the stream's own by default.
            value_serde: Serde of this stream's values; the stream's own by default.
            other_value_serde: Serde of the other side's values; its own by default.
            store: Base name of the two stores of a stream-stream join.
            logging: Whether those stores have changelogs, or settings of their topics.
            name: Name of the operator.
        """
        line = user_line()
        options = {"grace": grace, "key_serde": key_serde, "value_serde": value_serde}
        options |= {"other_value_serde": other_value_serde, "store": store, "logging": logging, "name": name}
        settings, given = _settings("join", joiner, windows, parameters, line, options)
        return self._join("inner", other, settings, given, (within, before, after), on)

    def left_join(
        self,
        other: Any,
        joiner: Callable[..., Any] | JoinWindows | Joined | StreamJoined | Named | None = None,
        windows: JoinWindows | Joined | StreamJoined | Named | None = None,
        *parameters: Joined | StreamJoined | Named,
        within: Duration | None = None,
        before: Duration | None = None,
        after: Duration | None = None,
        grace: Duration | None = None,
        on: Callable[..., Any] | Expression | None = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        other_value_serde: SerdeLike = None,
        store: Any = None,
        logging: Any = None,
        name: str | None = None,
    ) -> KStream[K, Any]:
        """As `join`, with a result for every record of this stream; the right value is None where there is none."""
        line = user_line()
        options = {"grace": grace, "key_serde": key_serde, "value_serde": value_serde}
        options |= {"other_value_serde": other_value_serde, "store": store, "logging": logging, "name": name}
        settings, given = _settings("left_join", joiner, windows, parameters, line, options)
        return self._join("left", other, settings, given, (within, before, after), on)

    def outer_join(
        self,
        other: Any,
        joiner: Callable[..., Any] | JoinWindows | StreamJoined | Named | None = None,
        windows: JoinWindows | StreamJoined | Named | None = None,
        *parameters: StreamJoined | Named,
        within: Duration | None = None,
        before: Duration | None = None,
        after: Duration | None = None,
        grace: Duration | None = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        other_value_serde: SerdeLike = None,
        store: Any = None,
        logging: Any = None,
        name: str | None = None,
    ) -> KStream[K, Any]:
        """As `join` of two streams, with a result for every record of either one."""
        line = user_line()
        if isinstance(other, (TableBase, GlobalKTable)):
            raise TopologyError(
                "a stream has no outer join with a table",
                line=line,
                hint="Only stream records give results there: use left_join, or make the stream a table (to_table).",
            )
        options = {"grace": grace, "key_serde": key_serde, "value_serde": value_serde}
        options |= {"other_value_serde": other_value_serde, "store": store, "logging": logging, "name": name}
        settings, given = _settings("outer_join", joiner, windows, parameters, line, options)
        return self._join("outer", other, settings, given, (within, before, after), None)

    def _join(
        self,
        kind: str,
        other: Any,
        settings: Settings,
        given: tuple[Any, JoinWindows | None],
        spans: tuple[Duration | None, Duration | None, Duration | None],
        on: Any,
    ) -> KStream[Any, Any]:
        joiner, windows = given
        line, what = settings.line, _WHAT[kind]
        if isinstance(other, StreamBase):
            _refuse(on is not None, f"{what} of two streams was given on=", "Records of two streams join by key.", line)
            span = join_windows(what, windows, spans, settings)
            return stream_stream_join(self, other, kind, span, _joiner(joiner, what, line), settings)
        windowed = windows is not None or any(span is not None for span in spans)
        _refuse(windowed, f"{what} with a table was given a window", "Only joins of two streams have windows.", line)
        _refuse(
            settings.store is not None, f"{what} with a table was given store=", "It keeps no stream records.", line
        )
        if isinstance(other, GlobalKTable):
            return self._global_join(what, kind, other, joiner, on, settings)
        if isinstance(other, TableBase):
            _refuse(
                on is not None, f"{what} with a KTable was given on=", "Use a global table, or select_key first.", line
            )
            return stream_table_join(self, other, kind, _joiner(joiner, what, line), settings)
        raise TopologyError(
            f"{what} was given {other!r}", line=line, hint="Give a KStream, a KTable or a GlobalKTable."
        )

    def _global_join(
        self, what: str, kind: str, table: GlobalKTable[Any, Any], joiner: Any, on: Any, settings: Settings
    ) -> KStream[Any, Any]:
        line = settings.line
        _refuse(
            settings.grace is not None,
            f"{what} with a global table was given grace=",
            "It has no notion of time.",
            line,
        )
        _refuse(on is None, f"{what} with a global table needs on=", "Say which key to look up: on=v.user_id.", line)
        if table._graph is not self._graph:  # noqa: SLF001 - one builder for both
            raise TopologyError(
                f"{what} was given a global table of another builder",
                line=line,
                hint="Build one topology with one StreamsBuilder.",
            )
        operator = StreamGlobalJoin(
            kind == "left",
            StoreView(table._store),  # noqa: SLF001
            function(on, MAPPER, f"the key selector of {what} (on=)", line=line),
            function(pair if joiner is None else joiner, GLOBAL_JOINER, f"the joiner of {what}", line=line),
        )
        # Kafka calls both kinds of join with a global table by this name.
        name = self._graph.names.given_or_node(settings.name, "KSTREAM-LEFTJOIN-")
        node = OperatorNode(name, operator, line=line)
        node.keeps_null_keys = kind == "left"
        return self._append(node, value_serde=None)


_WHAT = {"inner": "join", "left": "left_join", "outer": "outer_join"}


def _settings(
    what: str, joiner: Any, windows: Any, parameters: tuple[Any, ...], line: str | None, keywords: dict[str, Any]
) -> tuple[Settings, tuple[Any, JoinWindows | None]]:
    """The options of a join, and its joiner and windows, which may stand in each other's place."""
    positional = [joiner, windows, *parameters]
    found = [p for p in positional if isinstance(p, JoinWindows)]
    objects = [p for p in positional if isinstance(p, _PARAMETERS)]
    rest = [p for p in positional if p is not None and not isinstance(p, (JoinWindows, *_PARAMETERS))]
    if len(found) > 1:
        raise TopologyError(f"{what} was given two windows", line=line, hint="Keep one of them.")
    unknown = rest if joiner is None or isinstance(joiner, (JoinWindows, *_PARAMETERS)) else rest[1:]
    settings = gather(what, [*objects, *unknown], _PARAMETERS, line, **keywords)
    return settings, (rest[0] if rest and not unknown else None, found[0] if found else None)


def _joiner(given: Any, what: str, line: str | None) -> Any:
    return function(pair if given is None else given, JOINER, f"the joiner of {what}", line=line)


def _refuse(wrong: bool, message: str, hint: str, line: str | None) -> None:  # noqa: FBT001 - a condition
    if wrong:
        raise TopologyError(message, line=line, hint=hint)
