"""Every Python block of the README and of docs/ runs; a page that is wrong fails here.

The blocks of a page run in order, in one namespace. A block marked `python no-run` is compiled only. A page with the
comment `<!-- needs: broker spark -->` gets the test session's Kafka in place of localhost:9092, and its Spark session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
DOCUMENTED_KAFKA = "localhost:9092"

_FENCE = re.compile(r"^```(\S*) *(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NEEDS = re.compile(r"<!-- needs: ([a-z ]+) -->")
_LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)#\s]+)(?:#[^)]*)?\)")


@dataclass(frozen=True)
class Block:
    """A block of Python in a page."""

    page: Path
    line: int
    source: str
    runs: bool

    def compiled(self, bootstrap_servers: str) -> Any:
        source = self.source.replace(DOCUMENTED_KAFKA, bootstrap_servers)
        # Empty lines before it make an error's line number the page's.
        return compile("\n" * self.line + source, str(self.page), "exec")


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for fence in _FENCE.finditer(text):
        if fence[1] == "python":
            yield Block(page, text[: fence.start()].count("\n") + 1, fence[3], runs="no-run" not in fence[2])


def _parameters() -> list[Any]:
    found = []
    for page in PAGES:
        if any(blocks(page)):
            needs = _NEEDS.search(page.read_text())
            names = needs[1].split() if needs else []
            marks = [getattr(pytest.mark, name) for name in names]
            found.append(pytest.param(page, names, id=str(page.relative_to(ROOT)), marks=marks))
    return found


@pytest.fixture
def bootstrap_servers(needs: list[str], request: pytest.FixtureRequest) -> str:
    """Starts what a page needs, before its time is taken."""
    # Pages have topics of the same names as other pages and as the examples: each finds none.
    services = {name: request.getfixturevalue("swept_broker" if name == "broker" else name) for name in needs}
    return str(services["broker"].bootstrap_servers) if "broker" in services else DOCUMENTED_KAFKA


@pytest.mark.parametrize(("page", "needs"), _parameters())
def test_the_python_of_a_page_runs(
    page: Path, bootstrap_servers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # As a script: functions of __main__ travel to Spark's workers by value.
    namespace: dict[str, Any] = {"__name__": "__main__", "__file__": str(page)}
    for block in blocks(page):
        code = block.compiled(bootstrap_servers)
        if block.runs:
            exec(code, namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    links = [unquote(link) for link in _LINK.findall(page.read_text()) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []
