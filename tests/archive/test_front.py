"""`make archive EXPERIMENT=name` finds the configuration, whatever else lies in config/."""

import subprocess
from types import SimpleNamespace

import pytest

from scripts.archive.front import configuration, unfinished
from tests.support.one_line import refused


@pytest.fixture
def folder(tmp_path):
    for file, text in {"a": "experiment: mine", "broken": "experiment: [", "list": "- 1", "none": "depth: 3"}.items():
        (tmp_path / f"{file}.yaml").write_text(f"{text}\n")
    return tmp_path


def test_a_broken_configuration_of_another_experiment_is_passed_over(folder):
    assert configuration("mine", folder) == folder / "a.yaml"


def test_where_none_fits_those_that_cannot_be_read_are_named(folder):
    with refused(
        f"yours: no configuration in {folder}/ has this experiment; there are mine ({folder}/a.yaml); ",
        f"; not read: {folder}/broken.yaml:2: not YAML: ",
        f"; not read: {folder}/list.yaml:1: a list at the top",
    ):
        configuration("yours", folder)


def test_of_two_with_one_name_neither_is_taken(folder):
    (folder / "b.yaml").write_text("experiment: mine\n")
    with refused(
        f"{folder}/a.yaml and {folder}/b.yaml have the same name, experiment: mine, so they share its ",
        f"; write CONFIG={folder}/a.yaml instead of EXPERIMENT, or give one of them another",
    ):
        configuration("mine", folder)


@pytest.mark.parametrize(
    "states, said",
    [
        (
            ["ok", "params changed", "missing", "ok", "missing"],
            "5 files are to be made: f2 (missing), f4 (missing), f1 (params changed), and 2 that depend on them",
        ),
        (["missing"] * 6 + ["ok"], "7 files are to be made: f0 (missing), f1 (missing), f2 (missing), f3 (missing), "
         "f4 (missing), …, and 1 that depend on them"),
        (["ok", "ok"], "2 files are to be made: f0, f1"),
        ([], ""),
    ],
)  # fmt: skip
def test_the_missing_files_are_named_first(monkeypatch, tmp_path, states, said):
    """Snakemake's own order follows the plan; files that are there are only to be made again after the missing one."""
    heading = "output_file\tdate\trule\tlog-file(s)\tstatus\tplan\n"
    rows = [f"f{number}\t-\tr\t\t{state}\tupdate pending\n" for number, state in enumerate(states)]
    summary = SimpleNamespace(
        returncode=0, stdout=heading + "".join(rows) + "last\t-\tr\t\tmissing\tno update\n", stderr=""
    )
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: summary)
    assert unfinished(tmp_path / "c.yaml") == said
