"""The demo: its page from figures alone, its counts against the text, and its end."""

from __future__ import annotations

import io
import itertools
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from penstock import TopologyTestDriver
from penstock.cli.demo import summary
from penstock.demo.displays import PlainLines
from penstock.demo.page import page, plain_line
from penstock.demo.run import Demo
from penstock.demo.stats import DemoStats
from penstock.demo.text import BURST_EVERY, BURST_SECONDS, due, sentences
from penstock.demo.word_count import word_count, words

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.broker import LocalBroker

PENSTOCK = Path(sys.executable).parent / "penstock"
STATS = DemoStats(
    seconds=21.04,
    step="running",
    lines=4321,
    lines_per_second=199.6,
    behind=17,
    counts={"river": 30, "the": 120, "mill": 30, "ice": 3},
    updates=900,
    batches=42,
    batch_ms=151,
    state_rows=170,
    state_bytes=188416,
)


def rendered(stats: DemoStats, *, height: int = 24) -> str:
    console = Console(file=io.StringIO(), width=100, height=height, force_terminal=False)
    console.print(page(stats, height=height))
    output = console.file
    assert isinstance(output, io.StringIO)
    return output.getvalue()


def test_the_page_shows_the_top_words_in_order_with_bars() -> None:
    rows = [line.strip("│ ").split() for line in rendered(STATS).splitlines()[1:5]]
    assert [(row[0], row[-1]) for row in rows] == [("the", "120"), ("mill", "30"), ("river", "30"), ("ice", "3")]
    assert [len(row[1]) for row in rows] == [30, 8, 8, 1]


def test_the_page_shows_how_it_goes() -> None:
    text = " ".join(rendered(STATS).split())
    for figure in ("lines 4,321", "lines/s 200", "not yet processed 17", "batches 42", "last batch 151 ms"):
        assert figure in text
    assert "words in the store 170" in text
    assert "store 184.0 KB" in text
    assert "21.0 s running" in text


def test_the_page_keeps_its_height_and_fits_the_terminal() -> None:
    heights = {len(rendered(stats).splitlines()) for stats in (DemoStats(), STATS)}
    assert len(heights) == 1
    assert len(rendered(STATS, height=14).splitlines()) <= 14


def test_a_line_says_the_same() -> None:
    assert plain_line(STATS) == (
        "  21.0 s  4,321 lines, 200/s, 17 behind, batch 151 ms, 170 words in 184.0 KB: the 120, mill 30, river 30, ice 3"
    )


def test_plain_lines_come_with_each_step_and_every_two_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    lines = PlainLines()
    for seconds, step, counts in [
        (0.1, "starting", {}),
        (5.0, "starting", {}),
        (6.0, "running", {"a": 1}),
        (6.5, "running", {"a": 1}),
        (8.0, "running", {"a": 2}),
        (8.5, "running", {"a": 3}),
        (9.0, "stopping", {"a": 3}),
    ]:
        lines.show(DemoStats(seconds=seconds, step=step, counts=counts))
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [(line[0], line[-1]) for line in shown] == [
        ("0.1", "starting"),
        ("6.0", "running"),
        ("6.5", "1"),
        ("8.5", "3"),
        ("9.0", "stopping"),
    ]


def test_bursts_add_to_the_steady_rate() -> None:
    sent = [due(second / 10, rate=10) for second in range(300)]
    assert sent == sorted(sent)
    quiet, burst = due(9, 10) - due(8, 10), due(BURST_EVERY + 1, 10) - due(BURST_EVERY, 10)
    assert (quiet, burst) == (10, 50)
    assert due(2 * BURST_EVERY, 10) == 10 * (2 * BURST_EVERY + 4 * BURST_SECONDS)


def test_the_topology_counts_words() -> None:
    with TopologyTestDriver(word_count("lines", "counts")) as driver:
        lines = driver.create_input_topic("lines", key_serde="bytes", value_serde="string")
        counts = driver.create_output_topic("counts", key_serde="string", value_serde="long")
        lines.pipe_input(None, "The river, the mill.")
        assert counts.read_key_values_to_list()[-2:] == [("the", 2), ("mill", 1)]


def test_the_end_says_where_it_was_and_what_comes_next() -> None:
    run = Demo(1, 1, "kafka:9092", PlainLines(), 0.0, application_id="app", state_dir="/state", stats=STATS)
    assert summary(run, own_broker=True).endswith("Ended before the first counts.")
    run.first_counts = 9.87
    text = summary(run, own_broker=False)
    assert "Kafka at kafka:9092; topics app-lines and app-counts, state in /state: all removed again." in text
    assert "First counts 9.9 s after the command; 183 words counted in 4,321 lines and 42 batches." in text
    assert 'bootstrap_servers="localhost:9092"' in text


@pytest.mark.spark
@pytest.mark.broker
def test_the_counts_are_those_of_the_text(spark: SparkSession, broker: LocalBroker) -> None:
    from penstock.kafka.admin import Admin

    admin = Admin({"bootstrap.servers": broker.bootstrap_servers})
    run = Demo(1, 50, broker.bootstrap_servers, PlainLines(), time.monotonic(), application_id="demo-counts")
    run.run()
    assert run.first_counts is not None
    assert run.stats.behind == 0
    text = itertools.islice(sentences(), run.stats.lines)
    assert run.stats.counts == Counter(word for line in text for word in words(line))
    assert not [topic for topic in admin.topics() if topic.startswith(run.application_id)]
    assert not Path(run.state_dir).exists()


@pytest.mark.spark
@pytest.mark.broker
def test_ctrl_c_ends_it_and_nothing_stays(tmp_path: Path) -> None:
    with subprocess.Popen(
        [PENSTOCK, "demo", "--seconds", "600"],
        env={**os.environ, "TMPDIR": str(tmp_path), "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={tmp_path}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as demo:
        assert demo.stdout is not None
        next(line for line in demo.stdout if " lines, " in line)
        demo.send_signal(signal.SIGINT)
        said, complaints = demo.communicate()
    assert demo.returncode == 0
    assert complaints == ""
    assert "First counts" in said
    assert "Your own program" in said
    assert [left.name for left in tmp_path.iterdir() if not left.name.startswith("hsperfdata")] == []
