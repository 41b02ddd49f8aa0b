from __future__ import annotations

import pyarrow.fs as pafs
import pytest

from penstock.errors import ConfigError
from penstock.state.disk.segments import filesystem


@pytest.mark.parametrize("location", ["/data/app", "file:/data/app", "file:///data/app"])
def test_folders_of_this_machine(location: str) -> None:
    fs, path = filesystem(location)
    assert isinstance(fs, pafs.LocalFileSystem)
    assert path == "/data/app"


@pytest.mark.parametrize("location", ["foo://bar", "file://elsewhere/app"])
def test_a_place_that_cannot_be_opened_is_named(location: str) -> None:
    with pytest.raises(ConfigError) as raised:
        filesystem(location)
    assert str(raised.value).startswith(f"the folder {location} cannot be opened: ")
    assert str(raised.value).endswith("Give a path, or a URI that pyarrow opens.")
