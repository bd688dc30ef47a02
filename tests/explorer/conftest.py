"""The explorer of a crafted experiment, written once."""

import os

import pytest

from tests.explorer.crafted_experiment import settings, write_explorer, write_inputs


@pytest.fixture(scope="session")
def explored(tmp_path_factory):
    """The folder of the experiment; explorer/ and explorer-ids/, which shows ids alone, lie in it."""
    folder = tmp_path_factory.mktemp("explored")
    before = os.getcwd()
    os.chdir(folder)
    try:
        write_inputs()
        write_explorer(folder / "explorer", settings())
        write_explorer(folder / "explorer-ids", settings(texts=False))
    finally:
        os.chdir(before)
    return folder
