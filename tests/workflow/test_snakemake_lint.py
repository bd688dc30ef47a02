"""`snakemake --lint`: what it finds is either mended or stands here, with the reason why it is right for us."""

import re
import subprocess

import pytest

from tests.workflow.conftest import REPOSITORY, Workspace

ACCEPTED = {
    "Mixed rules and functions in same snakefile": "a function that fills the inputs of the one rule below it is read with it",
    "Environment variable PATH used": "it is set here for the jobs, not expected from the user",
    "Environment variable PYTHONUTF8 used": "it is set here for the jobs, not expected from the user",
    "Environment variable RANKTRIAL_DEVICE used": "it is set here for the jobs, not expected from the user",
    "No log directive defined": "a rule in_… has no job: others inherit its environment and command",
    "Path composition with '+'": "found in the text of a shell command, which composes no path",
}


def lints() -> list[str]:
    command = [Workspace.python, "-m", "snakemake", "--lint", "--configfile", "config/ranger.yaml"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    printed = done.stdout + done.stderr
    if missing := re.search("no file or folder '.*' here or in the mirrors", printed):
        pytest.skip(missing.group())  # data that is not on this machine
    assert "Lints for" in printed or "Congratulations" in printed, printed
    return re.findall(r"^    \* (.*)$", printed, re.MULTILINE)


def test_snakemake_finds_no_further_lint():
    assert [line for line in lints() if not line.startswith(tuple(ACCEPTED))] == []
