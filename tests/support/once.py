"""What all processes of one run of the tests need is made by the first that asks; the others wait for it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder `name`, which `make` fills; it is one for all of pytest-xdist's workers and is not to be changed."""
    base = factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, made = root / f"once-{name}", root / f"once-{name}.made"
    with FileLock(root / f"once-{name}.lock"):
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)  # what another worker could not finish
            folder.mkdir()
            make(folder)
            made.touch()
    return folder
