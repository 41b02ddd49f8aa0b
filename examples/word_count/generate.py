"""Lines of text, made of words that are frequent or rare as in a language."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from examples.sending import Generated, generate
from examples.word_count import COUNTS, LINES

TOPICS = {LINES: 2, COUNTS: 2}
TEXT = (
    "the water of a river and in to is mill stream that turns wheel it stone for by as old from with grain flour at "
    "bridge all which miller its when under one morning over through valley spring then after gate penstock turbine"
)
WORDS = TEXT.split()


def records(seed: int, start: int, rate: float) -> Iterator[Generated]:
    """Lines of four to nine words; the n-th word of the list comes about 1/n as often as the first."""
    random = Random(seed)
    frequencies = [1 / rank for rank in range(1, len(WORDS) + 1)]
    number = 0
    while True:
        line = " ".join(random.choices(WORDS, frequencies, k=random.randint(4, 9)))
        yield Generated(LINES, None, line, start + int(number * 1000 / rate))
        number += 1


if __name__ == "__main__":
    generate(__doc__, TOPICS, records)
