"""`snakemake --lint`: what it finds is either mended or stands here, with the reason why it is right for us."""

import re

ACCEPTED = {
    "Mixed rules and functions in same snakefile": "a function that fills the inputs of the one rule below it is read with it",
    "Environment variable PATH used": "it is set here for the jobs, not expected from the user",
    "Environment variable PYTHONUTF8 used": "it is set here for the jobs, not expected from the user",
    "Environment variable RANKTRIAL_DEVICE used": "it is set here for the jobs, not expected from the user",
    "No log directive defined": "a rule in_… has no job: others inherit its environment and command",
    "Path composition with '+'": "found in the text of a shell command, which composes no path",
}


def lints(workspace) -> list[str]:
    done = workspace.snakemake("--lint")
    printed = done.stdout + done.stderr
    assert "Lints for" in printed or "Congratulations" in printed, printed
    return re.findall(r"^    \* (.*)$", printed, re.MULTILINE)


def test_snakemake_finds_no_further_lint(fresh):
    assert [line for line in lints(fresh) if not line.startswith(tuple(ACCEPTED))] == []
