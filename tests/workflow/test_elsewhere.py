"""Results in another clone: what was up to date stays so, however the folder was copied, and the network is not needed."""

import os
import shutil
import subprocess
import time

import pytest

from tests.workflow.conftest import copy, tiny_config

WITHOUT_NETWORK = ["unshare", "--user", "--map-root-user", "--net"]
NETWORK_RULES = {"fetch", "fetch_folder"}


@pytest.fixture
def elsewhere(prepared, finished, tmp_path):
    """A fresh clone into which the results of a finished run were copied without their dates: each file has another."""
    clone = copy(prepared.folder, tmp_path / "elsewhere")
    shutil.copytree(finished.folder / "results", clone.folder / "results", copy_function=shutil.copyfile)
    now = time.time()
    for number, path in enumerate(sorted(clone.folder.rglob("*"), reverse=True)):
        os.utime(path, (now + number, now + number))
    return clone


def test_copied_results_are_up_to_date(elsewhere):
    assert not (elsewhere.folder / ".snakemake").exists()
    assert elsewhere.planned() == set()


def test_a_change_reruns_there_what_it_reruns_here(elsewhere, again):
    config = tiny_config()
    config["recipes"]["hard"]["learning_rate"] = 0.0005
    for workspace in (elsewhere, again):
        workspace.write_config(config)
    planned = elsewhere.planned()
    assert planned == again.planned()
    assert "fine_tune bert hard seed-1" in planned and "fine_tune bert random seed-1" not in planned


def test_without_their_records_copied_results_are_made_anew(elsewhere):
    shutil.rmtree(elsewhere.folder / "results" / "state")
    assert "fine_tune bert hard seed-1" in elsewhere.planned(), "newer inputs and no records"


def test_prepare_does_all_that_needs_the_network(fresh):
    config = tiny_config()
    config["systems"] = {name: config["systems"][name] for name in ("plain", "zero-shot", "random", "reranker")}
    config["recipes"] = {"random": config["recipes"]["random"]}
    config["comparisons"] = {"random-helps": config["comparisons"]["random-helps"]}
    config["models"]["bert"]["weights"] = config["models"]["bert-ce"]["weights"] = str(fresh.folder / "weights/tiny")
    fresh.write_config(config)
    if subprocess.run([*WITHOUT_NETWORK, "true"], capture_output=True).returncode:
        pytest.skip("this system lets no user make a network namespace (unshare --user --net)")
    fresh.run("prepare")
    left = fresh.planned()
    assert not {job.split()[0] for job in left} & (NETWORK_RULES | {"prepare_dataset", "weights"})
    assert "fine_tune bert random seed-1" in left
    figure = "results/tiny/figures/random-helps.png"
    command = [*WITHOUT_NETWORK, *fresh.command(figure)]
    done = subprocess.run(command, cwd=fresh.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert (fresh.folder / figure).is_file()
