"""Testing a topology without Spark, Java or a broker."""

from penstock.testing.driver import TopologyTestDriver
from penstock.testing.mock_context import MockProcessorContext
from penstock.testing.test_record import TestRecord
from penstock.testing.topics import TestInputTopic, TestOutputTopic

__all__ = ["MockProcessorContext", "TestInputTopic", "TestOutputTopic", "TestRecord", "TopologyTestDriver"]
