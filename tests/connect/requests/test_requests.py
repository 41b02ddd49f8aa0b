from __future__ import annotations

import pytest

from penstock.connect.errors import BadRequestError, MalformedRequestError
from penstock.connect.requests.connector_offsets import (
    ConnectorOffset,
    parse_alter_offsets,
    require_stopped,
    sink_offsets,
    sink_offsets_answer,
    source_offsets,
)
from penstock.connect.requests.create_connector import (
    CreateConnectorRequest,
    InitialState,
    parse_config,
    parse_create_request,
    patched_config,
)


def test_a_connector_is_created_with_texts() -> None:
    request = parse_create_request('{"name": " c\\n", "config": {"a": 1, "b": true, "c": 1.5, "d": null, "e": "x"}}')
    assert request == CreateConnectorRequest("c", {"a": "1", "b": "true", "c": "1.5", "d": None, "e": "x", "name": "c"})
    stopped = parse_create_request('{"name": "c", "config": {}, "initial_state": "stopped"}')
    assert stopped.initial_state is InitialState.STOPPED
    assert [state.target_state for state in InitialState] == ["STARTED", "PAUSED", "STOPPED"]
    assert parse_create_request('{"name": null, "config": null}') == CreateConnectorRequest("", {"name": ""})


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", "Cannot deserialize value"),
        ("[]", "Cannot deserialize value of type `Object` from Array value"),
        ('{"name": "c", "config": {}, "x": 1}', 'Unrecognized field "x"'),
        ('{"name": 5, "config": {}}', "Cannot deserialize value of type `String` from Integer value"),
        ('{"name": "c", "config": []}', "Cannot deserialize value"),
        (
            '{"name": "c", "config": {"a": {}}}',
            r"Cannot deserialize value of type `String` from Object value \(config.a\)",
        ),
        ('{"name": "c", "config": {"a": [1]}}', "Cannot deserialize value"),
        ('{"name": "c", "config": {}, "initial_state": "resting"}', "Cannot construct instance"),
        ('{"name": "c", "config": {}, "initial_state": 1}', "Cannot deserialize value"),
    ],
)
def test_bodies_of_another_shape(body: str, reason: str) -> None:
    with pytest.raises(MalformedRequestError, match=reason) as caught:
        parse_create_request(body)
    assert caught.value.status == 500


def test_a_connector_has_one_name() -> None:
    assert parse_config("c", '{"a": "1"}') == {"a": "1", "name": "c"}
    with pytest.raises(
        BadRequestError, match=r"configuration \(d\) doesn't match connector name in the URL \(c\)"
    ) as caught:
        parse_config("c", '{"name": "d"}')
    assert caught.value.status == 400
    with pytest.raises(BadRequestError, match="doesn't match"):
        parse_create_request('{"name": "c", "config": {"name": "d"}}')


def test_a_patch_changes_adds_and_removes() -> None:
    stored = {"name": "c", "a": "1", "b": "2"}
    assert patched_config("c", stored, '{"a": 5, "b": null, "n": "x"}') == {"name": "c", "a": "5", "n": "x"}
    with pytest.raises(BadRequestError, match="doesn't match"):
        patched_config("c", stored, '{"name": "d"}')


def test_offsets_of_sinks() -> None:
    body = (
        '{"offsets": [{"partition": {"kafka_topic": "t", "kafka_partition": "1"}, "offset": {"kafka_offset": 5}},'
        '{"partition": {"kafka_topic": "t", "kafka_partition": 2}, "offset": null}]}'
    )
    assert sink_offsets(parse_alter_offsets(body)) == {("t", 1): 5, ("t", 2): None}
    assert sink_offsets_answer({("t", 1): 5}) == {
        "offsets": [{"partition": {"kafka_topic": "t", "kafka_partition": 1}, "offset": {"kafka_offset": 5}}]
    }


@pytest.mark.parametrize(
    ("partition", "offset", "reason"),
    [
        (None, None, "cannot be null or missing"),
        ({"kafka_topic": "t"}, None, "must contain the keys 'kafka_topic' and 'kafka_partition'"),
        ({"kafka_topic": None, "kafka_partition": 1}, None, "Kafka topic names must be valid strings"),
        (
            {"kafka_topic": "t", "kafka_partition": "x"},
            None,
            "Partition values for sink connectors need to be integers",
        ),
        ({"kafka_topic": "t", "kafka_partition": 1}, {}, "should either be null or contain the key 'kafka_offset'"),
        (
            {"kafka_topic": "t", "kafka_partition": 1},
            {"kafka_offset": 1.5},
            "Offset values for sink connectors need to be integers",
        ),
    ],
)
def test_offsets_no_sink_has(
    partition: dict[str, object] | None, offset: dict[str, object] | None, reason: str
) -> None:
    with pytest.raises(BadRequestError, match=reason):
        sink_offsets([ConnectorOffset(partition, offset)])


def test_offsets_of_sources() -> None:
    offsets = parse_alter_offsets('{"offsets": [{"partition": {"file": "a"}, "offset": {"position": 1}}]}')
    assert source_offsets(offsets) == [ConnectorOffset({"file": "a"}, {"position": 1})]
    with pytest.raises(BadRequestError, match="may only contain primitive values, but p is not one"):
        source_offsets([ConnectorOffset({"file": "a"}, {"p": [1]})])


@pytest.mark.parametrize(
    ("body", "error", "reason"),
    [
        ("{}", BadRequestError, "Partitions / offsets need to be provided"),
        ('{"offsets": null}', BadRequestError, "need to be provided"),
        ('{"offsets": []}', BadRequestError, "need to be provided"),
        ('{"offsets": {}}', MalformedRequestError, "Cannot deserialize value"),
        ('{"offsets": "x"}', MalformedRequestError, "Cannot deserialize value"),
        ('{"offsets": [1]}', MalformedRequestError, "Cannot deserialize value"),
        ('{"offsets": [{"partition": 1}]}', MalformedRequestError, "Cannot deserialize value"),
        ('{"offsets": [{"key": 1}]}', MalformedRequestError, 'Unrecognized field "key"'),
        ('{"x": 1}', MalformedRequestError, 'Unrecognized field "x"'),
    ],
)
def test_bodies_without_offsets(body: str, error: type[Exception], reason: str) -> None:
    with pytest.raises(error, match=reason):
        parse_alter_offsets(body)


def test_offsets_change_only_while_a_connector_is_stopped() -> None:
    require_stopped("c", "STOPPED")
    with pytest.raises(BadRequestError, match=r"must be in the STOPPED state .* '/connectors/c/stop' endpoint"):
        require_stopped("c", "PAUSED")
