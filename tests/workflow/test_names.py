"""An experiment whose tasks and systems are called what pandas takes for numbers or for nothing, to its last table.

It runs Snakemake, since each table is written by one job and read by others; on external scores it takes seconds.
"""

import json
import random

import pandas as pd
import pytest

from tests.workflow.conftest import REPOSITORY, copy

pytestmark = pytest.mark.long

TASKS = ["01", "1", "1e3", "NA", "None"]
KINDS = ["NA", "NA", "null", "null", "null"]
SYSTEMS = ["2019", "nan", "null"]


@pytest.fixture(scope="module")
def finished_names(tmp_path_factory):
    workspace = copy(REPOSITORY, tmp_path_factory.mktemp("names") / "ranktrial")
    rng = random.Random(1)
    for place, task in enumerate(TASKS):
        for strength, system in enumerate(SYSTEMS):
            values = [0.5 + 0.02 * place + 0.1 * strength + rng.gauss(0, 0.1) for _ in range(30)]
            (workspace.folder / f"{task}.{system}").write_text("".join(f"{value}\n" for value in values))
    rows = [f"{task}\t{place}\t{kind}" for place, (task, kind) in enumerate(zip(TASKS, KINDS, strict=True))]
    (workspace.folder / "tasks.tsv").write_text("\n".join(["task\tsize\tkind", *rows]) + "\n")
    comparison = {"control": "2019", "measure": "accuracy", "permutations": 200}
    config = {
        "experiment": "names",
        "datasets": {task: {"format": "scores", "measure": "accuracy"} for task in TASKS},
        "systems": {name: {"type": "external", "scores": {task: f"{task}.{name}" for task in TASKS}} for name in SYSTEMS},
        "tasks": TASKS,
        "comparisons": {
            "7": comparison | {
                "treatment": "nan", "figure": {"influence": True, "queries": True},
                "moderators": [{"column": "size", "file": "tasks.tsv"}],
                "subgroups": {"column": "kind", "file": "tasks.tsv"}, "family": "08",
            },
            "1e2": comparison | {"treatment": "null"},
        },
        "multiple_comparisons": {"08": {"systems": "all", "measure": "accuracy"}},
        "charts": {"bars": {"systems": {"one": ["nan"], "two": ["null"]}, "tasks": ["01", "NA"],
                            "measures": ["accuracy"], "baseline": "2019"}},
    }  # fmt: skip
    workspace.write_config(config, "names.yaml")
    workspace.run(config="names.yaml")
    return workspace.folder / "results/names"


def test_each_task_has_its_own_row_and_mean_everywhere(finished_names):
    def column(name, of="task"):
        table = pd.read_csv(finished_names / name, sep="\t", dtype=str, keep_default_na=False)
        return list(dict.fromkeys(table[of]))

    assert column("tables/means.tsv") == column("effects/7.tsv") == column("tables/influence/7.tsv") == TASKS
    assert column("tables/means.tsv", "system") == SYSTEMS and column("tables/queries/7.tsv") == TASKS
    assert column("tables/comparisons.tsv", "comparison") == ["7", "1e2"]
    assert column("tables/comparisons.tsv", "family") == ["08", ""]
    assert column("tables/effects/7.tsv")[:5] == TASKS
    meta = json.loads((finished_names / "meta/7.json").read_text())
    assert meta["k"] == 5 and list(meta["leave_one_out"]) == TASKS
    means = pd.read_csv(finished_names / "tables/means.tsv", sep="\t", dtype=str, keep_default_na=False)
    means = means.set_index(["task", "system"])
    page = (finished_names / "summary.md").read_text()
    report = (finished_names / "report.html").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    for task in TASKS:
        shown = [f"{float(means.loc[(task, system), 'accuracy']):.3f}" for system in SYSTEMS]
        (row,) = [row for row in rows if row.split("|")[1].strip() == task and all(value in row for value in shown)]
        assert [value for value in shown if value not in row] == []
        assert f">{task}<" in report


def test_figures_name_them(finished_names):
    shown = {
        **dict.fromkeys(("7", "1e2", "influence-7", "queries-7"), TASKS),
        "bubble-7-size": [f"{number} {task}" for number, task in enumerate(TASKS, 1)],
        "multiple-comparisons/08": SYSTEMS,
        "chart-bars": ["one, 01", "one, NA", "two, 01", "two, NA"],
    }
    for figure, names in shown.items():
        drawn = " ".join((finished_names / f"figures/{figure}.svg").read_text().split())  # also of other spaces
        assert [name for name in names if f">{name}" not in drawn] == [], figure
