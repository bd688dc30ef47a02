"""Timed searches run beside no other job, where the configuration asks for it; jobs of the first comparison run first."""

import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import pytest

from ranktrial.engine.rule_graph import prefer_first, priorities
from ranktrial.experiment.exhibits import costs
from scripts.reports import planning as pages
from scripts.reports.sections import costs as of_costs
from tests.experiment.test_config import resolved

REPOSITORY = Path(__file__).parents[2]
PATH = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
SNAKEFILE = """
TIMED, OTHERS = ["t1", "t2"], ["o1", "o2", "o3"]
WORK = "date +%s.%N > {output[0]}; sleep 0.7; date +%s.%N >> {output[0]}"

rule all:
    default_target: True
    input: expand("{name}.run", name=TIMED), expand("{name}.other", name=OTHERS)

rule rank:
    output: run="{name}.run", timing=touch("{name}.timing.json")
    shell: WORK

rule other:
    output: "{name}.other"
    shell: WORK
"""
ALONE = """
from ranktrial.engine.rule_graph import time_alone
time_alone(workflow, "exclusive")
"""


def overlapping(folder: Path) -> set[tuple[str, str]]:
    """The pairs of jobs that ran at the same time."""
    times = {path.name: tuple(map(float, path.read_text().split())) for path in folder.glob("*.[ro][ut]*")}
    assert len(times) == 5
    return {
        (a, b) for a, b in combinations(sorted(times), 2) if times[a][0] < times[b][1] and times[b][0] < times[a][1]
    }


@pytest.mark.slow
@pytest.mark.usefixtures("warm_processes")
@pytest.mark.parametrize("exclusive", [True, False])
def test_a_timed_job_runs_beside_no_other(exclusive, tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE + (ALONE if exclusive else ""))
    command = [sys.executable, "-m", "snakemake", "--cores", "5"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env={"PYTHONPATH": str(REPOSITORY)} | PATH
    )
    assert done.returncode == 0, done.stderr
    beside = overlapping(tmp_path)
    assert beside  # others run side by side
    assert any(name.endswith(".run") for pair in beside for name in pair) == (not exclusive)
    if exclusive:  # what was timed beside others is timed again
        (tmp_path / "Snakefile").write_text(SNAKEFILE)
        again = subprocess.run([*command, "--dry-run"], cwd=tmp_path, capture_output=True, text=True, env=PATH)
        assert again.stdout.count("rule rank:") == 2 and "rule other:" not in again.stdout


def test_pages_figures_and_tables_are_given_that_searches_ran_alone():
    shared, alone = (resolved({"timing": timing}) for timing in ("shared", "exclusive"))
    for settings in (of_costs.settings, pages.times_settings):
        assert settings(alone)["exclusive"] is True and "exclusive" not in settings(shared)
    (figure,) = costs.names(alone)
    assert costs.settings(alone, figure)["exclusive"] is True


class Plan:
    """A plan as Snakemake keeps it: jobs with what they write, and which jobs each takes files of."""

    def __init__(self, **needs):
        self.jobs = {
            name: SimpleNamespace(rule=SimpleNamespace(name=name), wildcards_dict={"task": "t"}, output=[f"{name}.png"])
            for name in needs
        }
        self.needs = needs

    @property
    def dag(self):
        return SimpleNamespace(
            jobs=self.jobs.values(),
            job_dependencies=lambda job: [self.jobs[name] for name in self.needs[job.rule.name]],
        )


PLAN = Plan(
    second=["compare_second"], compare_second=["shared", "own"], shared=[], own=[],
    first=["compare_first"], compare_first=["shared"], other=["shared"],
)  # fmt: skip


def test_what_a_plot_needs_has_its_priority_and_what_several_need_that_of_the_first():
    found = {rule: priority for (rule, _), priority in priorities(PLAN.dag, ["first.png", "second.png"]).items()}
    assert found == {"first": 2, "compare_first": 2, "shared": 2, "second": 1, "compare_second": 1, "own": 1}


def test_a_plot_that_is_drawn_already_asks_for_nothing():
    assert priorities(PLAN.dag, ["gone.png"]) == {}


def test_all_rules_get_it_and_a_job_outside_the_plots_has_none():
    rules = [SimpleNamespace(priority=0), SimpleNamespace(priority=0)]
    prefer_first(SimpleNamespace(rules=rules, dag=PLAN.dag), ["first.png"])
    ask = rules[1].priority
    assert rules[0].priority is ask
    assert (ask({"task": "t"}, "shared"), ask({"task": "t"}, "other"), ask({"task": "u"}, "shared")) == (1, 0, 0)
