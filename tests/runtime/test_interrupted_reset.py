"""A reset that is killed between two of its steps, with a Kafka that only counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from penstock import StreamsBuilder
from penstock.errors import StreamsError
from penstock.kafka.admin import TopicSummary
from penstock.kafka.consumer_group import GroupOffset
from penstock.kafka.errors import TopicMissing
from penstock.runtime import reset
from penstock.runtime.checkpoint import Remembered, recall, write
from penstock.runtime.launch import make_job
from penstock.runtime.reset import ResetPlan, carry_out, plan_reset
from penstock.runtime.reset_marker import refuse_unfinished_reset
from penstock.runtime.reset_target import PartitionId, ResetTarget
from penstock.runtime.settings import Settings

OTHERS = "shop-orders-sums-changelog"  # of shop-orders


class Killed(BaseException):
    """The reset ends here."""


class Kafka:
    """Ten records in one topic, of which the application has done seven."""

    def __init__(self) -> None:
        self.names = {"in", "shop-commits-0", "shop-counts-changelog", OTHERS}
        self.groups: dict[str, dict[PartitionId, int]] = {"shop": {("in", 0): 7}, "shop-commits": {}}

    def topics(self) -> dict[str, TopicSummary]:
        return {name: TopicSummary(name, 1, 1, False) for name in sorted(self.names)}

    def group_offsets(self, group: str, partitions: Iterable[PartitionId]) -> dict[PartitionId, Any]:
        return {at: GroupOffset(offset) for at, offset in self.groups.get(group, {}).items()}

    def start_offsets(self, partitions: Iterable[PartitionId]) -> dict[PartitionId, int]:
        return dict.fromkeys(partitions, 0)

    def end_offsets(self, partitions: Iterable[PartitionId]) -> dict[PartitionId, int]:
        return dict.fromkeys(partitions, 10)

    def delete_group(self, group: str) -> None:
        self.groups.pop(group, None)

    def delete_topics(self, names: Iterable[str]) -> None:
        self.names -= set(names)

    def set_group_offsets(self, group: str, offsets: Mapping[PartitionId, GroupOffset]) -> None:
        self.groups[group] = {at: found.offset for at, found in offsets.items()}


class Steps:
    """Lets so many steps of a reset be done, then kills it: before the next one, or in the middle of a folder."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kafka: Kafka) -> None:
        self.left = 10_000
        self.half = False
        for name in ("begin", "_remove", "write_json", "finish"):
            monkeypatch.setattr(reset, name, self._counted(getattr(reset, name)))
        for name in ("delete_group", "delete_topics", "set_group_offsets"):
            monkeypatch.setattr(kafka, name, self._counted(getattr(kafka, name)))

    def _counted(self, step: Callable[..., None]) -> Callable[..., None]:
        def run(*given: Any) -> None:
            if self.left == 0:
                if self.half and step.__name__ == "_remove":
                    next(path for path in sorted(Path(given[1]).rglob("*")) if path.is_file()).unlink()
                raise Killed
            self.left -= 1
            step(*given)

        return run


def checkpoint(folder: Path) -> Path:
    """Batch 1 is done, and goes to offset 7."""
    made = folder / "checkpoint"
    for part in ("query/offsets", "query/commits", "state/0_0"):
        (made / part).mkdir(parents=True)
    for batch in range(2):
        offset = {"batch": batch, "topics": {"in": {"0": 7}}, "globals": {}}
        (made / "query/offsets" / str(batch)).write_text(f"v1\n{{}}\n{json.dumps(offset)}")
        (made / "query/commits" / str(batch)).write_text("v1\n{}")
    (made / "state/0_0/0000000000000001.arrow").write_bytes(b"rows")
    (made / "start.json").write_text('{"in": {"0": 0}}')
    write(str(made), Remembered({"counts": 0}, {}, [1]))
    return made


def plan(kafka: Kafka, made: Path, **options: Any) -> ResetPlan:
    target = ResetTarget("shift", -3)
    return plan_reset(kafka, "shop", str(made), target, **options)  # type: ignore[arg-type]


def execute(kafka: Kafka, found: ResetPlan) -> None:
    carry_out(found, kafka)  # type: ignore[arg-type]


def start(made: Path) -> None:
    """As far as a start needs no Kafka."""
    builder = StreamsBuilder()
    builder.stream("in").to("out")
    settings = Settings(application_id="shop", bootstrap_servers="localhost:1")
    make_job(builder.build(), settings, checkpoint=str(made), local="local", cores=1)


@pytest.fixture
def kafka() -> Kafka:
    return Kafka()


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch, kafka: Kafka) -> Steps:
    return Steps(monkeypatch, kafka)


# The mark, application.json, query, state, start.json, start.json anew, group, topics, positions; then the mark goes.
_STEPS = 10
_CASES = [*((done, False) for done in range(1, _STEPS)), (2, True), (3, True)]


@pytest.mark.parametrize(("done", "half"), _CASES)
def test_nothing_starts_until_the_reset_was_done_again(
    tmp_path: Path, kafka: Kafka, steps: Steps, done: int, half: bool
) -> None:
    made = checkpoint(tmp_path)
    steps.left, steps.half = done, half
    with pytest.raises(Killed):
        execute(kafka, plan(kafka, made))
    with pytest.raises(StreamsError) as refused:
        start(made)
    assert str(refused.value) == (
        f"a reset of shop did not get to its end: the checkpoint {made} is removed in part. "
        "Run `penstock reset --application-id shop --execute` again, with the same options."
    )
    steps.left = _STEPS
    again = plan(kafka, made)
    assert [(c.current, c.new) for c in again.changes] == [(7, 4)]  # not three less at each attempt
    assert not again.guessed
    execute(kafka, again)
    assert [path.name for path in made.iterdir()] == ["start.json"]
    assert json.loads((made / "start.json").read_text()) == {"in": {"0": 4}}
    assert kafka.names == {"in", OTHERS}
    assert kafka.groups == {"shop": {("in", 0): 4}}
    refuse_unfinished_reset(str(made), "shop")


def test_before_its_first_step_and_after_its_last_the_checkpoint_is_whole(
    tmp_path: Path, kafka: Kafka, steps: Steps
) -> None:
    made = checkpoint(tmp_path)
    steps.left = 0
    with pytest.raises(Killed):
        execute(kafka, plan(kafka, made))
    refuse_unfinished_reset(str(made), "shop")
    assert recall(str(made)) is not None
    steps.left = _STEPS
    execute(kafka, plan(kafka, made))
    assert steps.left == 0, "a step that the other tests do not interrupt"
    refuse_unfinished_reset(str(made), "shop")


def test_topics_that_were_named_may_be_gone_already(tmp_path: Path, kafka: Kafka, steps: Steps) -> None:
    made, named = checkpoint(tmp_path), ["shop-counts-changelog"]
    steps.left = 8
    with pytest.raises(Killed):
        execute(kafka, plan(kafka, made, internal_topics=named))
    assert plan(kafka, made, internal_topics=named).topics == ()
    with pytest.raises(TopicMissing):
        plan(kafka, tmp_path / "other", internal_topics=named)


@pytest.mark.parametrize(
    ("left", "said"), [(["query"], "query"), (["state"], "state"), (["query", "state"], "query and state")]
)
def test_a_checkpoint_that_forgot_its_application_is_refused(tmp_path: Path, left: list[str], said: str) -> None:
    for name in left:
        (tmp_path / name).mkdir()
    with pytest.raises(StreamsError) as refused:
        start(tmp_path)
    assert str(refused.value) == (
        f"the checkpoint {tmp_path} of shop has {said}, but no application.json: a part of it was removed. "
        "If that was a reset, run `penstock reset --application-id shop --execute` again, with the same options. "
        "If not, restore the folder from a backup."
    )


@pytest.mark.parametrize("files", [[], ["running.json"], ["application.json"], ["application.json", "query"]])
def test_a_first_start_that_was_killed_may_start_again(tmp_path: Path, files: list[str]) -> None:
    for name in files:
        (tmp_path / name).touch()
    refuse_unfinished_reset(str(tmp_path), "shop")
    refuse_unfinished_reset(str(tmp_path / "new"), "shop")
