from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli.conftest import PENSTOCK, Done

pytestmark = pytest.mark.slow  # each starts a process

WORD_COUNT = """
from penstock import StreamsBuilder

builder = StreamsBuilder()
words = builder.stream("lines").flat_map_values(str.split)
words.group_by(lambda word: word).count(name="counts").to_stream().to("counts-by-word", value_serde="long")


def topology():
    return builder


def fails():
    raise ValueError("no lines")


number = 7
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "word_count.py").write_text(WORD_COUNT)
    return tmp_path


def penstock(folder: Path, *arguments: str) -> Done:
    done = subprocess.run(
        [PENSTOCK, "topology", *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=180
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("target", ["word_count", "word_count:builder", "word_count:topology", "./word_count.py"])
def test_the_text_is_kafkas(folder: Path, target: str) -> None:
    done = penstock(folder, target)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(
        "Topologies:\n   Sub-topology: 0\n    Source: KSTREAM-SOURCE-0000000000 (topics: [lines])\n"
    )
    assert "Processor: counts (stores: [counts])" in done.out


def test_what_is_combined_before_the_shuffle_is_shown_as_long_as_it_is(folder: Path) -> None:
    combined = "    Processor: counts-combine (stores: [])\n      --> counts-repartition-sink\n"
    assert combined in penstock(folder, "word_count").out
    assert "counts-combine" not in penstock(folder, "word_count", "-X", "statestore.cache.max.bytes=0").out


def test_other_forms(folder: Path) -> None:
    chart = penstock(folder, "word_count", "-f", "mermaid").out
    assert chart.startswith("flowchart TD\n")
    assert '["counts-combine"]' in chart
    described = json.loads(penstock(folder, "word_count", "-f", "json").out)
    assert [part["id"] for part in described["subtopologies"]] == [0, 1]
    nodes = {node["name"]: node for node in described["subtopologies"][0]["nodes"]}
    assert nodes["counts-combine"]["operator"] == "CombinePartials(count)"


def test_a_picture_in_a_file(folder: Path) -> None:
    done = penstock(folder, "word_count", "--format", "svg", "--output", "picture.svg")
    assert (done.code, done.out, done.err) == (0, "", "Wrote picture.svg.\n")
    picture = ET.fromstring((folder / "picture.svg").read_text())
    text = {element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert {"lines", "counts", "counts-by-word", "counts-repartition", "Sub-topology 0", "Sub-topology 1"} <= text
    assert "counts-combine" in text
    edges = [e for e in picture.iter("{http://www.w3.org/2000/svg}path") if e.get("marker-end")]
    assert len(edges) == 12


@pytest.mark.parametrize(
    ("output", "reason"), [("none/picture.svg", "No such file or directory"), (".", "Is a directory")]
)
def test_a_file_that_cannot_be_written_is_named(folder: Path, output: str, reason: str) -> None:
    done = penstock(folder, "word_count", "-f", "svg", "-o", output)
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        f"penstock: {output} cannot be written: {reason}. Give the name of a file in a folder that exists.\n"
    )


def test_boxes_of_a_picture_do_not_overlap(folder: Path) -> None:
    text = penstock(folder, "word_count", "-f", "svg").out
    number = r'="([\d.]+)"'
    pattern = rf'<rect class="(?!part)\w+" x{number} y{number} width{number} height{number}'
    boxes = [tuple(map(float, found)) for found in re.findall(pattern, text)]
    assert len(boxes) == 14
    for i, (x1, y1, w1, h1) in enumerate(boxes):
        for x2, y2, w2, h2 in boxes[i + 1 :]:
            assert x1 + w1 <= x2 or x2 + w2 <= x1 or y1 + h1 <= y2 or y2 + h2 <= y1


@pytest.mark.parametrize(
    ("target", "error"),
    [
        ("wordcount:topology", "penstock: there is no module wordcount. Looked in the current folder ("),
        ("word_count:topologi", "penstock: the module word_count has no topologi. Write word_count:NAME; it has builder, topology, fails."),
        ("word_count:number", "penstock: word_count:number is of type int, not a topology. Name a Topology, a StreamsBuilder, or"),
        ("word_count:fails", "penstock: word_count:fails() failed: ValueError: no lines (word_count.py:14)"),
        ("other.py", "penstock: there is no file other.py. The current folder is "),
    ],
)  # fmt: skip
def test_what_cannot_be_found_is_said_in_one_line(folder: Path, target: str, error: str) -> None:
    done = penstock(folder, target)
    assert done.code == 1
    assert done.err.startswith(error)
    assert done.err.count("\n") == 1


def test_settings_that_change_the_topology_count(folder: Path) -> None:
    done = penstock(folder, "word_count", "-X", "ensure.explicit.internal.resource.naming=true")
    assert done.code == 0
    refused = penstock(folder, "word_count", "-X", "topology.optimisation=all")
    assert refused.err == ("penstock: unknown setting 'topology.optimisation'. Did you mean 'topology.optimization'?\n")
