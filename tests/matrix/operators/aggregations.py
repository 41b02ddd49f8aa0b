from __future__ import annotations

from penstock import fn, v
from tests.matrix.catalog import Corner, operator
from tests.matrix.functions import add_value, append, group, number, take_value


@operator(cached="rows")
def count(c: Corner) -> None:
    c.write(c.stream().group_by_key().count())


@operator(cached="rows")
def count_by_new_key(c: Corner) -> None:
    c.write(c.stream().group_by(group).count())


@operator(cached="rows")
def reduce(c: Corner) -> None:
    c.write(c.stream().group_by_key().reduce(append))


@operator("keyed", cached="rows")
def reduce_associative(c: Corner) -> None:
    sums = c.stream().group_by(group).reduce(lambda a, b: str(number(a) + number(b)), associative=True)
    c.write(sums)


@operator(cached="rows")
def aggregate(c: Corner) -> None:
    c.write(c.stream().group_by_key().aggregate("", add_value))


@operator(cached="rows")
def aggregate_to_null(c: Corner) -> None:
    def total(value: str, aggregate: str) -> str | None:
        summed = number(value) + number(aggregate)
        return None if summed % 3 == 0 else str(summed)

    c.write(c.stream().group_by_key().aggregate("1", total))


@operator(cached="rows")
def aggregate_by_new_key(c: Corner) -> None:
    c.write(c.stream().group_by(group).aggregate("", add_value))


@operator("json", cached="rows")
def expression_aggregates(c: Corner) -> None:
    grouped = c.stream(value_serde="json").group_by(v.name)
    stats = grouped.agg(n=fn.count(), least=fn.min(v.number), total=fn.sum(v.number))
    c.write(stats, value_serde="string")


@operator(cached="rows")
def two_aggregations_of_one_stream(c: Corner) -> None:
    grouped = c.stream().select_key(group).group_by_key()
    c.write(grouped.count().to_stream(lambda k, v: f"count {k}"))
    c.write(grouped.reduce(append).to_stream(lambda k, v: f"reduce {k}"))


@operator(left="events", right="events", cached="rows")
def cogroup(c: Corner) -> None:
    both = c.stream("left").group_by_key().cogroup(add_value).cogroup(c.stream("right").group_by_key(), take_value)
    c.write(both.aggregate(""))


@operator(left="events", right="events", cached="rows")
def cogroup_by_new_key(c: Corner) -> None:
    left = c.stream("left").group_by(group)
    c.write(left.cogroup(add_value).cogroup(c.stream("right").group_by_key(), take_value).aggregate(""))
