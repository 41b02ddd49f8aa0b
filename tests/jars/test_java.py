from __future__ import annotations

from pathlib import Path

import pytest

from penstock.jars import JavaError, require_java


def test_no_java_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(JavaError) as caught:
        require_java()
    assert str(caught.value) == (
        "no Java found (JAVA_HOME is not set and PATH has no java). Install Java 17 or newer, or point JAVA_HOME at one"
    )


def test_java_home_without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaError) as caught:
        require_java()
    assert str(caught.value) == (
        f"no Java found (JAVA_HOME={tmp_path} has no bin/java). Install Java 17 or newer, or point JAVA_HOME at one"
    )


@pytest.mark.parametrize(("version", "number"), [("11.0.22", 11), ("1.8.0_402", 8)])
def test_java_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, number: int) -> None:
    java = _java_that_says(tmp_path, f'openjdk version "{version}" 2024-01-16')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaError) as caught:
        require_java()
    assert str(caught.value) == (
        f"{java} is Java {number}, but Java 17 is needed. Install Java 17 or newer, or point JAVA_HOME at one"
    )


@pytest.mark.parametrize("version", ["17", "17.0.15", "21-ea", "25.0.1"])
def test_java_new_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    # Java prints a first line of its own when JAVA_TOOL_OPTIONS is set.
    java = _java_that_says(tmp_path, f'Picked up JAVA_TOOL_OPTIONS: -Da=b\nopenjdk version "{version}" 2025-04-15')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert require_java() == java


def test_java_that_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = _java_that_says(tmp_path, "Error: could not find libjava.so")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaError) as caught:
        require_java()
    assert str(caught.value) == (
        f"{java} -version does not tell a version, it says: Error: could not find libjava.so. "
        "Repair that Java, or point JAVA_HOME at another one"
    )


def _java_that_says(home: Path, text: str) -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{text}\nEND\n")
    java.chmod(0o755)
    return java
