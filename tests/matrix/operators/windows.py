from __future__ import annotations

from typing import Any

from penstock import SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows
from tests.matrix.catalog import Corner, operator
from tests.matrix.functions import add_value, append, group, merge_sessions, number, take_value

TUMBLING = TimeWindows(500, grace=300)
HOPPING = TimeWindows(500, advance=200, grace=300)
SLIDING = SlidingWindows(200, grace=300)
SESSIONS = SessionWindows(100, grace=300)
_WINDOWS: dict[str, Any] = {"tumbling": TUMBLING, "hopping": HOPPING, "sliding": SLIDING, "session": SESSIONS}


def _enter(name: str, windows: Any) -> None:
    @operator(name=f"{name}_count", cached="rows")
    def count(c: Corner) -> None:
        c.write(c.stream().group_by_key().windowed_by(windows).count())

    @operator(name=f"{name}_reduce_on_close")
    def reduce_on_close(c: Corner) -> None:
        c.write(c.stream().group_by_key().windowed_by(windows).reduce(append, emit="close"))

    @operator(name=f"{name}_aggregate", cached="rows")
    def aggregate(c: Corner) -> None:
        windowed = c.stream().group_by_key().windowed_by(windows)
        merger = [merge_sessions] if name == "session" else []
        c.write(windowed.aggregate("", add_value, *merger))

    @operator(name=f"{name}_cogroup", cached="rows", left="events", right="events")
    def cogroup(c: Corner) -> None:
        left, right = c.stream("left").group_by_key(), c.stream("right").group_by_key()
        both = left.cogroup(add_value).cogroup(right, take_value).windowed_by(windows)
        c.write(both.aggregate("", merge_sessions) if name == "session" else both.aggregate(""))


for _name, _windows in _WINDOWS.items():
    _enter(_name, _windows)


@operator(cached="rows")
def unlimited_count(c: Corner) -> None:
    c.write(c.stream().group_by_key().windowed_by(UnlimitedWindows.of().start_on(10_500)).count())


@operator(cached="rows")
def tumbling_by_new_key(c: Corner) -> None:
    c.write(c.stream().group_by(group).windowed_by(TUMBLING).aggregate("", add_value))


@operator()
def hopping_by_new_key_on_close(c: Corner) -> None:
    c.write(c.stream().group_by(group).windowed_by(HOPPING).count(emit="close"))


@operator(cached="rows")
def windows_grouped_again(c: Corner) -> None:
    sums = c.stream().group_by_key().windowed_by(TUMBLING).reduce(lambda a, b: str(number(a) + number(b)))
    by_start = sums.group_by(lambda k, v: (f"w{k.window.start}", v))
    c.write(by_start.aggregate("0", lambda v, a: str(number(a) + number(v)), lambda v, a: str(number(a) - number(v))))
