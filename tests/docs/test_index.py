"""The index is a map of all pages."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_every_page_is_in_the_index() -> None:
    linked = set(re.findall(r"\]\(([^)#\s]+\.md)\)", (DOCS / "index.md").read_text()))
    assert linked == {str(page.relative_to(DOCS)) for page in DOCS.glob("**/*.md")} - {"index.md"}
