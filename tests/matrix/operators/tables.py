from __future__ import annotations

from typing import Any

from penstock import KTable
from tests.matrix.catalog import Corner, operator
from tests.matrix.functions import add_value, append, group, number, take_value
from tests.matrix.operators.windows import HOPPING, SESSIONS, SLIDING, TUMBLING


@operator("rows", cached="rows")
def table(c: Corner) -> None:
    c.write(c.table())


@operator("rows", cached="rows")
def table_versioned(c: Corner) -> None:
    c.write(c.table(versioned=1000))


@operator(cached="rows")
def to_table(c: Corner) -> None:
    c.write(c.stream().to_table())


@operator(cached="rows")
def to_table_by_new_key(c: Corner) -> None:
    c.write(c.stream().select_key(group).to_table().filter(lambda v: v != "5"))


@operator("rows", cached="rows")
def table_filter(c: Corner) -> None:
    c.write(c.table().filter(lambda k, v: number(v) % 2 == 0).filter_not(lambda v: v == "4"))


@operator("rows", cached="rows")
def table_filter_stored(c: Corner) -> None:
    c.write(c.table().filter(lambda k, v: number(v) % 2 == 0, store="matrix-table-filter"))


@operator("rows", cached="rows")
def table_map_values(c: Corner) -> None:
    c.write(c.table().map_values(lambda k, v: f"{k}{v}"))


@operator("rows", cached="rows")
def table_map_values_stored(c: Corner) -> None:
    mapped = c.table().map_values(lambda v: None if number(v) % 3 == 0 else v, store="matrix-table-map-values")
    c.write(mapped.filter(lambda v: v != "1"))


class _Twice:
    def init(self, context: Any) -> None:
        self._task = context.task_id

    def transform(self, key: str, value: str | None) -> str | None:
        return None if value is None else f"{key}{value}{value}"

    def close(self) -> None:
        pass


@operator("rows", cached="rows")
def table_transform_values(c: Corner) -> None:
    c.write(c.table().transform_values(_Twice, store="matrix-transform-values"))


def _grouped(table: KTable[Any, Any]) -> Any:
    return table.group_by(lambda k, v: (group(v), f"{k}{v}"))


@operator("rows", cached="rows")
def table_group_count(c: Corner) -> None:
    c.write(_grouped(c.table()).count())


@operator("rows", cached="rows")
def table_group_aggregate(c: Corner) -> None:
    c.write(c.table().group_by(lambda k, v: (group(v), v)).aggregate("", _plus, _minus))


@operator("rows", cached="rows")
def table_group_reduce(c: Corner) -> None:
    grouped = c.table().group_by(lambda k, v: (group(v), v))
    c.write(grouped.reduce(lambda a, b: str(number(a) + number(b)), lambda a, b: str(number(a) - number(b))))


@operator("rows", cached="rows")
def table_group_of_versioned(c: Corner) -> None:
    c.write(_grouped(c.table(versioned=1000)).count())


@operator("rows", cached="nothing")
def table_group_history(c: Corner) -> None:
    c.write(_grouped(c.table()).aggregate("", add_value, take_value))


def _plus(value: str, aggregate: str) -> str:
    return str(number(aggregate or "0") + number(value))


def _minus(value: str, aggregate: str) -> str:
    return str(number(aggregate or "0") - number(value))


# ---- suppress


@operator()
def suppress_tumbling(c: Corner) -> None:
    c.write(c.stream().group_by_key().windowed_by(TUMBLING).count().suppress(until="window_closes"))


@operator()
def suppress_hopping_by_new_key(c: Corner) -> None:
    c.write(c.stream().group_by(group).windowed_by(HOPPING).reduce(append).suppress(until="window_closes"))


@operator()
def suppress_sliding(c: Corner) -> None:
    c.write(c.stream().group_by_key().windowed_by(SLIDING).count().suppress(until="window_closes"))


@operator()
def suppress_session(c: Corner) -> None:
    c.write(c.stream().group_by_key().windowed_by(SESSIONS).count().suppress(until="window_closes"))


@operator("rows", cached="nothing")
def suppress_for_a_while(c: Corner) -> None:
    c.write(c.table(store="matrix-suppressed").suppress(until=300))


@operator("rows", cached="nothing")
def suppress_a_few(c: Corner) -> None:
    c.write(c.stream().group_by_key().count().suppress(until=10_000, max_records=2))
