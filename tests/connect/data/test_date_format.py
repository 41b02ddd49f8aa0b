from __future__ import annotations

from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.connect.data.date_format import SimpleDateFormat
from penstock.connect.data.logical import to_millis
from penstock.connect.errors import DataError

# Sunday, 2024-12-29 13:05:09.007 UTC: its week belongs to 2025.
MOMENT = to_millis(datetime(2024, 12, 29, 13, 5, 9, 7000, tzinfo=timezone.utc))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", "2024-12-29T13:05:09.007Z"),
        ("yy M d H m s S", "24 12 29 13 5 9 7"),
        ("y", "2024"),
        ("yyyyy", "02024"),
        ("MMM MMMM", "Dec December"),
        ("E EEEE", "Sun Sunday"),
        ("u D F w W", "7 364 5 1 5"),
        ("YYYY", "2025"),
        ("hh:mm a", "01:05 PM"),
        ("k K h", "13 1 1"),
        ("z Z X XXX", "UTC +0000 Z Z"),
        ("zzzz", "Coordinated Universal Time"),
        ("G", "AD"),
        ("''yyyy'' 'o''clock'", "'2024' o'clock"),
        ("SSSSSS", "000007"),
        ("yyyyMMddHH", "2024122913"),
    ],
)
def test_dates_are_written_as_java_writes_them(pattern: str, text: str) -> None:
    assert SimpleDateFormat(pattern).format(MOMENT) == text


def test_midnight_and_noon() -> None:
    midnight = to_millis(datetime(2024, 1, 1, tzinfo=timezone.utc))
    assert SimpleDateFormat("k K h H a").format(midnight) == "24 0 12 0 AM"
    assert SimpleDateFormat("k K h H a").format(midnight + 43_200_000) == "12 0 12 12 PM"
    assert SimpleDateFormat("hh a").parse("12 AM") == 0
    assert SimpleDateFormat("hh a").parse("12 PM") == 43_200_000
    assert SimpleDateFormat("kk").parse("24") == 0
    assert SimpleDateFormat("KK a").parse("11 pm") == 82_800_000


@pytest.mark.parametrize(
    ("pattern", "text", "moment"),
    [
        ("yyyy-MM-dd", "2024-02-29", (2024, 2, 29)),
        ("yyyy-MM-dd", "2024-2-9", (2024, 2, 9)),
        ("yyyyMMdd", "20240229", (2024, 2, 29)),
        ("yyyy-MM-dd", "2024-02-30", (2024, 3, 1)),
        ("yyyy-MM-dd", "2024-13-01", (2025, 1, 1)),
        ("yyyy-MM-dd", "2024-02-29T10:00:00", (2024, 2, 29)),
        ("d MMM yyyy", "5 March 2024", (2024, 3, 5)),
        ("d MMMM yyyy", "5 mar 2024", (2024, 3, 5)),
        ("EEE, d MMM yyyy HH:mm:ss Z", "Thu, 29 Feb 2024 01:02:03 +0200", (2024, 2, 28, 23, 2, 3)),
        ("yyyy-MM-dd HH:mm:ssX", "2024-02-29 01:02:03-05:30", (2024, 2, 29, 6, 32, 3)),
        ("yyyy-MM-dd HH:mm:ssX", "2024-02-29 01:02:03Z", (2024, 2, 29, 1, 2, 3)),
        ("yyyy-MM-dd HH:mm z", "2024-02-29 01:02 EST", (2024, 2, 29, 6, 2)),
        ("yyyy-MM-dd HH:mm z", "2024-02-29 01:02 GMT+1", (2024, 2, 29, 0, 2)),
        ("yyyy D", "2024 60", (2024, 2, 29)),
        ("HH:mm:ss", "25:61:61", (1970, 1, 2, 2, 2, 1)),
    ],
)
def test_dates_are_read_as_java_reads_them(pattern: str, text: str, moment: tuple[int, ...]) -> None:
    assert SimpleDateFormat(pattern).parse(text) == to_millis(datetime(*moment, tzinfo=timezone.utc))  # type: ignore[misc, arg-type]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("yyyy-MM-dd", "29.02.2024"),
        ("yyyy-MM-dd", ""),
        ("yyyy-MMM", "2024-Foo"),
        ("HH:mm a", "10:00 XX"),
        ("HH z", "10 Nowhere"),
        ("HH X", "10 UTC"),
        ("yyyy", "99999"),
    ],
)
def test_text_that_does_not_match_is_none(pattern: str, text: str) -> None:
    assert SimpleDateFormat(pattern).parse(text) is None


def test_two_digit_years_are_near() -> None:
    year = datetime.now(timezone.utc).year
    for offset in (-79, -1, 0, 1, 19):
        text = f"{(year + offset) % 100:02d}"
        assert SimpleDateFormat("yy").parse(text) == to_millis(datetime(year + offset, 1, 1, tzinfo=timezone.utc))


def test_years_before_christ() -> None:
    assert SimpleDateFormat("yyyy G").parse("0001 BC") is None  # Python's calendar starts with the year 1
    assert SimpleDateFormat("yyyy G").parse("2024 AD") == to_millis(datetime(2024, 1, 1, tzinfo=timezone.utc))


@given(st.integers(min_value=0, max_value=4_102_444_800_000))
def test_what_is_written_reads_back(millis: int) -> None:
    for pattern in ("yyyy-MM-dd HH:mm:ss.SSS z", "yyyyMMddHHmmssSSS", "EEE, d MMM yyyy hh:mm:ss.SSS a"):
        form = SimpleDateFormat(pattern)
        assert form.parse(form.format(millis)) == millis


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [("yyyy-bb", "Illegal pattern character 'b'"), ("yyyy 'T", "Unterminated quote"), ("XXXX", "invalid ISO 8601")],
)
def test_wrong_patterns_are_refused(pattern: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        SimpleDateFormat(pattern)


def test_week_years_can_be_written_but_not_read() -> None:
    with pytest.raises(DataError, match=r"Y counts weeks. YYYY is the year of the week; the year is yyyy"):
        SimpleDateFormat("YYYY-MM-dd").parse("2024-01-01")
    with pytest.raises(DataError, match="w counts weeks"):
        SimpleDateFormat("ww").parse("01")
    assert repr(SimpleDateFormat("yyyy")) == "SimpleDateFormat('yyyy')"
