"""What several tests of the application use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.runtime.scripted_host import ScriptedStreams


@pytest.fixture
def app() -> Iterator[ScriptedStreams]:
    made = ScriptedStreams()
    yield made
    made.close("10s")
