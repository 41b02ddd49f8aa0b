from __future__ import annotations

import logging
from pathlib import Path

import pytest

from penstock.connect.config import config_table
from penstock.connect.errors import ConfigError
from penstock.connect.worker.listener import Listener
from penstock.connect.worker.worker_config import Mode, WorkerConfig, read_worker_config
from tests.connect.worker.in_process import WORKER

DISTRIBUTED = {
    **WORKER,
    "group.id": "connect-cluster",
    "config.storage.topic": "configs",
    "offset.storage.topic": "offsets",
    "status.storage.topic": "statuses",
}


def test_kafkas_own_standalone_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "connect-standalone.properties"
    file.write_text(
        "# comment\nbootstrap.servers=localhost:9092\n"
        "key.converter=org.apache.kafka.connect.json.JsonConverter\n"
        "value.converter=org.apache.kafka.connect.json.JsonConverter\n"
        "key.converter.schemas.enable=true\nvalue.converter.schemas.enable=true\n"
        "offset.storage.file.filename=/tmp/connect.offsets\noffset.flush.interval.ms=10000\n#plugin.path=\n"
    )
    config = read_worker_config(file, Mode.STANDALONE)
    assert config.listeners == [Listener("http", "", 8083)]
    assert config.admin_listeners is None
    assert config.state_dir == Path("/tmp/connect.offsets.d")
    assert config.group_id is None


def test_a_distributed_worker_has_a_group_and_topics() -> None:
    config = WorkerConfig.parse(DISTRIBUTED, Mode.DISTRIBUTED)
    assert (config.group_id, config.values["offset.storage.partitions"]) == ("connect-cluster", 25)
    elsewhere = WorkerConfig.parse({**WORKER, "state.dir": "/data"}, Mode.STANDALONE)
    assert elsewhere.state_dir == Path("/data")
    for key in ("group.id", "config.storage.topic", "offset.storage.topic", "status.storage.topic"):
        without = {name: value for name, value in DISTRIBUTED.items() if name != key}
        with pytest.raises(ConfigError, match=f'Missing required configuration "{key}"'):
            WorkerConfig.parse(without, Mode.DISTRIBUTED)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"listeners": "ftp://:1"}, "Invalid value ftp://:1 for configuration listeners: Not an address"),
        ({"listeners": "http://:x"}, "Invalid value http://:x for configuration listeners: Port could not be cast"),
        ({"listeners": "8083"}, "Not an address"),
        ({"key.converter": "NoSuch"}, "Invalid value NoSuch for configuration key.converter: Class NoSuch could not"),
        ({"topic.tracking.enable": "yes"}, "Expected value to be either true or false"),
        ({"config.providers": "x"}, 'Missing required configuration "config.providers.x.class"'),
    ],
)
def test_bad_settings_are_named(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        WorkerConfig.parse({**WORKER, **settings}, Mode.STANDALONE)
    assert message in str(raised.value)


def test_a_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot be read from .*missing\.properties: No such file"):
        read_worker_config(tmp_path / "missing.properties", Mode.STANDALONE)
    file = tmp_path / "worker.properties"
    file.write_text("bootstrap.servers=x\n")
    with pytest.raises(ConfigError, match=r'worker\.properties: Missing required configuration "key\.converter"'):
        read_worker_config(file, Mode.STANDALONE)


def test_settings_nobody_reads_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "penstock.connect"):
        WorkerConfig.parse({**WORKER, "listener": "x", "producer.linger.ms": "1"}, Mode.STANDALONE)
    assert [record.getMessage() for record in caplog.records] == [
        "standalone worker: The setting listener is not known and has no effect; did you mean listeners?"
    ]


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("task.shutdown.gracefull.timeout.ms", "task.shutdown.graceful.timeout.ms"),
        ("config.storage.replication.facter", "config.storage.replication.factor"),
        ("offset.storage.partition", "offset.storage.partitions"),
        ("status.storage.topik", "status.storage.topic"),
        ("listeners.https.ssl.keystor.location", "listeners.https.ssl.keystore.location"),
        ("metric.reporter", "metric.reporters"),
        ("client.ids", "client.id"),
        ("inter.worker.key.siz", "inter.worker.key.size"),
    ],
)
def test_slips_of_the_pen_are_warned_of(typo: str, meant: str, caplog: pytest.LogCaptureFixture) -> None:
    known = {meant: "3"} if "storage" in meant else {}
    group = {"group.id": "g", **{f"{kind}.storage.topic": kind for kind in ("config", "offset", "status")}}
    fine = {"offset.storage.min.insync.replicas": "2", "sasl.mechanism": "PLAIN", "spark.master": "local"}
    WorkerConfig.parse({**WORKER, **group, **known, **fine, typo: "1"}, Mode.DISTRIBUTED)
    warned = [
        record.getMessage() for record in caplog.records if "offset.storage.file.filename" not in record.getMessage()
    ]
    assert warned == [f"distributed worker: The setting {typo} is not known and has no effect; did you mean {meant}?"]


def test_slips_of_the_pen_in_options_of_converters(caplog: pytest.LogCaptureFixture) -> None:
    json_ = {"value.converter": "JsonConverter", "value.converter.plugin.version": "1"}
    WorkerConfig.parse({**WORKER, **json_, "value.converter.schema.enable": "false"}, Mode.STANDALONE)
    (warned,) = [record.getMessage() for record in caplog.records]
    assert warned == (
        "standalone worker, value.converter: The setting schema.enable is not known and has no effect; "
        "did you mean schemas.enable?"
    )


def test_secrets_stay_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_TEST_SECRET", "s3cret-word")
    providers = {"config.providers": "env", "config.providers.env.class": "EnvVarConfigProvider"}
    settings = {**WORKER, **providers, "sasl.password": "${env:PENSTOCK_TEST_SECRET}"}
    config = WorkerConfig.parse(settings, Mode.STANDALONE)
    assert config.client("admin") == {"bootstrap.servers": "localhost:9092", "sasl.password": "s3cret-word"}
    assert "s3cret-word" not in repr(config)
    with pytest.raises(ConfigError) as raised:
        WorkerConfig.parse({**settings, "listeners": "${env:PENSTOCK_TEST_SECRET}"}, Mode.STANDALONE)
    assert "s3cret-word" not in str(raised.value)
    assert "[hidden]" in str(raised.value)


def test_admin_listeners_are_no_setting_of_clients() -> None:
    config = WorkerConfig.parse({**WORKER, "admin.listeners": "", "admin.retries": "3"}, Mode.STANDALONE)
    assert config.admin_listeners == []
    assert config.client("admin") == {"bootstrap.servers": "localhost:9092", "retries": "3"}


@pytest.mark.parametrize("mode", list(Mode))
def test_every_setting_is_documented(mode: Mode) -> None:
    assert all(key.doc and key.group for key in mode.definition)
    assert "| `listeners` |" in config_table(mode.definition)
