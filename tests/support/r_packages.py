"""Packages of R with which tests compute stored numbers again, where they are there already: nothing is installed."""

from __future__ import annotations

import shutil
import subprocess

import pytest


def there(*packages: str) -> None:
    """Skip the test, with the reason, unless R has the packages."""
    if not shutil.which("Rscript"):
        pytest.skip("no R here")
    loaded = "; ".join(f"stopifnot(requireNamespace('{package}', quietly = TRUE))" for package in packages)
    if subprocess.run(["Rscript", "-e", loaded], capture_output=True).returncode:
        pytest.skip(f"R has no {' and '.join(packages)} here")
