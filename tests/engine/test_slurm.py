"""The names by which an experiment's Slurm jobs are known; what is done with them is tested on a real Slurm."""

import re

import pytest

from scripts.engine.slurm import begin_run, prefix


def test_a_name_belongs_to_one_experiment_in_one_folder(tmp_path):
    folders = [tmp_path / "a" / "results" / "x", tmp_path / "b" / "results" / "x", tmp_path / "a" / "results" / "x.y"]
    names = [prefix(folder) for folder in folders]
    assert not any(one.startswith(other) for one in names for other in names if one is not other)
    assert names[0].startswith("x_") and names[2].startswith("x-y_")


def test_a_name_is_one_that_slurm_and_the_shell_take_as_it_is(tmp_path):
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,50}", prefix(tmp_path / ("ü .;$" + "long" * 50)))


def test_without_slurm_nothing_is_asked_or_renamed():
    executor = object()
    begin_run(executor, "results/x")
    assert not hasattr(executor, "run_uuid")


def test_a_machine_without_slurm_is_told_in_one_line(monkeypatch, tmp_path):
    executor = type(
        "Executor", (), {"__module__": "snakemake_executor_plugin_slurm", "run_uuid": "1", "check_active_jobs": None}
    )()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="error: squeue: no such command"):
        begin_run(executor, "results/x")
