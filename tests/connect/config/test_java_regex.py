from __future__ import annotations

import re

import pytest

from penstock.connect.config.java_regex import compile_java, python_replacement


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(?<a>x)-(?P=a)", "x-x"),
        (r"a(?<=a)b(?<!a)", "ab"),
        (r"\\Qa", "\\Qa"),
        (r"\P{Digit}+", "abc"),
        (r"\p{IsAlpha}", "a"),
        (r"[a-z]+\.[a-z]+", "a.b"),
        (r"\Qa.b", "a.b"),
        (r"\Qa.b\E.", "a.bc"),
    ],
)
def test_patterns(pattern: str, text: str) -> None:
    assert compile_java(pattern).fullmatch(text)
    assert not compile_java(pattern).fullmatch(f"{text}0.")


def test_what_python_lacks_is_named() -> None:
    with pytest.raises(re.error, match="is not supported; write the characters in brackets"):
        compile_java(r"\p{Greek}")


def test_replacements() -> None:
    pattern = compile_java("(a)(?<b>b)")
    match = pattern.fullmatch("ab")
    assert match is not None
    assert match.expand(python_replacement(r"$2${b}$11\\n", pattern)) == "bba1\\n"
    for wrong in ("$3", "${c}", "a$", "a\\"):
        with pytest.raises(re.error):
            python_replacement(wrong, pattern)
