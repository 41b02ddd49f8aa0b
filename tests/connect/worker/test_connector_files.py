from __future__ import annotations

from pathlib import Path

import pytest

from penstock.connect.errors import ConfigError
from penstock.connect.requests.create_connector import CreateConnectorRequest, InitialState
from penstock.connect.worker.connector_files import read_connector_file


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"name": "c", "tasks.max": 1}', CreateConnectorRequest("c", {"name": "c", "tasks.max": "1"})),
        (
            '{"name": " c ", "config": {"topic": "t"}, "initial_state": "paused", "other": 1}',
            CreateConnectorRequest("c", {"topic": "t", "name": "c"}, InitialState.PAUSED),
        ),
        ('{"config": {"name": "c"}}', CreateConnectorRequest("c", {"name": "c"})),
        ("# local\nname=c\ntopic: t\n", CreateConnectorRequest("c", {"name": "c", "topic": "t"})),
    ],
)
def test_three_formats_are_read(tmp_path: Path, text: str, expected: CreateConnectorRequest) -> None:
    file = tmp_path / "connector"
    file.write_text(text)
    read = read_connector_file(file)
    assert (read.name, read.config, read.initial_state) == (expected.name, expected.config, expected.initial_state)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("topic=t\n", 'Missing required configuration "name"'),
        ("", 'Missing required configuration "name"'),
        ('{"tasks.max": "1"}', 'Missing required configuration "name"'),
        ('{"name": "c"', "looks like JSON, but is not"),
        ("[]", "holds no JSON object"),
        ('{"name": "c", "config": {"name": "d"}}', "doesn't match"),
        ('{"name": "c", "config": {"a": {}}}', "Cannot deserialize value of type `String` from Object value"),
        ('{"name": "c", "config": {}, "initial_state": "x"}', "Cannot construct instance"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "connector.json"
    file.write_text(text)
    with pytest.raises(ConfigError) as raised:
        read_connector_file(file)
    assert str(file) in str(raised.value)
    assert message in str(raised.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.json: No such file"):
        read_connector_file(tmp_path / "missing.json")
