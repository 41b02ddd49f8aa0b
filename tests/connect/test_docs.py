from __future__ import annotations

from pathlib import Path

import pytest

from penstock.connect.transforms import PREDICATES, TRANSFORMS
from tests.connect import docs_reference
from tests.connect.docs_tables import PAGES, filled


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tables_in_the_docs_are_current(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == filled(text), "run: make docs-tables"


def test_every_plugin_has_a_table_of_its_settings() -> None:
    assert docs_reference.missing(PAGES) == [], (
        "no page of docs/connect has a table of their settings; put <!-- settings: SimpleClassName --> and "
        "<!-- /settings --> on two lines of one, and run: make docs-tables"
    )


def test_a_plugin_without_a_table_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- settings: DatagenConnector -->\n<!-- /settings -->\n")
    found = docs_reference.missing([page])
    assert "org.apache.kafka.connect.file.FileStreamSinkConnector" in found
    assert "io.confluent.kafka.connect.datagen.DatagenConnector" not in found


def test_every_transform_and_predicate_has_a_section() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for plugin in [*TRANSFORMS, *PREDICATES]:
        assert f"\n### {plugin.simple_name.partition('$')[0]}" in text
