"""Topic patterns of sources."""

from __future__ import annotations

import re
from typing import Any

from penstock.errors import TopologyError
from penstock.topology.nodes import SourceNode


def pattern_text(topics: tuple[str, ...], pattern: Any, line: str | None) -> str | None:
    """The text of a source's pattern; exactly one of topics and pattern must be given."""
    if bool(topics) == (pattern is not None):
        raise TopologyError(
            "a source needs topics or a pattern" if pattern is None else "a source was given topics and a pattern",
            line=line,
            hint='Give one of them: stream("orders") or stream(pattern="orders-.*").',
        )
    if pattern is None:
        return None
    try:
        return re.compile(pattern).pattern  # type: ignore[no-any-return]
    except (re.error, TypeError) as error:
        raise TopologyError(
            f"the topic pattern {pattern!r} is not a regular expression: {error}",
            line=line,
            hint="Give text or a compiled pattern.",
        ) from None


def shared_topic(first: SourceNode, second: SourceNode) -> str | None:
    """A topic that both sources read, by name or by pattern."""
    for topic in first.topics:
        if topic in second.topics or (second.pattern is not None and re.fullmatch(second.pattern, topic)):
            return topic
    if first.pattern is not None:
        return next((topic for topic in second.topics if re.fullmatch(first.pattern, topic)), None)
    return None
