"""The parser is penstock's own; what Connect adds is the error that stands for Java's."""

from __future__ import annotations

import pytest

from penstock.connect.config.properties import parse_properties
from penstock.connect.errors import ConfigError


def test_entries() -> None:
    assert parse_properties("name = file-\\\n  sink\ntopics: a,b") == {"name": "file-sink", "topics": "a,b"}


def test_a_broken_escape_names_its_line() -> None:
    with pytest.raises(ConfigError, match="encoding in line 2"):
        parse_properties("a=1\nb=\\u12")
