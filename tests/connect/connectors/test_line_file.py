from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.connect.connectors import line_file
from penstock.connect.connectors.line_file import LineFile, LinePosition
from penstock.connect.errors import RetriableError


class Reader:
    """Reads a file as a connector does: plan, read, remember, as offsets that went through JSON."""

    def __init__(self, path: Path) -> None:
        self.file = LineFile(str(path))
        self.known: LinePosition | None = None

    def batch(self) -> list[str]:
        found = self.file.plan(self.known)
        if found is None:
            return []
        start, end = found
        lines = [line for part in self.file.read(start, end) for line in part]
        again = [line for part in self.file.read(start, end) for line in part]
        assert lines == again
        self.known = LinePosition.of(end.offset())
        return lines

    def all(self) -> list[str]:
        found: list[str] = []
        while lines := self.batch():
            found += lines
        return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lines.txt"


def test_a_missing_file_is_waited_for(path: Path) -> None:
    reader = Reader(path)
    assert reader.batch() == []
    path.write_text("a\n")
    assert reader.batch() == ["a"]


@pytest.mark.parametrize(
    ("content", "lines", "rest"),
    [
        ("a\nb\n", ["a", "b"], ""),
        ("a\r\nb\r\n", ["a", "b"], ""),
        ("a\rb\r\rc\n", ["a", "b", "", "c"], ""),
        ("a\nhalf", ["a"], "half"),
        ("a\nb\r", ["a"], "b"),  # the line feed may follow
        ("\n\n", ["", ""], ""),
        ("ä€😀\n", ["ä€😀"], ""),
        ("", [], ""),
    ],
)
def test_lines_end_as_in_kafka_and_an_unfinished_one_waits(
    path: Path, content: str, lines: list[str], rest: str
) -> None:
    path.write_bytes(content.encode())
    reader = Reader(path)
    assert reader.all() == lines
    with path.open("a") as file:
        file.write("\n")
    assert reader.all() == ([rest] if rest else [] if content.endswith("\r") else [""])


def test_bytes_that_are_no_text_are_replaced_and_counted_as_bytes(path: Path) -> None:
    path.write_bytes(b"a\xffb\nc\n")
    reader = Reader(path)
    assert reader.batch() == ["a\ufffdb", "c"]
    assert reader.known is not None
    assert reader.known.position == 6


def test_a_truncated_file_is_read_from_its_start(path: Path) -> None:
    path.write_text("one\ntwo\n")
    reader = Reader(path)
    assert reader.all() == ["one", "two"]
    path.write_text("x\n")
    assert reader.all() == ["x"]


def test_a_file_that_was_truncated_and_has_grown_again_is_noticed(path: Path) -> None:
    path.write_text("one\ntwo\n")
    reader = Reader(path)
    assert reader.all() == ["one", "two"]
    with path.open("r+") as file:
        file.truncate(0)
        file.write("three\nfour\nfive\n")
    assert reader.all() == ["three", "four", "five"]


def test_a_rotated_file_is_read_to_its_end_before_the_new_one(path: Path) -> None:
    path.write_text("one\ntwo\n")
    reader = Reader(path)
    assert reader.all() == ["one", "two"]
    with path.open("a") as file:
        file.write("three\nwithout end")
    path.rename(path.with_name("lines.txt.1"))
    path.write_text("new\n")
    assert reader.all() == ["three", "without end", "new"]


def test_a_rotated_file_waits_for_its_last_line_until_there_is_a_new_one(path: Path) -> None:
    path.write_text("one\n")
    reader = Reader(path)
    assert reader.all() == ["one"]
    with path.open("a") as file:
        file.write("half")
    rotated = path.rename(path.with_name("lines.txt.1"))
    assert reader.all() == []
    with rotated.open("a") as file:
        file.write(" whole\n")
    assert reader.all() == ["half whole"]


def test_a_rotated_file_that_is_gone_is_not_waited_for(path: Path) -> None:
    path.write_text("one\n")
    reader = Reader(path)
    assert reader.all() == ["one"]
    old = path.rename(path.with_name("elsewhere"))
    path.write_text("new\n")
    old.unlink()
    assert reader.all() == ["new"]


def test_a_copy_of_the_file_goes_on_where_the_original_was_read_to(path: Path) -> None:
    path.write_text("one\n")
    reader = Reader(path)
    assert reader.all() == ["one"]
    copy = path.with_name("copy")
    shutil.copyfile(path, copy)
    path.unlink()
    copy.rename(path)
    with path.open("a") as file:
        file.write("two\n")
    assert reader.all() == ["two"]


def test_a_position_without_more_is_taken_as_it_is(path: Path) -> None:
    path.write_text("one\ntwo\n")
    reader = Reader(path)
    reader.known = LinePosition.of({"position": 4})
    assert reader.all() == ["two"]


@pytest.mark.parametrize("now", ["x\n", "", "other\nlines\nand more\n"], ids=["shorter", "empty", "longer"])
@pytest.mark.parametrize("replaced", [False, True], ids=["truncated", "replaced"])
def test_a_planned_range_that_is_gone_is_told_and_never_made_of_other_lines(
    path: Path, now: str, replaced: bool, caplog: pytest.LogCaptureFixture
) -> None:
    path.write_text("one\ntwo\n")
    file = LineFile(str(path))
    found = file.plan(None)
    assert found is not None
    if replaced:
        other = path.with_name("new")  # before the old one goes, so that it has another inode
        other.write_text(now)
        other.replace(path)
    else:
        path.write_text(now)
    assert list(file.read(*found)) == []
    assert f"{path}: bytes 0 to 8 were truncated or removed before they were read: 8 bytes are lost" in caplog.text
    reader = Reader(path)
    reader.known = found[1]
    assert reader.all() == now.splitlines()


def test_a_planned_range_is_read_from_a_copy(path: Path) -> None:
    path.write_text("one\ntwo\n")
    file = LineFile(str(path))
    found = file.plan(None)
    assert found is not None
    shutil.copyfile(path, path.with_name("copy"))
    path.with_name("copy").replace(path)
    assert list(file.read(*found)) == [["one", "two"]]


def test_a_planned_range_waits_while_there_is_no_file(path: Path, tmp_path: Path) -> None:
    path.write_text("one\n")
    file = LineFile(str(path))
    found = file.plan(None)
    assert found is not None
    path.rename(tmp_path.parent / "away.txt")
    with pytest.raises(RetriableError, match="waiting for it to be created"):
        list(file.read(*found))
    (tmp_path.parent / "away.txt").rename(path)
    assert list(file.read(*found)) == [["one"]]


def test_a_file_that_is_truncated_while_it_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_file, "_CHUNK_BYTES", 4)
    path.write_text("one\n" + "two\n" * 100_000)  # more than Python reads ahead
    file = LineFile(str(path))
    found = file.plan(None)
    assert found is not None
    reading = file.read(*found)
    assert next(reading) == ["one"]
    path.write_text("")
    with pytest.raises(RetriableError, match="was truncated while it was read"):
        list(reading)
    assert list(file.read(*found)) == []


@given(
    content=st.lists(st.sampled_from(["a", "bb", "", "ü", "x" * 40])).map("\n".join),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    range_bytes=st.integers(1, 50),
    chunk_bytes=st.integers(1, 20),
)
def test_sizes_of_batches_and_blocks_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, content: str, ends: str, range_bytes: int, chunk_bytes: int
) -> None:
    path = tmp_path_factory.mktemp("lines") / "lines.txt"
    path.write_bytes((content.replace("\n", ends) + ends + "\n").encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_file, "RANGE_BYTES", range_bytes)
        patch.setattr(line_file, "_CHUNK_BYTES", chunk_bytes)
        expected = content.split("\n") + ([""] if ends != "\r" else [])
        assert Reader(path).all() == expected
