from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock import Topology
from penstock.errors import ConfigError, TopologyError
from penstock.runtime.topology_target import load_topology
from tests.runtime.scripted_host import ScriptedStreams


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"from penstock import StreamsBuilder, Topology\n{text}")


def test_a_topology_made_by_hand(folder: Path) -> None:
    write(folder, "by_hand.py", 'made = Topology().add_source("in", "orders")')
    assert isinstance(load_topology("by_hand:made"), Topology)
    assert isinstance(load_topology("by_hand"), Topology)
    assert str(folder) in sys.path


def test_the_folder_of_a_file_becomes_importable(folder: Path) -> None:
    (folder / "apps").mkdir()
    write(folder / "apps", "two_files.py", "import rules\ndef topology():\n    return rules.builder\n")
    write(folder / "apps", "rules.py", 'builder = StreamsBuilder()\nbuilder.stream("a").to("b")\n')
    assert isinstance(load_topology("apps/two_files.py:topology"), Topology)


def test_several_to_choose_from(folder: Path) -> None:
    write(folder, "several.py", "one = StreamsBuilder()\ntwo = StreamsBuilder()\n")
    with pytest.raises(ConfigError) as raised:
        load_topology("several")
    assert str(raised.value) == "which topology of several is not said. Write several:NAME; it has one, two."


def test_a_module_that_needs_another_one(folder: Path) -> None:
    write(folder, "needs.py", "import not_installed_here\n")
    with pytest.raises(ConfigError) as raised:
        load_topology("needs:topology")
    assert str(raised.value) == (
        "the module needs cannot be imported: No module named 'not_installed_here'. Install what it needs."
    )


def test_a_module_that_fails_names_its_line(folder: Path) -> None:
    write(folder, "broken.py", "\n1 / 0\n")
    with pytest.raises(ConfigError, match=r"cannot be imported: ZeroDivisionError: division by zero \(broken.py:3\)"):
        load_topology("broken:topology")


def test_the_line_is_the_users_and_not_that_of_a_library(folder: Path) -> None:
    write(folder, "parses.py", 'import json\njson.loads("{")\n')
    with pytest.raises(ConfigError, match=r"JSONDecodeError: .*\(parses.py:3\)"):
        load_topology("parses")
    write(folder, "java.py", 'StreamsBuilder().stream("a").mapValues(str)\n')
    with pytest.raises(ConfigError, match=r"KStream has no attribute 'mapValues' \(java.py:2\)"):
        load_topology("java")
    write(folder, "unfinished.py", "def topology(:\n")
    with pytest.raises(ConfigError) as raised:
        load_topology("unfinished")
    assert str(raised.value).endswith("SyntaxError: invalid syntax (unfinished.py, line 2)")


def test_a_function_that_needs_arguments(folder: Path) -> None:
    write(folder, "asks.py", "def topology(name):\n    return None\n")
    with pytest.raises(ConfigError, match=r"asks:topology needs arguments: \(name\)"):
        load_topology("asks:topology")


def test_no_module(folder: Path) -> None:
    with pytest.raises(ConfigError, match="no module is named"):
        load_topology(":topology")


@pytest.mark.parametrize("start", ["run", "start"])
def test_a_module_that_starts_its_application_is_not_run(folder: Path, start: str) -> None:
    text = (
        f"from tests.runtime.scripted_host import ScriptedStreams\nscripted = ScriptedStreams()\nscripted.{start}()\n"
    )
    (folder / "starts.py").write_text(text)
    with pytest.raises(
        ConfigError, match=r'starts the application app itself\. Put the start below `if __name__ == "__'
    ):
        load_topology("starts")
    app = ScriptedStreams()
    app.start()  # it is the import that counts, not what was imported before
    app.close()


def test_errors_of_the_topology_itself_stay_what_they_are(folder: Path) -> None:
    write(folder, "twice.py", 'def topology():\n    return Topology().add_source("in", "a").add_source("in", "b")\n')
    with pytest.raises(TopologyError):
        load_topology("twice")


def test_settings_reach_the_builder(folder: Path) -> None:
    write(
        folder,
        "unnamed.py",
        'builder = StreamsBuilder()\nbuilder.stream("a").group_by_key().count().to_stream().to("b")\n',
    )
    load_topology("unnamed")
    with pytest.raises(TopologyError):
        load_topology("unnamed", {"ensure.explicit.internal.resource.naming": True})


def test_a_file_with_the_name_of_another_module(folder: Path) -> None:
    (folder / "calendar.py").write_text("topology = 1")
    with pytest.raises(ConfigError, match=r"calendar.py has the name of another module: calendar is /.*Rename it"):
        load_topology(str(folder / "calendar.py"))


def test_a_file_whose_name_is_no_name_of_a_module(folder: Path) -> None:
    (folder / "my.app.py").write_text("topology = 1")
    with pytest.raises(ConfigError, match=r"my.app.py cannot be imported.*'my.app' is no name of a module.*Rename it"):
        load_topology(str(folder / "my.app.py"))


def test_a_module_that_makes_an_application_starts_no_spark(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    monkeypatch.setattr("penstock.spark.warm_up.start_warm_up", lambda *_, **__: started.append(1))
    write(
        folder,
        "both.py",
        'from penstock import KafkaStreams\nbuilder = StreamsBuilder()\nbuilder.stream("a").to("b")\n'
        'app = KafkaStreams(builder, application_id="both", bootstrap_servers="nowhere:1")\n',
    )
    load_topology("both:builder")
    assert started == []
    sys.modules["both"].app.close()
