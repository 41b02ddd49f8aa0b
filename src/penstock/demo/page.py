"""The demo's page in a terminal, and the same in plain lines."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from penstock.demo.stats import DemoStats

_BLOCKS = " ▏▎▍▌▋▊▉█"
_BAR_WIDTH = 30
_OTHER_LINES = 9


def page(stats: DemoStats, *, height: int = 24) -> RenderableType:
    """What a terminal shows of a moment.

    Args:
        stats: The moment.
        height: Lines of the terminal; fewer lines show fewer words.
    """
    words = max(3, min(12, height - _OTHER_LINES))
    title = Text(f"{stats.seconds:5.1f} s  {stats.step}", style="dim")
    return Panel(
        Group(_words(stats, words), Text(), _figures(stats)),
        title="[bold]penstock[/bold] word count: Kafka -> Spark -> Kafka",
        title_align="left",
        subtitle=title,
        subtitle_align="left",
        padding=(0, 1),
    )


def _words(stats: DemoStats, number: int) -> RenderableType:
    top = stats.top(number)
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", min_width=10)
    table.add_column(min_width=_BAR_WIDTH)
    table.add_column(justify="right", min_width=8)
    for word, count in top:
        table.add_row(word, Text(bar(count / top[0][1]), style="cyan"), f"{count:,}")
    # The page keeps its height from the first moment to the last.
    for _ in range(number - len(top)):
        table.add_row("", "", "")
    return table


def _figures(stats: DemoStats) -> RenderableType:
    table = Table.grid(padding=(0, 3))
    for _ in range(4):
        table.add_column()
    cells = [
        ("lines", f"{stats.lines:,}"),
        ("lines/s", f"{stats.lines_per_second:,.0f}"),
        ("not yet processed", f"{stats.behind:,}"),
        ("updates sent", f"{stats.updates:,}"),
        ("batches", f"{stats.batches:,}"),
        ("last batch", f"{stats.batch_ms:,.0f} ms"),
        ("words in the store", f"{stats.state_rows:,}"),
        ("store", size(stats.state_bytes)),
    ]
    texts = [Text.assemble((f"{name} ", "dim"), (value, "bold")) for name, value in cells]
    table.add_row(*texts[:4])
    table.add_row(*texts[4:])
    return table


def bar(share: float, width: int = _BAR_WIDTH) -> str:
    """A bar of blocks, in eighths of a character.

    >>> bar(0.5, width=4), bar(1.0, width=2), bar(0.3, width=1)
    ('██', '██', '▎')
    """
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_BLOCKS[rest] if rest else "")


def size(count: float) -> str:
    """Bytes for people.

    >>> size(0), size(2048), size(188416), size(3 << 30)
    ('0 B', '2.0 KB', '184.0 KB', '3.0 GB')
    """
    for unit in ("B", "KB", "MB"):
        if count < 1024:
            return f"{count:.1f} {unit}" if unit != "B" else f"{count:.0f} B"
        count /= 1024
    return f"{count:.1f} GB"


def step_line(stats: DemoStats) -> str:
    """What begins, in one line.

    >>> step_line(DemoStats(seconds=2.5, step="starting Spark"))
    '   2.5 s  starting Spark'
    """
    return f"{stats.seconds:6.1f} s  {stats.step}"


def plain_line(stats: DemoStats) -> str:
    """The page in one line, for pipes and logs."""
    top = ", ".join(f"{word} {count:,}" for word, count in stats.top(5))
    return (
        f"{stats.seconds:6.1f} s  {stats.lines:,} lines, {stats.lines_per_second:,.0f}/s, {stats.behind:,} behind, "
        f"batch {stats.batch_ms:,.0f} ms, {stats.state_rows:,} words in {size(stats.state_bytes)}: {top}"
    )
