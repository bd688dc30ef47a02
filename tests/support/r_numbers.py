"""Numbers of R: those stored in tests/statistics/oracle/, and those that its scripts compute now, where R is there
already: nothing is installed.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ORACLE = Path(__file__).parents[1] / "statistics" / "oracle"
INTERVALS = {"z": "normal", "knha": "knapp-hartung-unmodified", "adhoc": "knapp-hartung"}  # metafor's name -> ours


def stored(name: str) -> Any:
    """The stored numbers of a script."""
    return json.loads((ORACLE / f"{name}.json").read_text())


def fits(cases: list[dict], tests: tuple[str, ...] = ("z", "knha")) -> list:
    """Parameters of a test: each case with each of metafor's fits of it. The scale of `adhoc` is at least 1; the interval
    of Knapp and Hartung has another floor here.
    """
    both = [(case, fit) for case in cases for fit in case["fits"] if fit["test"] in tests]
    return [pytest.param(case, fit, id=f"{case['name']}-{fit['estimator']}-{fit['test']}") for case, fit in both]


def computed(name: str, *words: str, packages: tuple[str, ...] = ()) -> Any:
    """What the script computes now. Skips the test, with the reason, unless R has the packages."""
    if not shutil.which("Rscript"):
        pytest.skip("no R here")
    loaded = "; ".join(f"stopifnot(requireNamespace('{package}', quietly = TRUE))" for package in packages)
    if subprocess.run(["Rscript", "-e", loaded], capture_output=True).returncode:
        pytest.skip(f"R has no {' and '.join(packages)} here")
    done = subprocess.run(["Rscript", ORACLE / f"{name}.R", *words], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
