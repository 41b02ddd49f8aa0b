from __future__ import annotations

import logging
from typing import Any

import pytest

from penstock.connect.data import ConnectRecord, SinkRecord
from penstock.connect.errors import ConfigError
from penstock.connect.transforms import TRANSFORMS, TransformationChain, TransformationStage, configured_chain
from penstock.connect.transforms.predicates import Predicate
from penstock.connect.transforms.transformation import Apply, Transformation

SETTINGS = {
    "transforms": "rename, drop ,route",
    "transforms.rename.type": "org.apache.kafka.connect.transforms.ReplaceField$Value",
    "transforms.rename.renames": "a:b",
    "transforms.drop.type": "Filter",
    "transforms.drop.predicate": "tombstone",
    "transforms.route.type": "RegexRouter",
    "transforms.route.regex": "(.*)",
    "transforms.route.replacement": "x-$1",
    "transforms.route.predicate": "tombstone",
    "transforms.route.negate": "true",
    "predicates": "tombstone",
    "predicates.tombstone.type": "RecordIsTombstone",
}


def _applied(settings: dict[str, str], record: SinkRecord) -> ConnectRecord | None:
    apply = configured_chain(settings).compiled()
    assert apply is not None
    return apply(record)


def test_transforms_are_applied_in_order_under_their_conditions() -> None:
    after = _applied(SETTINGS, SinkRecord("t", value={"a": 1}))
    assert after is not None
    assert (after.topic, after.value) == ("x-t", {"b": 1})
    assert _applied(SETTINGS, SinkRecord("t", value=None)) is None


def test_a_condition_can_be_turned_round() -> None:
    kept = {**SETTINGS, "transforms.drop.negate": "true", "transforms.route.negate": "false"}
    assert _applied(kept, SinkRecord("t", value={"a": 1})) is None
    after = _applied(kept, SinkRecord("t", value=None))
    assert after is not None
    assert after.topic == "x-t"


def test_no_transforms_are_no_work() -> None:
    assert configured_chain({}).compiled() is None
    assert configured_chain({"transforms": " "}).stages == ()
    single = configured_chain({"transforms": "f", "transforms.f.type": "Filter"}).compiled()
    assert single is not None
    assert single(SinkRecord("t")) is None


def test_something_can_be_put_around_each_stage() -> None:
    seen: list[str] = []

    def around(stage: TransformationStage, apply: Apply) -> Apply:
        def noted(record: ConnectRecord) -> ConnectRecord | None:
            seen.append(stage.alias)
            return apply(record)

        return noted

    apply = configured_chain(SETTINGS).compiled(around)
    assert apply is not None
    apply(SinkRecord("t", value=None))
    assert seen == ["rename", "drop"]


def test_closing_a_chain_closes_everything() -> None:
    class Closed(Transformation):
        closed = False

        def apply(self, record: ConnectRecord) -> ConnectRecord | None:
            return record

        def close(self) -> None:
            self.closed = True

    transform = Closed()
    chain = TransformationChain((TransformationStage("a", transform), *configured_chain(SETTINGS).stages))
    chain.close()
    assert transform.closed


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"transforms.drop.type": "Fitler"}, r"Class Fitler could not be found. Did you mean Filter\?"),
        ({"transforms.drop.predicate": "tombstnoe"}, r"which is not declared. Did you mean tombstone\?"),
        ({"transforms.drop.predicate": "zzz"}, "Add it: predicates=zzz"),
        ({"transforms.rename.negate": "true"}, r"transforms.rename.predicate is not. Set both or neither"),
        ({"transforms": "a,a"}, "Duplicate alias provided"),
        ({"transforms": "a"}, 'Missing required configuration "transforms.a.type"'),
        ({"predicates": "p"}, 'Missing required configuration "predicates.p.type"'),
        ({"transforms.route.replacement": "$9"}, "transforms.route: Invalid value"),
        ({"transforms.route.negate": "maybe"}, "Expected value to be either true or false"),
    ],
)
def test_wrong_chains_say_what_to_do(changes: dict[str, str], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        configured_chain({**SETTINGS, **changes})


def test_errors_name_the_setting_as_it_was_written() -> None:
    with pytest.raises(ConfigError) as caught:
        configured_chain({**SETTINGS, "transforms.rename.renames": "a"})
    assert caught.value.key == "transforms.rename.renames"


def test_unknown_settings_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="penstock.connect"):
        configured_chain({**SETTINGS, "transforms.rename.rename": "a:b"})
    assert caplog.messages == [
        "transforms.rename: The setting rename is not known and has no effect; did you mean renames?"
    ]


def test_every_built_in_transform_can_be_found() -> None:
    assert len(list(TRANSFORMS)) == 26
    for plugin in TRANSFORMS:
        assert TRANSFORMS.find(plugin.java_name) is TRANSFORMS.find(plugin.simple_name)
        assert TRANSFORMS.find(plugin.java_name).__doc__


def test_transforms_of_users_are_python_classes() -> None:
    chain = configured_chain({"transforms": "f", "transforms.f.type": "penstock.connect.transforms.filter:Filter"})
    assert type(chain.stages[0].transformation).__name__ == "Filter"


class ByValue(Predicate):
    """As users write them: true or false is whatever Python takes for it."""

    def test(self, record: ConnectRecord) -> Any:
        return record.value


@pytest.mark.parametrize(("value", "is_true"), [(0, False), (1, True), ("", False), ("x", True), (None, False)])
def test_a_predicate_may_answer_with_anything(value: object, is_true: bool) -> None:
    record = SinkRecord("t", value=value)
    stages = [TransformationStage("f", TRANSFORMS.find("Filter")({}), ByValue({}), negate) for negate in (False, True)]
    assert [stage.apply(record) is None for stage in stages] == [is_true, not is_true]
