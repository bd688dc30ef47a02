"""The explorer of a crafted experiment, written once."""

import os

import pytest

from tests.explorer.crafted_experiment import (
    settings,
    settings_of_ties,
    settings_of_values,
    write_explorer,
    write_inputs,
)


@pytest.fixture(scope="session")
def explored(tmp_path_factory):
    """The folder of the experiment with explorer/ and, beside it, explorer-ids/ (without texts), explorer-values/
    (scores alone) and explorer-ties/ (two systems that never differ)."""
    folder = tmp_path_factory.mktemp("explored")
    before = os.getcwd()
    os.chdir(folder)
    try:
        write_inputs()
        write_explorer(folder / "explorer", settings())
        write_explorer(folder / "explorer-ids", settings(texts=False))
        write_explorer(folder / "explorer-values", settings_of_values())
        write_explorer(folder / "explorer-ties", settings_of_ties())
    finally:
        os.chdir(before)
    return folder
