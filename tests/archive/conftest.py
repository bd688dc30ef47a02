"""The small archive that these tests change, made by the first that asks, once for all processes of a run."""

import pytest

from tests.support import crafted
from tests.support.once import made_once


@pytest.fixture(scope="session", autouse=True)
def small_archive(tmp_path_factory: pytest.TempPathFactory) -> None:
    crafted.MADE[:] = [lambda: made_once(tmp_path_factory, "crafted", crafted.make)]
