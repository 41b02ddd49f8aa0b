"""Records on their way: bytes to sink records, source records to bytes."""

from penstock.connect.pipelines.sink import SinkPipeline
from penstock.connect.pipelines.source import ProducedRecord, SourcePipeline

__all__ = ["ProducedRecord", "SinkPipeline", "SourcePipeline"]
