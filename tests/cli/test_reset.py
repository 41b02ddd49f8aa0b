"""The reset tool against Kafka, over a checkpoint as Spark leaves it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.broker import LocalBroker
from penstock.kafka.admin import Admin
from penstock.kafka.consumer_group import GroupOffset
from penstock.kafka.producing import RecordProducer
from penstock.runtime.presence import Presence
from penstock.runtime.reset import publish_positions
from tests.cli.conftest import Penstock
from tests.conftest import TopicFactory

pytestmark = pytest.mark.broker


@pytest.fixture
def admin(broker: LocalBroker) -> Admin:
    return Admin({"bootstrap.servers": broker.bootstrap_servers})


@pytest.fixture
def orders(topic: TopicFactory, broker: LocalBroker) -> str:
    """Ten records in partition 0, with timestamps 1000, 2000, ..., and none in partition 1."""
    name = topic("orders", partitions=2)
    producer = RecordProducer({"bootstrap.servers": broker.bootstrap_servers})
    for i in range(1, 11):
        producer.produce(name, b"x", b"k", partition=0, timestamp=i * 1000)
    producer.flush()
    return name


def checkpoint(folder: Path, application: str, positions: dict[str, dict[str, int]]) -> Path:
    """The checkpoint of an application that committed batch 1 and died in batch 2."""
    made = folder / "checkpoints" / application
    for part in ("query/offsets", "query/commits", "state/0_0"):
        (made / part).mkdir(parents=True)
    for batch in range(3):
        end = positions if batch < 2 else {"orders": {"0": 10}}
        lines = ["v1", "{}", json.dumps({"batch": batch, "topics": end, "globals": {}})]
        (made / "query/offsets" / str(batch)).write_text("\n".join(lines))
        if batch < 2:
            (made / "query/commits" / str(batch)).write_text("v1\n{}")
    (made / "application.json").write_text(json.dumps({"stores": {"counts": 0}, "internal_topics": {}}))
    (made / "start.json").write_text("{}")
    (folder / f"{application}-0123456789ab" / "0_0").mkdir(parents=True)
    return made


def test_a_dry_run_shows_everything_and_changes_nothing_and_execute_does_it(
    penstock: Penstock, admin: Admin, orders: str, tmp_path: Path
) -> None:
    made = checkpoint(tmp_path, "shop", {orders: {"0": 7, "1": 0}})
    local = tmp_path / "shop-0123456789ab"
    others = ["shop-orders-sums-changelog", "shopping-commits-0"]
    for name in ("shop-commits-0", "shop-counts-changelog", *others):
        admin.create_topic(name)
    publish_positions(admin, "shop-commits", {("shop-commits-0", 0): GroupOffset(12, "segment")})
    command = ("reset", "--application-id", "shop", "-X", f"state.dir={tmp_path}")

    dry = penstock(*command)
    kept = (
        "Not of shop, as far as its checkpoint and topology say, and kept: shop-orders-sums-changelog. Name those that "
        "are to be deleted with --internal-topic.\n"
    )
    assert (dry.code, dry.err) == (0, f"{kept}Nothing was changed. Add --execute to do it.\n")
    assert dry.out.splitlines() == [
        f"{orders}\t0\t7\t0\t10\t",
        f"{orders}\t1\t0\t0\t0\t",
        "delete topic shop-commits-0",
        "delete topic shop-counts-changelog",
        "delete group shop-commits",
        f"remove {made}/application.json",
        f"remove {made}/query",
        f"remove {made}/state",
        f"remove {made}/start.json",
        f"remove {local}",
    ]
    assert (made / "query").exists()
    assert "shop-commits-0" in admin.topics()

    done = penstock(*command, "--execute")
    assert (done.code, done.out) == (0, dry.out)
    assert done.err == f"{kept}shop starts over with its next start.\n"
    assert [path.name for path in made.iterdir()] == ["start.json"]
    assert json.loads((made / "start.json").read_text()) == {orders: {"0": 0, "1": 0}}
    assert not local.exists()
    assert not {"shop-commits-0", "shop-counts-changelog"} & set(admin.topics())
    assert set(others) <= set(admin.topics())
    assert admin.group_offsets("shop", [(orders, 0)]) == {(orders, 0): GroupOffset(0)}

    again = penstock(*command)
    assert again.out.splitlines()[0] == f"{orders}\t0\t0\t0\t10\t"  # the group's offsets, without a checkpoint
    assert again.err == dry.err
    admin.delete_topics(others)


@pytest.mark.parametrize(
    ("options", "start", "note"),
    [
        (["--to-latest"], 10, ""),
        (["--to-datetime", "1970-01-01T00:00:03Z"], 2, ""),
        (["--to-datetime", "1970-01-01T01:00:03+01:00"], 2, ""),
        (["--by-duration", "1d"], 10, ""),
        (["--by-duration", "PT1H"], 10, ""),
        (["--to-offset", "4"], 4, ""),
        (["--to-offset", "0"], 0, ""),
        (["--shift-by", "-3"], 4, ""),
        (["--shift-by", "-30"], 0, "-23 is before the first record"),
        (["--to-offset", "99"], 10, "99 is behind the last record"),
    ],
)
def test_where_to(penstock: Penstock, orders: str, tmp_path: Path, options: list[str], start: int, note: str) -> None:
    checkpoint(tmp_path, "where", {orders: {"0": 7, "1": 0}})
    done = penstock("reset", "-a", "where", "-X", f"state.dir={tmp_path}", *options)
    assert done.out.splitlines()[0] == f"{orders}\t0\t7\t{start}\t{10 - start}\t{note}"


def test_from_a_file_and_only_some_topics(penstock: Penstock, topic: TopicFactory, orders: str, tmp_path: Path) -> None:
    prices = topic("prices")
    made = checkpoint(tmp_path, "some", {orders: {"0": 7, "1": 0}, prices: {"0": 0}})
    (tmp_path / "positions.csv").write_text(f"{orders},0,3\n")
    options = ("-X", f"state.dir={tmp_path}", "--execute")
    assert penstock("reset", "-a", "some", "--from-file", tmp_path / "positions.csv", *options).code == 0
    assert json.loads((made / "start.json").read_text()) == {orders: {"0": 3, "1": 0}, prices: {"0": 0}}

    assert penstock("reset", "-a", "some", "--input-topic", prices, *options).code == 0
    assert json.loads((made / "start.json").read_text()) == {orders: {"0": 3, "1": 0}, prices: {"0": 0}}


def test_by_its_topology_before_it_ever_ran(penstock: Penstock, orders: str, tmp_path: Path) -> None:
    (tmp_path / "new_shop.py").write_text(
        f"from penstock import StreamsBuilder\nbuilder = StreamsBuilder()\nbuilder.stream('{orders}').to('copies')\n"
    )
    (tmp_path / "app.toml").write_text(f'state.dir = "{tmp_path}"\n')
    done = penstock("reset", tmp_path / "new_shop.py", "-c", tmp_path / "app.toml", "--to-latest", "--execute")
    assert (done.code, done.err) == (0, "new-shop starts over with its next start.\n")
    start = tmp_path / "checkpoints" / "new-shop" / "start.json"
    assert json.loads(start.read_text()) == {orders: {"0": 10, "1": 0}}


def test_without_a_checkpoint_names_are_taken_and_that_is_said(
    penstock: Penstock, admin: Admin, orders: str, tmp_path: Path
) -> None:
    names = ["cafe-counts-changelog", "cafe-orders-sums-changelog"]
    for name in names:
        admin.create_topic(name)
    done = penstock("reset", "-a", "cafe", "-X", f"state.dir={tmp_path}")
    assert [line for line in done.out.splitlines() if line.startswith("delete")] == [f"delete topic {n}" for n in names]
    assert done.err.startswith(
        f"Warning: the checkpoint {tmp_path}/checkpoints/cafe does not say which topics are those of cafe, so all "
        "internal topics count whose names begin with cafe-. "
    )
    (tmp_path / "cafe.py").write_text(
        "from penstock import StreamsBuilder\nbuilder = StreamsBuilder()\n"
        f"builder.stream('{orders}').group_by_key().count(name='counts')\n"
    )
    done = penstock("reset", tmp_path / "cafe.py", "-X", f"state.dir={tmp_path}")
    assert [line for line in done.out.splitlines() if line.startswith("delete")] == [f"delete topic {names[0]}"]
    assert "and kept: cafe-orders-sums-changelog. " in done.err
    admin.delete_topics(names)


def test_a_running_application_is_left_alone(penstock: Penstock, orders: str, tmp_path: Path) -> None:
    made = checkpoint(tmp_path, "busy", {orders: {"0": 7}})
    presence = Presence(str(made), "busy")
    presence.claim()
    command = ("reset", "-a", "busy", "-X", f"state.dir={tmp_path}", "--execute")
    refused = penstock(*command)
    assert refused.code == 1
    assert refused.err.startswith("penstock: the application busy runs (process ")
    assert refused.err.endswith("). Stop it first.\n")
    assert (made / "query").exists()
    assert penstock(*command, "--force").code == 0
    assert not (made / "query").exists()
    presence.release()


@pytest.mark.parametrize(
    ("options", "code", "error"),
    [
        ((), 1, "penstock: the setting application.id is missing. "),
        (("-a", "x", "--to-earliest", "--to-offset", "0"), 2, "--to-earliest and --to-offset exclude each other"),
        (
            ("-a", "x", "--to-datetime", "soon"),
            1,
            "penstock: --to-datetime soon is not a time. Write it as 2026-05-01T",
        ),
        (("-a", "x", "--to-datetime", "2026-05-01"), 1, "penstock: --to-datetime 2026-05-01 has no time zone. "),
        (("-a", "x", "--by-duration", "soon"), 1, "penstock: --by-duration 'soon' is not a duration. "),
        (("-a", "x", "--input-topic", "nowhere"), 1, "penstock: Topic 'nowhere' does not exist. "),
        (("-a", "x", "--from-file", "{folder}/latin.csv"), 1, "penstock: the file "),
        (
            ("-a", "x", "-X", "penstock.checkpoint=s3:/bar"),
            1,
            "penstock: the setting penstock.checkpoint is 's3:/bar': ",
        ),
    ],
)
def test_input_that_cannot_be_used(
    penstock: Penstock, tmp_path: Path, options: tuple[str, ...], code: int, error: str
) -> None:
    (tmp_path / "latin.csv").write_bytes(b"caf\xe9,0,1")
    options = tuple(option.format(folder=tmp_path) for option in options)
    done = penstock("reset", *options, "-X", f"state.dir={tmp_path}")
    assert done.code == code
    assert error in " ".join(done.err.replace("│", " ").split()) if code == 2 else done.err.startswith(error)
