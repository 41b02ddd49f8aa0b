from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import ConfigError
from penstock.runtime.config_file import read_config


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_toml_with_dots_with_tables_and_both(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "app.toml",
        """
        application.id = "word-count"
        commit.interval.ms = 200
        [consumer]
        auto.offset.reset = "latest"
        [penstock.batch]
        max.records = 10
        """,
    )
    assert read_config(path) == {
        "application.id": "word-count",
        "commit.interval.ms": 200,
        "consumer.auto.offset.reset": "latest",
        "penstock.batch.max.records": 10,
    }


def test_properties_as_java_programs_have_them(tmp_path: Path) -> None:
    path = written(tmp_path, "app.properties", "# mine\napplication.id=word-count\n\n! yes\n num.stream.threads = 4\n")
    assert read_config(path) == {"application.id": "word-count", "num.stream.threads": "4"}


def test_properties_that_go_over_lines_with_other_separators_and_escapes(tmp_path: Path) -> None:
    text = r"""
application.id: word-count
client.id caf\u00e9
app.path = C\:\\data\ttab
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
  username="ann" \
  password="a=b:c";
"""
    assert read_config(written(tmp_path, "app.properties", text)) == {
        "application.id": "word-count",
        "client.id": "café",
        "app.path": "C:\\data\ttab",
        "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
        'username="ann" password="a=b:c";',
    }


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("app.toml", b"application.id = word-count", "app.toml is not TOML: "),
        (
            "app.properties",
            rb"app.path=C:\users",
            r"app.properties cannot be read: Malformed \uxxxx encoding in line 1. A backslash begins an escape there: write",
        ),
        ("app.toml", b"\xff\xfe", "the settings file {folder}/app.toml is not UTF-8. Save it as UTF-8; it is TOML, or"),
        (
            "app.properties",
            b"a=\xe9",
            "the settings file {folder}/app.properties is not UTF-8. Save it as UTF-8; it is",
        ),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str, text: bytes, error: str) -> None:
    (tmp_path / name).write_bytes(text)
    with pytest.raises(ConfigError) as raised:
        read_config(tmp_path / name)
    assert error.format(folder=tmp_path) in str(raised.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"the settings file .*/app.toml cannot be read: No such file or directory. Give a"
    ):
        read_config(tmp_path / "app.toml")
