"""Users who search and click: most clicks follow a search within a second, some come out of nowhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

from examples.clickstream import ACTIVITY, CLICKS, PROFILES, SEARCHES
from examples.sending import Generated, generate

TOPICS = {PROFILES: 2, SEARCHES: 2, CLICKS: 2, ACTIVITY: 2}
FIRST_NAMES = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gita", "Hal", "Ivy", "Jon", "Kim", "Leo", "Mia", "Ned")
NAMES = {f"u{number}": name for number, name in enumerate(FIRST_NAMES)}
USERS = (*NAMES, "u98", "u99")  # the last two have no profile
THINGS = ("boots", "tent", "lamp", "map", "rope")


def records(seed: int, start: int, rate: float) -> Iterator[Generated]:
    """First all profiles, then searches and clicks, and now and then a user with a new name."""
    random = Random(seed)
    for user, name in NAMES.items():
        yield Generated(PROFILES, user, json.dumps({"name": name}), start)
    number = 0
    while True:
        at, user = start + int(number * 1000 / rate), random.choice(USERS)
        thing = random.choice(THINGS)
        if random.random() < 0.02 and user in NAMES:
            yield Generated(PROFILES, user, json.dumps({"name": f"{NAMES[user]} {random.randrange(100)}"}), at)
        elif random.random() < 0.6:
            yield Generated(SEARCHES, user, json.dumps({"text": thing}), at)
            for _ in range(random.randrange(3)):
                at += random.randrange(1, 500)
                yield Generated(CLICKS, user, json.dumps({"page": f"/{thing}/{random.randrange(9)}"}), at)
        else:
            yield Generated(CLICKS, user, json.dumps({"page": f"/{thing}"}), at)
        number += 1


if __name__ == "__main__":
    generate(__doc__, TOPICS, records)
