from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="package")
def quiet() -> Iterator[None]:
    """The data has records to drop: thousands of warnings."""
    log = logging.getLogger("penstock")
    before = log.level
    log.setLevel(logging.ERROR)
    yield
    log.setLevel(before)
