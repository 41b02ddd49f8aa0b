from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints

import pytest

from penstock.connect.api import ExactlyOnceSupport, SourceConnector
from penstock.connect.errors import BadRequestError, ConfigError
from penstock.connect.validation import ConnectorKind
from penstock.connect.worker import connector_types
from penstock.connect.worker.connector_check import ConnectorCheck
from penstock.connect.worker.connector_types import InstalledConnectors
from penstock.connect.worker.plugin_listing import plugin_config, plugin_list
from penstock.connect.worker.worker_config import Mode, WorkerConfig
from tests.connect.worker.in_process import WORKER

FILE_SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"


class Careless(SourceConnector):
    """A source that may give a record twice."""

    @classmethod
    def exactly_once_support(cls, config: object) -> ExactlyOnceSupport:
        return ExactlyOnceSupport.UNSUPPORTED


CARELESS = f"{__name__}:Careless"


@pytest.mark.parametrize("name", [FILE_SOURCE, "FileStreamSourceConnector", "FileStreamSource"])
def test_connectors_have_their_java_names_and_short_ones(name: str) -> None:
    found = InstalledConnectors().find(name)
    assert (found.java_name, found.kind) == (FILE_SOURCE, ConnectorKind.SOURCE)
    assert "topic" in found.config


def test_classes_of_users_are_named_by_module() -> None:
    found = InstalledConnectors().find(CARELESS)
    assert (found.java_name, found.kind) == (CARELESS, ConnectorKind.SOURCE)
    assert not found.exactly_once({})
    with pytest.raises(ConfigError, match=r"could not be found\. Did you mean FileStreamSource\?"):
        InstalledConnectors().find("FileStreamSorce")


def test_what_is_installed_is_listed(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    group = "penstock.connectors"
    installed = EntryPoints([EntryPoint("broken.Connector", "no.such.module:Connector", group)])
    monkeypatch.setattr(connector_types, "entry_points", lambda group: installed)
    listed = plugin_list(InstalledConnectors())
    assert [one["type"] for one in listed] == sorted(one["type"] for one in listed)
    assert FILE_SOURCE in {one["class"] for one in listed}
    assert "The connector broken.Connector is left out" in caplog.text
    names = [key["name"] for key in plugin_config(InstalledConnectors(), "FileStreamSink")]
    assert names[0] == "file"
    assert {"topics", "errors.tolerance"} < set(names)


def check(**worker: str) -> ConnectorCheck:
    settings = {**WORKER, **{key.replace("_", "."): value for key, value in worker.items()}}
    return ConnectorCheck(WorkerConfig.parse(settings, Mode.STANDALONE), InstalledConnectors())


def errors(checker: ConnectorCheck, config: dict[str, str]) -> list[str]:
    infos = checker.infos(config)
    return [error for one in infos["configs"] for error in one["value"]["errors"]]


def test_a_source_that_insists_on_exactly_once() -> None:
    config = {"name": "c", "connector.class": CARELESS, "exactly.once.support": "Required"}
    assert errors(check(), config) == [
        "The connector does not support exactly-once semantics with the provided configuration."
    ]
    off = check(exactly_once_source_support="disabled")
    assert errors(off, config) == ["This worker does not have exactly-once source support enabled."]
    assert errors(off, {**config, "exactly.once.support": "requested"}) == []
    good = {"name": "c", "connector.class": FILE_SOURCE, "topic": "t", "exactly.once.support": "required"}
    assert errors(check(), good) == []


def test_a_class_with_several_names_is_listed_under_each() -> None:
    names = [one.java_name for one in InstalledConnectors()]
    assert len(names) == len(set(names))


def test_unknown_classes_are_refused_with_the_known_ones() -> None:
    with pytest.raises(BadRequestError, match=r"which name matches Nope, available connectors are: io\."):
        check().infos({"connector.class": "Nope"})
    assert check().kind({"connector.class": "Nope"}) == "unknown"
    assert check().version({"connector.class": "Nope"}) is None
    assert check().kind({"connector.class": "FileStreamSink"}) == "sink"
