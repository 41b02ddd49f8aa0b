from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import ConfigError
from penstock.handlers import LogAndContinueExceptionHandler
from penstock.runtime.setting_table import NO_EFFECT, NOT_YET, OLD_NAMES, SETTINGS
from penstock.runtime.settings import Settings
from penstock.runtime.settings_page import settings_page

DOCS = Path(__file__).parents[2] / "docs"


def message(given: Mapping[str, Any] | None = None, /, **keywords: Any) -> str:
    with pytest.raises(ConfigError) as raised:
        Settings(given, **keywords)
    return str(raised.value)


def test_keys_and_keywords_mean_the_same() -> None:
    by_key = Settings({"application.id": "app", "commit.interval.ms": 50, "consumer.auto.offset.reset": "latest"})
    by_keyword = Settings(application_id="app", commit_interval_ms=50, consumer_auto_offset_reset="latest")
    assert dict(by_key) == dict(by_keyword)


def test_what_is_not_given_has_its_default_and_none_counts_as_not_given() -> None:
    settings = Settings({"commit.interval.ms": None})
    assert settings["commit.interval.ms"] == 100
    assert settings["default.key.serde"] == "string"
    assert not settings.exactly_once
    assert set(settings) == set(SETTINGS)
    assert len(settings) == len(SETTINGS)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"aplication.id": "x"}, "unknown setting 'aplication.id'. Did you mean 'application.id'?"),
        ({"auto.offset.reset": "latest"}, "unknown setting 'auto.offset.reset'. Did you mean 'consumer.auto.offset.reset'?"),
        ({"penstock.slot": 2}, "unknown setting 'penstock.slot'. Did you mean 'penstock.slots'?"),
        ({"qqq": 1}, "unknown setting 'qqq'. See docs/settings.md for all settings."),
    ],
)  # fmt: skip
def test_an_unknown_key_is_refused_with_the_nearest_known_one(given: dict[str, Any], text: str) -> None:
    assert message(given) == text


def test_an_unknown_keyword_is_answered_in_the_form_it_was_given() -> None:
    assert message(aplication_id="x") == "unknown setting 'aplication_id'. Did you mean 'application_id'?"


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("commit.interval.ms", "soon", 'expected milliseconds, or a duration such as "30s"'),
        ("commit.interval.ms", 1.5, "expected a whole number"),
        ("commit.interval.ms", -1, "expected 0 or more milliseconds"),
        ("commit.interval.ms", True, "expected a whole number"),
        ("statestore.cache.max.bytes", -1, "expected 0 or more"),
        ("penstock.metrics.port", 65536, "expected 65535 or less"),
        ("processing.guarantee", "exactly_once", "expected one of at_least_once, exactly_once_v2"),
        ("ensure.explicit.internal.resource.naming", "yes", "expected true or false"),
        ("ensure.explicit.internal.resource.naming", 1, "expected true or false"),
        ("application.id", 7, "expected text"),
        ("topology.optimization", "some", "Give all, none, or some of: reuse.ktable.source.topics, merge.repartition"),
        ("dsl.store.format", "PLAIN", "expected one of DEFAULT, HEADERS"),
    ],
)
def test_a_bad_value_is_named_with_what_was_expected(key: str, value: Any, expected: str) -> None:
    text = message({key: value})
    assert text.startswith(f"the setting {key} is {value!r}: {expected}")
    assert text.endswith(SETTINGS[key].doc)


@pytest.mark.parametrize(
    ("key", "value", "taken"),
    [
        ("commit.interval.ms", "250", 250),
        ("commit.interval.ms", "2s", 2000),
        ("task.timeout.ms", timedelta(minutes=1), 60000),
        ("max.task.idle.ms", -1, -1),
        ("processing.exception.handler.global.enabled", "True", True),
        ("state.dir", Path("state"), "state"),
        ("bootstrap.servers", ["a:1", "b:2"], "a:1,b:2"),
        ("topology.optimization", "all", "all"),
    ],
)
def test_values_are_converted(key: str, value: Any, taken: Any) -> None:
    assert Settings({key: value})[key] == taken


def test_a_setting_given_twice_is_refused() -> None:
    assert message({"application.id": "a"}, application_id="b") == (
        "the setting application.id is given as application.id and as application_id. Keep one of the two."
    )
    assert message({"cache.max.bytes.buffering": 0, "statestore.cache.max.bytes": 0}) == (
        "the setting statestore.cache.max.bytes is given as cache.max.bytes.buffering and as "
        "statestore.cache.max.bytes. Keep one of the two."
    )


@pytest.mark.parametrize("old", OLD_NAMES)
def test_old_names_are_understood(old: str) -> None:
    assert Settings({old: 0 if "bytes" in old else "x"}).given.keys() == {OLD_NAMES[old]}


@pytest.mark.parametrize("key", [*sorted(NO_EFFECT), "rack.aware.assignment.tags", "restore.consumer.fetch.max.bytes"])
def test_settings_without_effect_are_accepted_and_said(key: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="penstock.settings"):
        assert Settings({key: 3})[key] == 3
    assert caplog.messages == [f"the setting {key} has no effect here: Spark does what it steers"]


@pytest.mark.parametrize("key", sorted(NOT_YET))
def test_settings_of_what_is_not_there_yet_are_accepted_and_said(key: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="penstock.settings"):
        assert Settings({key: "x"})[key] == "x"
    assert caplog.messages == [f"the setting {key} has no effect yet"]


@pytest.mark.parametrize(
    "folder",
    ["here", "/data/12:30", "file:/x", "file:///x", "s3://b/x?region=eu-west-1", "hdfs:///x", Path("/x"), "C:\\x"],
)
def test_places_a_checkpoint_may_have(folder: Any) -> None:
    assert Settings({"penstock.checkpoint": folder})["penstock.checkpoint"] == str(folder)


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("foo://bar", "a path, or a URI with file, s3, gs, gcs, hdfs, viewfs, abfs or abfss before the ://."),
        ("s3a://b/x", "a path, or a URI with file, s3, gs,"),
        ("s3:/bar", "s3://BUCKET-OR-HOST/FOLDER."),
        ("s3://", "s3://BUCKET-OR-HOST/FOLDER."),
    ],
)
def test_places_it_may_not_have_are_refused_before_anything_starts(folder: str, expected: str) -> None:
    text = message({"penstock.checkpoint": folder})
    assert text.startswith(f"the setting penstock.checkpoint is {folder!r}: expected {expected}")
    assert "Folder of the checkpoint (a path or a URI such as `s3://bucket/app`)" in text


def test_a_missing_setting_says_how_to_give_it() -> None:
    with pytest.raises(ConfigError) as raised:
        Settings().required("bootstrap.servers")
    assert str(raised.value) == (
        "the setting bootstrap.servers is missing. Give it as bootstrap_servers=... or in the mapping as "
        "'bootstrap.servers'. host:port list of the Kafka brokers."
    )


def test_client_settings_by_prefix_the_last_prefix_first_in_rank() -> None:
    settings = Settings(
        {
            "security.protocol": "SSL",
            "client.id": "mine",
            "consumer.fetch.max.bytes": 1,
            "main.consumer.fetch.max.bytes": 2,
            "consumer.client.id": "reader",
            "producer.linger.ms": 9,
            "reconnect.backoff.ms": 50,
        }
    )
    assert settings.with_prefix("consumer.", "main.consumer.") == {
        "security.protocol": "SSL",
        "client.id": "reader",
        "fetch.max.bytes": 2,
        "reconnect.backoff.ms": 50,
    }
    assert settings.with_prefix("producer.")["linger.ms"] == 9


def test_prefixes_pass_any_key() -> None:
    given = {"spark.anything.at.all": "1", "topic.retention.ms": 5, "app.threshold": 3}
    assert Settings(given).given == given


def test_tasks_get_handlers_and_serdes() -> None:
    config = Settings(
        application_id="app",
        deserialization_exception_handler="org.apache.kafka.streams.errors.LogAndContinueExceptionHandler",
        errors_dead_letter_queue_topic_name="dead",
        statestore_cache_max_bytes=0,
    ).task_config(state_dir="there")
    assert isinstance(config.deserialization_handler, LogAndContinueExceptionHandler)
    assert (config.dead_letter_topic, config.caching, config.state_dir) == ("dead", False, "there")
    assert config.app_configs["application.id"] == "app"


def test_a_handler_that_cannot_be_imported_is_named() -> None:
    with pytest.raises(
        ConfigError, match=r"production.exception.handler is 'no.such.Handler', which cannot be imported"
    ):
        Settings(production_exception_handler="no.such.Handler").task_config()


def test_the_page_in_the_docs_is_current() -> None:
    assert (DOCS / "settings.md").read_text(encoding="utf-8") == settings_page(), (
        "run: python -m penstock.runtime.settings_page > docs/settings.md"
    )


@pytest.mark.parametrize("name", ["a/b", "..", "shop orders", "größe", "a" * 201])
def test_names_of_applications_are_those_of_topics_and_folders(name: str) -> None:
    with pytest.raises(ConfigError, match=r"the setting application.id is .*: expected letters, digits"):
        Settings({"application.id": name})


def test_a_suggestion_is_written_as_the_setting_was_given() -> None:
    with pytest.raises(ConfigError, match=r"unknown setting 'application_id'. Did you mean 'application.id'\?"):
        Settings({"application_id": "x"})
    with pytest.raises(ConfigError, match=r"unknown setting 'applicationid'. Did you mean 'application_id'\?"):
        Settings(applicationid="x")


def test_default_serdes_are_looked_up_at_once() -> None:
    with pytest.raises(
        ConfigError, match=r'default.value.serde is \'jsn\': no serde is called "jsn". Did you mean "json"'
    ):
        Settings({"default.value.serde": "jsn"})


def test_the_handler_that_was_meant() -> None:
    settings = Settings({"processing.exception.handler": "LogAndContinueProcesingExceptionHandler"})
    with pytest.raises(
        ConfigError, match=r"no handler of penstock. Did you mean LogAndContinueProcessingExceptionHandler"
    ):
        settings.task_config()
    settings = Settings({"processing.exception.handler": "ignore"})
    with pytest.raises(ConfigError, match=r"no handler of penstock. Give a dotted name or one of LogAndFail"):
        settings.task_config()
