from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from penstock.errors import ConfigError
from penstock.runtime.settings import Settings

MAY = {"timestamp": 1_777_593_600_000}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"a": {0: 5, "1": "latest"}}, {"a": {"0": 5, "1": "latest"}}),
        ('{"a": {"0": 5}, "b": "earliest"}', {"a": {"0": 5}, "b": "earliest"}),
        ({"a": datetime(2026, 5, 1, tzinfo=timezone.utc)}, {"a": MAY}),
        ({"a": {3: "2026-05-01T02:00:00+02:00"}}, {"a": {"3": MAY}}),
        ({"a": "2026-05-01T00:00:00Z"}, {"a": MAY}),
    ],
)
def test_positions(given: Any, found: dict[str, Any]) -> None:
    assert Settings(penstock_start_offsets=given)["penstock.start.offsets"] == found


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("orders", "expected JSON such as"),
        (5, "expected a mapping of topics to positions"),
        ({"a": 5}, "a has an offset without a partition; write {'a': {0: 5}}"),
        ({"a": {"x": 1}}, "'x' is not a partition of a"),
        ({"a": {0: -1}}, "a starts at -1; expected an offset, earliest, latest or a time"),
        ({"a": {0: True}}, "a starts at True; expected"),
        ({"a": "then"}, "a starts at 'then'; expected"),
        ({"a": "2026-05-01T00:00:00"}, "a starts at 2026-05-01T00:00:00, which has no time zone"),
    ],
)
def test_what_is_not_a_position(given: Any, text: str) -> None:
    with pytest.raises(ConfigError) as raised:
        Settings(penstock_start_offsets=given)
    assert text in str(raised.value)
