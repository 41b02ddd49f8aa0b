"""Fixtures for tests of topologies and processors; pytest finds them by itself once penstock is installed.

What they make is imported when a test asks for it, so that pytest starts as fast as without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from penstock.testing import MockProcessorContext, TopologyTestDriver


@pytest.fixture
def topology_test_driver() -> Iterator[Callable[..., TopologyTestDriver]]:
    """Makes test drivers and closes them after the test: `topology_test_driver(builder, config, wall_clock=0)`."""
    from penstock.testing import TopologyTestDriver

    made: list[TopologyTestDriver] = []

    def make(topology: Any, config: Any = None, **options: Any) -> TopologyTestDriver:
        made.append(TopologyTestDriver(topology, config, **options))
        return made[-1]

    yield make
    for driver in reversed(made):
        driver.close()


@pytest.fixture
def mock_processor_context() -> MockProcessorContext:
    """A context for a processor alone, with default settings."""
    from penstock.testing import MockProcessorContext

    return MockProcessorContext()
