"""Figures as text: tables for people, JSON for programs, both with the header of the machine."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown, its columns aligned.

    >>> print(table(["system", "records/s"], [["penstock", "100"]]))
    | system   | records/s |
    |----------|-----------|
    | penstock | 100       |
    """
    cells = [list(titles), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(titles))]
    lines = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in cells]
    return "\n".join([lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:]])


def spread(values: Sequence[float], digits: int = 0) -> str:
    """Median and range.

    >>> spread([1000.0, 3000.0, 2000.0])
    '2,000 (1,000-3,000)'
    """
    middle = f"{statistics.median(values):,.{digits}f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):,.{digits}f}-{max(values):,.{digits}f})"


def percentile(values: Sequence[float], share: float) -> float:
    """The value that a share of all values does not exceed.

    >>> percentile([4, 1, 3, 2], 0.5)
    2
    """
    ordered = sorted(values)
    return ordered[max(0, min(len(ordered) - 1, -(-int(share * 1000) * len(ordered) // 1000) - 1))]


def save(name: str, header: str, text: str, figures: Mapping[str, Any]) -> None:
    """Keep a result: as the text that was printed, and as the figures behind it."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(f"```\n{header}\n```\n\n{text}\n")
    document = {"machine": header.splitlines(), **figures}
    (RESULTS / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
