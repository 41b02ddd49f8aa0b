"""Dates as Java's SimpleDateFormat writes and reads them, in UTC and with English names."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from penstock.connect.data.date_pattern import Element, elements
from penstock.connect.data.logical import EPOCH, MILLIS_PER_DAY, from_millis
from penstock.connect.errors import DataError

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

# Zone names with one meaning in English; others can be written as offsets.
_ZONES = {
    "coordinated universal time": 0, "greenwich mean time": 0, "utc": 0, "gmt": 0, "ut": 0, "z": 0,
    "est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420, "mdt": -360, "pst": -480, "pdt": -420,
    "cet": 60, "cest": 120, "jst": 540,
}  # fmt: skip
_OFFSET = re.compile(r"(?:GMT|UTC)?([+-])(\d{1,2}):?(\d{2})?", re.IGNORECASE)
_ZONE_NAME = re.compile("|".join(sorted(_ZONES, key=len, reverse=True)), re.IGNORECASE)
_UNREADABLE = frozenset("YwWF")


class SimpleDateFormat:
    """A compiled pattern.

    >>> iso = SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'")
    >>> iso.format(86401234), iso.parse("1970-01-02T00:00:01.234Z")
    ('1970-01-02T00:00:01.234Z', 86401234)

    Args:
        pattern: The pattern, for example `yyyy-MM-dd HH:mm:ss`.

    Raises:
        ValueError: The pattern cannot be used.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._elements = elements(pattern)
        self._writers = [_writer(element) for element in self._elements]

    def format(self, millis: int) -> str:
        """An instant as text."""
        moment = from_millis(millis)
        return "".join([write(moment) for write in self._writers])

    def parse(self, text: str) -> int | None:
        """Milliseconds of a text; None if it does not match. Text after the match is ignored, as in Java.

        Raises:
            DataError: The pattern has week fields, which cannot be read.
        """
        unreadable = next((e.letter for e in self._elements if e.letter in _UNREADABLE), None)
        if unreadable is not None:
            raise DataError(
                f"the date pattern {self.pattern} cannot be used to read dates: {unreadable} counts weeks",
                hint="YYYY is the year of the week; the year is yyyy." if unreadable == "Y" else "Use yyyy-MM-dd.",
            )
        return _Reading(text).read(self._elements)

    def __repr__(self) -> str:
        return f"SimpleDateFormat({self.pattern!r})"


def _writer(element: Element) -> Callable[[datetime], str]:
    """The function that writes one element."""
    letter, count = element.letter, element.count
    if not letter:
        text = element.text
        return lambda _: text
    if letter in {"y", "Y"}:
        year = _week_year if letter == "Y" else _year
        if count == 2:
            return lambda moment: f"{year(moment) % 100:02d}"
        return lambda moment: f"{year(moment):0{count}d}"
    if letter in {"M", "L"} and count >= 3:
        size = None if count > 3 else 3
        return lambda moment: MONTHS[moment.month - 1][:size]
    if letter == "E":
        size = None if count > 3 else 3
        return lambda moment: DAYS[moment.weekday()][:size]
    if letter in _NUMBERS:
        number = _NUMBERS[letter]
        return lambda moment: f"{number(moment):0{count}d}"
    fixed = {"G": "AD", "Z": "+0000", "X": "Z", "z": "Coordinated Universal Time" if count > 3 else "UTC"}
    if letter in fixed:
        zone = fixed[letter]
        return lambda _: zone
    return lambda moment: "AM" if moment.hour < 12 else "PM"


def _year(moment: datetime) -> int:
    return moment.year


def _week_end(moment: datetime) -> datetime:
    return moment + timedelta(days=(5 - moment.weekday()) % 7)


def _week_year(moment: datetime) -> int:
    # Weeks start on Sunday, and the one with January 1 is the first: its Saturday tells the year.
    return _week_end(moment).year


def _day_of_year(moment: datetime) -> int:
    return moment.timetuple().tm_yday


_NUMBERS: dict[str, Callable[[datetime], int]] = {
    "M": lambda moment: moment.month,
    "L": lambda moment: moment.month,
    "d": lambda moment: moment.day,
    "D": _day_of_year,
    "F": lambda moment: (moment.day - 1) // 7 + 1,
    "u": lambda moment: moment.isoweekday(),
    "w": lambda moment: (_day_of_year(_week_end(moment)) - 1) // 7 + 1,
    "W": lambda moment: (moment.day + (moment.replace(day=1).weekday() + 1) % 7 - 1) // 7 + 1,
    "H": lambda moment: moment.hour,
    "k": lambda moment: moment.hour or 24,
    "K": lambda moment: moment.hour % 12,
    "h": lambda moment: moment.hour % 12 or 12,
    "m": lambda moment: moment.minute,
    "s": lambda moment: moment.second,
    "S": lambda moment: moment.microsecond // 1000,
}


class _Reading:
    """One text being read. Lenient as Java is: the 32nd of a month is a day of the next one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.fields: dict[str, int] = {}
        self.offset_minutes = 0

    def read(self, parts: tuple[Element, ...]) -> int | None:
        for index, element in enumerate(parts):
            following = parts[index + 1] if index + 1 < len(parts) else None
            if not self._element(element, following):
                return None
        return self._millis()

    def _element(self, element: Element, following: Element | None) -> bool:
        letter = element.letter
        if not letter:
            return self._literal(element.text)
        while self.text[self.position : self.position + 1] in {" ", "\t"}:
            self.position += 1
        if element.is_number:
            # Digits that run into those of the next element are split by the counts in the pattern.
            width = element.count if following is not None and following.is_number else None
            return self._number(letter, element.count, width)
        if letter in {"M", "L"}:
            return self._name("M", MONTHS, first=1)
        if letter == "E":
            return self._name("E", DAYS, first=0)
        if letter == "a":
            return self._name("a", ("AM", "PM"), first=0)
        if letter == "G":
            return self._name("G", ("BC", "AD"), first=0)
        return self._zone(letter)

    def _literal(self, text: str) -> bool:
        if not self.text.startswith(text, self.position):
            return False
        self.position += len(text)
        return True

    def _number(self, letter: str, count: int, width: int | None) -> bool:
        digits = rf"-?\d{{1,{width}}}" if width is not None else r"-?\d+"
        match = re.compile(digits, re.ASCII).match(self.text, self.position)
        if match is None:
            return False
        self.position = match.end()
        number = int(match[0])
        if letter == "y" and count <= 2 and len(match[0]) == 2 and number >= 0:
            number = _full_year(number)
        self.fields["M" if letter == "L" else letter] = number
        return True

    def _name(self, letter: str, names: tuple[str, ...], *, first: int) -> bool:
        rest = self.text[self.position :].lower()
        for full in (True, False):
            for index, name in enumerate(names):
                candidate = name.lower() if full else name[:3].lower()
                if rest.startswith(candidate):
                    self.position += len(candidate)
                    self.fields[letter] = index + first
                    return True
        return False

    def _zone(self, letter: str) -> bool:
        match = _OFFSET.match(self.text, self.position)
        if match is not None:
            minutes = int(match[2]) * 60 + int(match[3] or 0)
            self.offset_minutes = minutes if match[1] == "+" else -minutes
        elif letter == "X":
            match = re.compile("Z").match(self.text, self.position)
        else:
            match = _ZONE_NAME.match(self.text, self.position)
            self.offset_minutes = _ZONES[match[0].lower()] if match is not None else 0
        if match is None:
            return False
        self.position = match.end()
        return True

    def _millis(self) -> int | None:
        fields = self.fields
        year = fields.get("y", 1970)
        if fields.get("G") == 0:
            year = 1 - year
        month = fields.get("M", 1) - 1
        day = fields["d"] - 1 if "d" in fields else 0
        if "D" in fields and "M" not in fields and "d" not in fields:
            day = fields["D"] - 1
        try:
            first = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=EPOCH.tzinfo)
        except (ValueError, OverflowError):
            return None
        days = (first - EPOCH).days + day
        seconds = (self._hour() * 60 + fields.get("m", 0) - self.offset_minutes) * 60 + fields.get("s", 0)
        return days * MILLIS_PER_DAY + seconds * 1000 + fields.get("S", 0)

    def _hour(self) -> int:
        fields = self.fields
        if "H" in fields:
            return fields["H"]
        if "k" in fields:
            return 0 if fields["k"] == 24 else fields["k"]
        hour = fields.get("K", fields.get("h", 0))
        return (0 if hour == 12 and "h" in fields else hour) + 12 * fields.get("a", 0)


def _full_year(two_digits: int) -> int:
    """A year of two digits lies between 80 years ago and 20 years ahead."""
    now = datetime.now(EPOCH.tzinfo).year
    return now - 80 + (two_digits - (now - 80)) % 100
