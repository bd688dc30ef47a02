"""The workflow deployed in another repository, whose jobs Slurm runs and whose results another copy takes over."""

import os
import shutil
import subprocess

import pytest

from tests.cluster.conftest import QUICK
from tests.workflow.conftest import REPOSITORY
from tests.workflow.test_module import git, importer, installed, paper, published  # noqa: F401  fixtures

pytestmark = [pytest.mark.cluster, pytest.mark.long]


def test_a_deployed_workflow_goes_on_in_a_copy(paper, published, installed, slurm, tmp_path_factory):  # noqa: F811
    folder, _ = paper
    shutil.copytree(REPOSITORY / "profiles", folder / "profiles")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "profiles")
    bin, _ = installed
    further = published[1] | {"PATH": f"{bin}{os.pathsep}{os.environ['PATH']}"}

    def run(*words, place=folder):
        return subprocess.run(
            [bin / "python", "-m", *words] if words[0] == "snakemake" else [bin / words[0], *words[1:]],
            cwd=place, capture_output=True, text=True, env=os.environ | further, timeout=600,
        )  # fmt: skip

    on_slurm = ["snakemake", "--profile", "profiles/slurm", *QUICK]
    done = run(*on_slurm)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    records = slurm.jobs(folder)
    assert {one["JobState"] for one in records} == {"COMPLETED"}
    assert {"rule_score_wildcards__weather_a_0", "rule_compare_wildcards_b-helps"} <= {
        one["Comment"] for one in records
    }
    for command in ("archive", "export-runs"):
        packed = run("ranktrial", command, "--config", "config/config.yaml")
        assert packed.returncode == 0, packed.stderr
    assert run("ranktrial", "check-cluster", "--config", "config/config.yaml").returncode == 0

    other = tmp_path_factory.mktemp("other") / "copy"
    git(folder, "clone", "--quiet", folder, other)
    resumed = run("ranktrial", "resume", "--archive", folder / "results/theirs/theirs.crate.zip", place=other)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    again = run(*on_slurm, place=other)
    assert again.returncode == 0, again.stdout + again.stderr
    assert [one["Comment"] for one in slurm.jobs(other)] == ["rule_explorer"]  # which is in no archive
