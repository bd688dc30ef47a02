"""`make check-results` names every file that is not what its job wrote."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ranktrial.common import ledger
from scripts.archive import check_results
from tests.support.clone import METRICS, MODEL, clone, flip, write, write_model  # noqa: F401

REPOSITORY = Path(__file__).parents[2]


def check_all(*arguments):
    command = [sys.executable, REPOSITORY / "scripts/archive/check_results.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(REPOSITORY)})
    return done.returncode, done.stdout.strip(), done.stderr.splitlines()


def test_every_file_that_is_not_as_it_was_is_named_and_counted():
    write(METRICS)
    write_model()
    write(Path("results/other/summary.md"))
    write(Path("results/downloads/data.zip"))
    notes = Path("results/tiny/effects/notes.tsv")
    notes.parent.mkdir()
    notes.write_text("of no job")
    Path("results/tiny/logs").mkdir()
    Path("results/tiny/logs/score.log").write_text("host: x")
    code, said, errors = check_all()
    assert (code, errors) == (0, []) and said.startswith("downloads, other, tiny: 5 files checked in ")
    assert said.endswith("s, 0 are not what their jobs wrote; 1 not recorded")
    flip(METRICS)
    (MODEL / "model.safetensors").unlink()
    (MODEL / "extra.json").write_text("{}")
    flip(Path("results/other/summary.md"))
    (ledger.LEDGER / "results/downloads/data.zip").write_text("?")
    code, said, errors = check_all()
    assert code == 1 and "5 are not what their jobs wrote; 2 not recorded" in said
    assert errors == [
        f"error: results/other/summary.md: {ledger.DIFFERS}",
        f"error: {ledger.LEDGER}/results/downloads/data.zip: {check_results.DAMAGED}",
        f"error: {METRICS}: {ledger.DIFFERS}",
        f"error: {MODEL}/extra.json: {ledger.ALIEN}",
        f"error: {MODEL}/model.safetensors: {ledger.MISSING}",
    ]
    Path("config.yaml").write_text("experiment: other\n")
    code, said, errors = check_all("--config", "config.yaml")
    assert code == 1 and said.startswith("downloads, other: 1 files") and len(errors) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "results: no results in it"),
        (["--config", "none.yaml"], "none.yaml: no such file"),
        (["--config", "tiny.yaml"], "results/tiny: no such folder: the experiment has no results yet"),
    ],
)
def test_there_is_nothing_to_check(arguments, said):
    Path("tiny.yaml").write_text("experiment: tiny\n")
    code, _, errors = check_all(*arguments)
    assert code == 1 and errors == [f"error: {said}"]
