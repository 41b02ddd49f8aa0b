from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import ConfigError
from penstock.properties import parse_properties


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("a=1\nb = 2\nc: 3\nd 4", {"a": "1", "b": "2", "c": "3", "d": "4"}),
        ("# comment\n! comment\n\n  \t\na=1", {"a": "1"}),
        ("a=one \\\n   two\\\n three", {"a": "one twothree"}),
        ("a=x\\\\\nb=y", {"a": "x\\", "b": "y"}),
        ("a\\=b=c\\:d", {"a=b": "c:d"}),
        ("a = \\u00e4\\tb", {"a": "ä\tb"}),
        ("a=", {"a": ""}),
        ("a", {"a": ""}),
        ("a=1=2", {"a": "1=2"}),
        ("a=#no comment", {"a": "#no comment"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=1\\", {"a": "1"}),
        ("  a  =  b  ", {"a": "b  "}),
        ("a=x\\\n# not a comment", {"a": "x# not a comment"}),
        ("\\q=1", {"q": "1"}),
    ],
)
def test_entries(text: str, entries: dict[str, str]) -> None:
    assert parse_properties(text) == entries


def test_a_broken_escape_names_its_line() -> None:
    with pytest.raises(ConfigError, match="encoding in line 2"):
        parse_properties("a=1\nb=\\u12")


@given(
    st.dictionaries(st.from_regex(r"[a-z.]{1,8}", fullmatch=True), st.from_regex(r"[a-z0-9,.]{0,8}", fullmatch=True))
)
def test_what_is_written_plainly_reads_back(entries: dict[str, str]) -> None:
    assert parse_properties("\n".join(f"{name}={value}" for name, value in entries.items())) == entries


@given(st.text(alphabet="a=:\\ \n#\r\tu0"))
def test_any_text_is_read(text: str) -> None:
    if "\\u" in text:
        return  # refused or read, depending on what follows
    assert all(isinstance(value, str) for value in parse_properties(text).values())
