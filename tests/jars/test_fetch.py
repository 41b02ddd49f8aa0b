"""Fetching from repositories that are folders of this machine, so that no test needs the network."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from penstock.jars import JarError, fetch, require_java
from penstock.jars.__main__ import write_sums
from penstock.jars.jar_set import SETS_FOLDER, JarSet

JAR = "hadoop-bare-naked-local-fs-0.1.0.jar"
POM = """
    <project>
      <modelVersion>4.0.0</modelVersion>
      <groupId>com.globalmentor</groupId>
      <artifactId>hadoop-bare-naked-local-fs</artifactId>
      <version>0.1.0</version>
    </project>"""
SETS = ["broker", "hdfs", "kafka-connect", "kafka-streams-test", "opensearch", "spark-driver", "spark-kafka"]

FETCH = "import sys; from penstock.jars import fetch; print(*fetch('spark-driver'))"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder."""
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "jars"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository; Ivy looks nowhere else."""
    folder = tmp_path / "repository"
    folder.mkdir()
    settings = tmp_path / "ivysettings.xml"
    settings.write_text(f"""
        <ivysettings>
          <settings defaultResolver="folder"/>
          <resolvers>
            <filesystem name="folder" m2compatible="true">
              <ivy pattern="{folder}/[module]-[revision].pom"/>
              <artifact pattern="{folder}/[artifact]-[revision].[ext]"/>
            </filesystem>
          </resolvers>
        </ivysettings>""")
    monkeypatch.setenv("PENSTOCK_IVY_SETTINGS", str(settings))
    return folder


@pytest.fixture(scope="session")
def good_jar() -> Path:
    (jar,) = fetch("spark-driver")
    return jar


@pytest.mark.broker
def test_a_jar_is_fetched_once(
    cache: Path, repository: Path, good_jar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _publish(repository, good_jar.read_bytes())
    runs = _count_java_runs(tmp_path, monkeypatch)

    assert [jar.name for jar in fetch("spark-driver")] == [JAR]
    (repository / JAR).unlink()
    (jar,) = fetch("spark-driver")

    assert jar.read_bytes() == good_jar.read_bytes()
    assert jar.is_relative_to(cache)
    assert runs.read_text().count("-retrieve") == 1


@pytest.mark.broker
def test_processes_that_fetch_at_once_share_one_download(
    cache: Path, repository: Path, good_jar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _publish(repository, good_jar.read_bytes())
    runs = _count_java_runs(tmp_path, monkeypatch)

    fetching = [subprocess.Popen([sys.executable, "-c", FETCH], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    printed = {process.communicate(timeout=60)[0].strip() for process in fetching}

    assert printed == {str(JarSet.named("spark-driver").folder() / JAR)}
    assert runs.read_text().count("-retrieve") == 1


@pytest.mark.broker
def test_what_a_killed_fetch_left_is_not_used(cache: Path, repository: Path, good_jar: Path) -> None:
    _publish(repository, good_jar.read_bytes())
    folder = JarSet.named("spark-driver").folder()
    leftover = folder.with_suffix(".partial") / "jars" / "leftover.jar"
    leftover.parent.mkdir(parents=True)
    leftover.touch()

    assert fetch("spark-driver") == [folder / JAR]
    assert _folders(cache) == [folder]


@pytest.mark.broker
def test_a_jar_that_cannot_be_had(cache: Path, repository: Path) -> None:
    with pytest.raises(JarError) as caught:
        fetch("spark-driver")
    assert str(caught.value) == (
        "cannot fetch the jars of 'spark-driver': com.globalmentor#hadoop-bare-naked-local-fs;0.1.0 not found. "
        "Check the network; behind a proxy set JAVA_TOOL_OPTIONS='-Dhttps.proxyHost=... -Dhttps.proxyPort=...', "
        "and to use a mirror set PENSTOCK_IVY_SETTINGS to your Ivy settings file. "
        f"Ivy's log is {cache / 'spark-driver.log'}"
    )
    assert "hadoop-bare-naked-local-fs" in (cache / "spark-driver.log").read_text()
    assert not _folders(cache)


@pytest.mark.broker
def test_a_repository_that_serves_another_file(cache: Path, repository: Path) -> None:
    _publish(repository, b"not the jar")
    with pytest.raises(JarError) as caught:
        fetch("spark-driver")
    assert str(caught.value) == (
        f"the fetched jars of 'spark-driver' are not the expected ones: {JAR} has SHA-256 "
        "eb01b0ab55c1f6466ee396dba56675cd39642a258ba0f2924b85cb775e5fd4da instead of "
        f"{JarSet.named('spark-driver').sums[JAR]}. "
        "Nothing was kept. The repository or mirror serves other files: fetch from another one"
    )
    assert not _folders(cache)


def test_a_cached_jar_that_was_changed(cache: Path) -> None:
    folder = JarSet.named("spark-driver").folder()
    folder.mkdir(parents=True)
    (folder / JAR).write_bytes(b"")
    with pytest.raises(JarError) as caught:
        fetch("spark-driver")
    assert str(caught.value) == (
        f"the cached jars of 'spark-driver' were changed: {JAR} has SHA-256 "
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 instead of "
        f"{JarSet.named('spark-driver').sums[JAR]}. "
        f"Delete {folder} and try again, the jars are then fetched anew"
    )


def test_a_cached_jar_that_is_missing(cache: Path) -> None:
    JarSet.named("spark-driver").folder().mkdir(parents=True)
    with pytest.raises(JarError, match=f"{JAR} is missing"):
        fetch("spark-driver")


def test_a_jar_nobody_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.jar").write_bytes(b"")
    (tmp_path / "b.jar").write_bytes(b"")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert JarSet("any", tmp_path / "ivy.xml", {"a.jar": empty}).difference(tmp_path) == "b.jar is not part of the set"


def test_unknown_set() -> None:
    with pytest.raises(JarError) as caught:
        fetch("brokre")
    assert str(caught.value) == (
        "unknown jar set 'brokre'. The known ones are: broker, hdfs, kafka-connect, kafka-streams-test, opensearch, spark-driver, spark-kafka"
    )


@pytest.mark.broker
def test_settings_file_that_does_not_exist(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_IVY_SETTINGS", str(tmp_path / "none.xml"))
    with pytest.raises(JarError) as caught:
        fetch("spark-driver")
    assert str(caught.value) == (
        f"PENSTOCK_IVY_SETTINGS names {tmp_path / 'none.xml'}, which is not a file. "
        "Give the path of an Ivy settings file, or unset it to use the public repository"
    )


@pytest.mark.broker
def test_a_pyspark_without_jars(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyspark").mkdir()
    (tmp_path / "pyspark" / "__init__.py").touch()
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: importlib.util.spec_from_file_location(name, tmp_path / name / "__init__.py"),
    )
    with pytest.raises(JarError) as caught:
        fetch("spark-driver")
    assert str(caught.value) == (
        f"{tmp_path / 'pyspark' / 'jars'} holds no Ivy jar to fetch other jars with. "
        "Install the full PySpark again: pip install --force-reinstall pyspark==4.2.0"
    )


@pytest.mark.parametrize("name", SETS)
def test_a_set_names_no_repository_and_sums_every_jar_it_asks_for(name: str) -> None:
    jars = JarSet.named(name)
    assert "://" not in jars.ivy_file.read_text()
    asked = {
        f"{dependency.get('name')}-{dependency.get('rev')}.jar"
        for dependency in ET.parse(jars.ivy_file).iter("dependency")
    }
    assert asked
    assert asked <= jars.sums.keys()
    assert all(len(sum_) == 64 for sum_ in jars.sums.values())


@pytest.mark.broker
def test_a_maintainer_writes_the_sums_of_a_changed_set(repository: Path, good_jar: Path, tmp_path: Path) -> None:
    _publish(repository, good_jar.read_bytes())
    known = JarSet.named("spark-driver")
    changed = JarSet("changed", tmp_path / "ivy.xml", {})
    changed.ivy_file.write_text(known.ivy_file.read_text())

    write_sums(changed)

    assert (tmp_path / "sha256sums").read_text() == known.ivy_file.with_name("sha256sums").read_text()


def test_every_set_is_covered_here() -> None:
    assert sorted(folder.name for folder in SETS_FOLDER.iterdir()) == SETS


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"PENSTOCK_CACHE": "/somewhere", "XDG_CACHE_HOME": "/xdg"}, "/somewhere/jars"),
        ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/penstock/jars"),
        ({}, "/home/me/.cache/penstock/jars"),
    ],
)
def test_where_jars_are_cached(environment: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    for variable in ("PENSTOCK_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    assert str(JarSet.named("broker").folder().parent) == expected


def _publish(repository: Path, content: bytes) -> None:
    (repository / JAR).with_suffix(".pom").write_text(POM)
    (repository / JAR).write_bytes(content)


def _count_java_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have Java write its arguments into the returned file, one line a run."""
    runs = folder / "java-runs"
    java = folder / "home" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f'#!/bin/sh\necho "$@" >> "{runs}"\nexec "{require_java()}" "$@"\n')
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(folder / "home"))
    return runs


def _folders(cache: Path) -> list[Path]:
    return [entry for entry in cache.iterdir() if entry.is_dir()]
