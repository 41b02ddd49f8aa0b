"""A stream of text for the demo: a steady rate, with a burst now and then."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator

from penstock.kafka.producing import RecordProducer
from penstock.kafka.settings import Settings

SENTENCES = (
    "The river comes down from the hills and asks nobody for the way.",
    "In spring the river carries snow, in autumn it carries leaves.",
    "The miller opens the gate and the water falls on the wheel.",
    "A wheel that stands still is only wood, the water makes it a mill.",
    "The pipe brings the stream to the turbine and the turbine brings the light.",
    "Nobody in the village remembers who laid the first stone of the dam.",
    "The old dam hums at night when the water is high.",
    "Every drop that passes the gate is counted once and only once.",
    "What has passed does not come back, but the count remembers it.",
    "The keeper of the dam writes the level of the water in a book.",
    "When the keeper is away his daughter writes the book.",
    "She counts the boats, the barges and the trees that float by.",
    "A barge with grain, a barge with coal, and a boat with two quarrelling brothers.",
    "The brothers quarrel about the river, and the river does not mind.",
    "After the storm the water was brown and the wheel ran fast.",
    "After the flood the miller counted his sacks and was glad.",
    "The light in the window is the river's work.",
    "A stream that waits is a lake, a lake that hurries is a stream.",
    "The turbine turns, the wire sings, and the town wakes up.",
    "In the dry summer the keeper opened the gate by a hand's width.",
    "Two hands' width in May, and in June the gate stood open.",
    "The fish know the way around the dam, the boats do not.",
    "The children throw sticks from the bridge and run to the other side.",
    "The stick that comes first wins, and the water keeps the prize.",
    "The bridge is older than the dam, and the ford is older than the bridge.",
    "At the ford the carters used to wait for the water to fall.",
    "Now nobody waits, and the carters are in the book of the keeper.",
    "The book says: high water, low water, ice, and once a whale, crossed out.",
    "The daughter of the keeper became the engineer of the turbine.",
    "She says that the river is a letter and the book is the answer.",
    "Between the hills and the sea the river turns nine wheels.",
    "The ninth wheel turns for nobody, it belongs to a painter.",
    "The painter paints the water, and the water never sits still.",
    "In winter the pipe groans, but the stream goes on under the ice.",
    "Under the ice the stream counts the days until spring.",
    "The sea takes every river and is not full.",
)
BURST_EVERY = 10.0
BURST_SECONDS = 2.0
BURST_FACTOR = 5
_TICK = 0.05


def sentences(seed: int = 0) -> Iterator[str]:
    """Sentences without end, the same for the same seed.

    >>> next(sentences()) in SENTENCES
    True
    """
    chosen = random.Random(seed)
    while True:
        yield chosen.choice(SENTENCES)


def due(elapsed: float, rate: float) -> int:
    """Lines that must have been sent after so many seconds.

    >>> due(1.0, rate=100), due(10.0, rate=100), due(12.0, rate=100)
    (100, 1000, 2000)
    """
    whole, rest = divmod(elapsed, BURST_EVERY)
    # A burst opens every period but the first, which belongs to the start.
    bursts = max(0.0, whole - 1) * BURST_SECONDS + (min(rest, BURST_SECONDS) if whole else 0.0)
    return int(rate * (elapsed + (BURST_FACTOR - 1) * bursts))


class TextSource(threading.Thread):
    """Produces lines until stopped.

    Attributes:
        sent: Lines produced so far.
        failure: What ended it early, if anything did.
    """

    def __init__(self, settings: Settings, topic: str, rate: float) -> None:
        super().__init__(name="penstock-demo-text", daemon=True)
        self._settings = settings
        self._topic = topic
        self._rate = rate
        self._stopping = threading.Event()
        self.sent = 0
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            self._produce()
        except Exception as error:  # noqa: BLE001 - shown by whoever watches
            self.failure = error

    def _produce(self) -> None:
        producer = RecordProducer(self._settings)
        text = sentences()
        begin = time.monotonic()
        while not self._stopping.wait(_TICK):
            for _ in range(due(time.monotonic() - begin, self._rate) - self.sent):
                producer.produce(self._topic, next(text).encode())
                self.sent += 1
        producer.flush()

    def stop(self) -> None:
        """Send what is queued, and end."""
        self._stopping.set()
        if self.is_alive():
            self.join()
