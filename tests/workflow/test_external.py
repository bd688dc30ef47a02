"""Experiments on other people's runs and scores, which need no documents, models or Java, and are done in seconds."""

import csv
import json
import math
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.api.test_package import interpreter
from tests.workflow.conftest import REPOSITORY, copy

RANGER, GLUE = "config/ranger.yaml", "config/ranger-glue.yaml"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """The workflow's sources in a folder, with ../shared/data beside it where it is beside the repository."""
    made = copy(REPOSITORY, tmp_path_factory.mktemp("external") / "ranktrial")
    shared = REPOSITORY.parent / "shared"
    if shared.is_dir():
        (made.folder.parent / "shared").symlink_to(shared)
    return made


@pytest.fixture(scope="module")
def ranger(workspace, shared_data):
    """Figure 3's experiment, run."""
    workspace.run(config=RANGER)
    return workspace.folder / "results" / "ranger"


def numbers(folder):
    with open(folder / "published-versus-ours.tsv", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.long
def test_figure_3_is_reproduced_cell_by_cell(ranger):
    rows = numbers(ranger)
    figure = [row for row in rows if row["table"] == "figure 3"]
    assert len(figure) == 7 * 8 + 3 and all(row["equal"] == "yes" for row in figure)
    different = [(row["row"], row["column"]) for row in rows if row["equal"] == "no"]
    assert different == [("Antique", "p")]  # it underflows in the toolkit


@pytest.mark.long
def test_beside_it_stands_what_changes_today(ranger):
    summary = [row for row in numbers(ranger) if row["row"] == "Summary Effect (RE)"]
    assert [(row["column"], row["ours"], row["beside"]) for row in summary] == [
        ("Mean", "0.05", "0.06"), ("CI 95%, low", "0.02", "-0.00"), ("CI 95%, high", "0.07", "0.12")]  # fmt: skip
    meta = json.loads((ranger / "meta/today.json").read_text())
    assert meta["interval"] == "equal-weights" and meta["ddof"] == 1 and len(meta["cumulative"]) == 7


@pytest.mark.long
def test_the_gap_in_judged_documents_explains_most_of_the_differences_between_the_tasks(ranger):
    found = json.loads((ranger / "moderators/today.json").read_text())
    (model,) = found["models"]
    assert model["k"] == 7 and model["r2"] > 90 and model["exact"] and model["permutation_p_value"] < 0.02
    assert found["values"]["trec-covid"]["judged-gap"] == pytest.approx(0.288)
    assert "Judged@k, treatment minus control: slope 0.69" in (ranger / "tables/moderators/today.md").read_text()
    assert "TREC Covid" in (ranger / "figures/bubble-today-judged-gap.svg").read_text()


@pytest.mark.long
def test_tables_figures_and_page_have_the_papers_names_in_its_order(ranger):
    names = ["TREC Covid", "TripClick", "NFCorpus", "DBPedia Entity", "Antique", "TREC Podcast", "TREC Robust 04"]
    table = pd.read_csv(ranger / "tables/effects/today.tsv", sep="\t")
    rows = [*names, "mean of these tasks", "summary", "prediction interval", "fixed effect"]
    ends = ("lowest", "highest", "all", "condensed")
    assert table["task"].tolist() == [*rows, *(f"mean of these tasks, unjudged: {end}" for end in ends)]
    figure = (ranger / "figures/today.svg").read_text()
    assert sorted(names, key=figure.index) == names and "Uni-ColBERTer (Dim1, BOW² + CS)" in figure
    assert "Holm-corrected for the number of tasks" in figure
    tex = (ranger / "tables/effects/today.tex").read_text()
    assert tex.count(r"\midrule") == 3 and sorted(names, key=tex.index) == names  # the last is of unjudged documents
    page = (ranger / "summary.md").read_text()
    assert "On these seven collections, mean nDCG@10 of Uni-ColBERTer" in page
    assert "100 of 101 published numbers" in page
    assert "nan" not in page.lower()
    for suffix in ("svg", "pdf", "png"):
        assert (ranger / f"figures/as-published.{suffix}").stat().st_size > 1000


@pytest.mark.long
def test_a_label_is_a_figures_look(ranger, workspace):
    text = (workspace.folder / RANGER).read_text()
    (workspace.folder / "labels.yaml").write_text(text.replace("label: TAS-B", "label: TAS-Balanced"))
    planned = workspace.planned("labels.yaml")
    tables = {"full_table", "page", "tables"}
    assert {job.split()[0] for job in planned} == {"figure", *tables, "explorer", "collect", "report"}
    drawn = {job.split()[1] for job in planned if job.startswith("figure ")}
    assert {"influence-today", "queries-today"} & drawn and drawn - {"influence-today", "queries-today"}


@pytest.mark.long
def test_glue_is_reproduced_and_the_swapped_weights_are_said(workspace, shared_data):
    workspace.run(config=GLUE)
    rows = numbers(workspace.folder / "results/ranger-glue")
    different = {(row["table"], row["row"], row["column"]) for row in rows if row["equal"] == "no"}
    assert different == {("section 4", "RTE", "Weight (%)"), ("section 4", "WNLI", "Weight (%)"), ("notebook", "MNLI", "p"),
                         ("notebook", "QQP", "p")}  # fmt: skip
    assert all(row["note"] for row in rows if row["equal"] == "no")


SCORES = """
experiment: scores
datasets:
  rte: {format: scores, measure: accuracy, label: "RTE & more"}
  cola: {format: scores, measure: accuracy}
  flat: {format: scores, measure: accuracy}
systems:
  gold: {type: external, scores: {rte: gold.txt, cola: ids.tsv, flat: gold.txt}}
  ours: {type: external, scores: {rte: ours.txt, cola: other-ids.tsv, flat: flat.txt}}
  theirs: {type: external, label: Theirs & Co, scores: {rte: ours.txt, cola: ids.tsv}}
tasks: [rte, cola, flat]
comparisons:
  agreement: {control: gold, treatment: ours, measure: accuracy, effect: CORR}
  many: {control: gold, treatment: [ours, theirs], tasks: [rte, cola], measure: accuracy, permutations: 500}
  both: {control: gold, treatment: ours, measure: accuracy, effect: [MD, SMD], permutations: 500}
"""


@pytest.fixture
def scores(workspace, tmp_path):
    """A small experiment on scores, not yet run."""
    made = copy(REPOSITORY, tmp_path / "ranktrial")
    values = [0.1 * (n % 7) for n in range(20)]
    (made.folder / "gold.txt").write_text("".join(f"{v}\n" for v in values))
    (made.folder / "ours.txt").write_text("".join(f"{v * v + 0.05 * (n % 3)}\n" for n, v in enumerate(values)))
    (made.folder / "flat.txt").write_text("0.5\n" * 20)
    (made.folder / "ids.tsv").write_text("id\tvalue\n" + "".join(f"s{n}\t{v}\n" for n, v in enumerate(values)))
    (made.folder / "other-ids.tsv").write_text(
        "".join(f"s{n}\t{v + 0.01 * (n % 4)}\n" for n, v in enumerate(values[:18]))
    )
    (made.folder / "scores.yaml").write_text(SCORES)
    return made


@pytest.mark.long
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_scores_run_where_set_up_installs_core_and_workflow_alone(scores, version):
    for name in ("Makefile", "pyproject.toml", "requirements.lock", "setup.py", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, scores.folder)
    command = ["make", "run", "CONFIG=scores.yaml", f"BASE_PYTHON={interpreter(version)}"]
    done = subprocess.run(command, cwd=scores.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    assert (scores.folder / "results/scores/report.html").exists()
    assert {path.name for path in (scores.folder / ".venv/.extras").iterdir()} == {"core", "workflow"}
    installed = [path for path in (scores.folder / ".venv").rglob("*") if "__pycache__" not in path.parts]
    size = sum(path.lstat().st_size for path in installed) / 1e6
    assert size < 410, f"{size:.0f} MB"


def test_correlation_with_a_gold_standard_and_an_undefined_task_reach_table_and_figure(scores):
    scores.run(config="scores.yaml")
    results = scores.folder / "results/scores"
    meta = json.loads((results / "meta/agreement.json").read_text())
    assert meta["effect_type"] == "CORR" and meta["k"] == 2 and 0.5 < meta["summary"]["effect"] < 1
    reason = "the treatment has the same value for every sample"
    assert meta["warnings"][:2] == [
        "cola: 2 samples are in only one of the systems and are left out",
        f"flat: left out, {reason}",
    ]
    assert reason in (results / "tables/effects/agreement.tex").read_text()
    assert reason in (results / "tables/effects/agreement.md").read_text()
    assert "the treatment has the same" in (results / "figures/agreement.svg").read_text()
    page = (results / "summary.md").read_text()
    assert "the mean correlation of ours with gold is" in page and "nan" not in page.lower() and "## Costs" not in page
    figures = {"agreement", "both-MD", "both-SMD", "many", "many-ours", "many-theirs"}  # and none of costs
    assert {path.stem for path in (results / "figures").iterdir()} == figures
    together = (results / "figures/many.svg").read_text()
    assert "Theirs &amp; Co" in together and together.count("Random effects (") == 1 and "(figures/many.svg)" in page


def test_scores_that_cannot_be_paired_are_one_line(scores):
    (scores.folder / "ours.txt").write_text("1.0\n0.5\n")
    said = "task rte: control has 20 scores and treatment 2; without ids they cannot be paired"
    done = scores.snakemake("results/scores/effects/agreement.tsv", config="scores.yaml")
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert done.returncode != 0 and len(errors) == 1 and said in errors[0], done.stderr
    assert not (scores.folder / "results/scores/effects/agreement.tsv").exists()


COLUMNS = """
experiment: columns
datasets:
  rte: {format: scores, measure: accuracy}
  cola: {format: scores, measure: MCC}
systems:
  model: {type: external, column: [small, large], scores: {rte: rte.csv, cola: cola.tsv}}
tasks: [rte, cola]
comparisons:
  size: {control: model-small, treatment: model-large, effect: SMD, measure_on: {rte: accuracy, cola: MCC}}
"""


def test_columns_of_a_csv_are_systems_and_smd_combines_tasks_of_different_measures(scores):
    """The task of values a hundred times as large has the effect of its twin: SMD knows no units."""
    values = [(0.1 * (n % 7), 0.1 * (n % 7) + 0.02 * (n % 3)) for n in range(20)]
    rows = [f"q{n},{small},{large}\n" for n, (small, large) in enumerate(values)]
    (scores.folder / "rte.csv").write_text("".join(["query_id,small,large\n", *rows]))
    scaled = [f"s{n}\t{100 * large}\t{100 * small}\n" for n, (small, large) in enumerate(values)]
    (scores.folder / "cola.tsv").write_text("".join(["id\tlarge\tsmall\n", *scaled]))
    (scores.folder / "columns.yaml").write_text(COLUMNS)
    scores.run("results/columns/meta/size.json", config="columns.yaml")
    results = scores.folder / "results/columns"
    effects = pd.read_csv(results / "effects/size.tsv", sep="\t")
    assert effects["effect"].to_numpy() == pytest.approx(effects["effect"][0]) and effects["effect"][0] > 0
    assert effects["treatment_mean"][1] == pytest.approx(100 * effects["treatment_mean"][0])
    assert {path.name for path in (results / "metrics/cola").iterdir()} == {"model-small", "model-large"}


def refused(scores, text):
    """The one line with which a configuration is refused before anything runs."""
    (scores.folder / "scores.yaml").write_text(text)
    done = scores.snakemake("--dry-run", config="scores.yaml")
    errors = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("error: ")]
    assert done.returncode != 0 and len(errors) == 1
    return errors[0]


def test_a_task_in_one_system_only_and_a_run_without_qrels_are_refused_at_once(scores):
    said = refused(scores, SCORES.replace(", cola: other-ids.tsv", ""))
    assert said == (
        "error: scores.yaml: comparisons.agreement: ours has no scores for task 'cola'; add one or list the tasks"
    )
    said = refused(scores, SCORES.replace("ours: {type: external, scores", "ours: {type: external, runs"))
    assert "systems.ours.runs.rte: a task of format scores takes scores: it has no qrels" in said
    shutil.rmtree(scores.folder / "results", ignore_errors=True)
    said = refused(
        scores,
        SCORES.replace("format: scores, measure: accuracy}\nsystems", "format: qrels, location: no.qrels}\nsystems"),
    )
    assert "datasets.flat.location: no file or folder 'no.qrels' here or in the mirrors" in said


def test_a_font_that_is_not_installed_stops_a_run_before_its_first_job(scores):
    (scores.folder / "scores.yaml").write_text(SCORES + "font: STIXGenera\n")
    done = scores.snakemake(config="scores.yaml")
    errors = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("error: ")]
    assert done.returncode != 0 and len(errors) == 1 and "Traceback" not in done.stdout + done.stderr
    said = "error: scores.yaml: font: 'STIXGenera' is not installed on this machine; installed are, among others, STIXG"
    assert errors[0].startswith(said) and not (scores.folder / "results/scores").exists()
    scored = scores.snakemake("results/scores/metrics/rte/gold/seed-0.tsv", config="scores.yaml")
    assert scored.returncode == 0, scored.stderr  # no figure is drawn


LEADERBOARD = """
experiment: board
datasets: {mteb: {format: leaderboard, measure: nDCG@10}}
systems:
  of: {type: external, column: [first, second, third], scores: {mteb: board.tsv}}
tasks: [mteb]
comparisons:
  board: {control: of-first, treatment: of-second, measure: nDCG@10, figure: {queries: true}}
multiple_comparisons:
  all: {systems: all, measure: nDCG@10}
"""
ROWS = {"ArguAna": (0.41, 0.44, 0.38), "FiQA": (0.24, 0.30, 0.25), "NFCorpus": (0.32, 0.33, 0.31), "NQ": (0.31, 0.29, 0.30),
        "SCIDOCS": (0.15, 0.18, 0.12), "SciFact": (0.67, 0.70, 0.60), "TREC-COVID": (0.60, 0.68, 0.50)}  # fmt: skip


def test_task_scores_of_a_leaderboard_are_a_sample_of_tasks_and_the_page_says_what_that_leaves_open(scores):
    rows = ["task\tfirst\tsecond\tthird", *("\t".join([task, *map(str, row)]) for task, row in ROWS.items())]
    (scores.folder / "board.tsv").write_text("\n".join(rows) + "\n")
    (scores.folder / "board.yaml").write_text(LEADERBOARD)
    scores.run(config="board.yaml")
    results = scores.folder / "results/board"
    meta = json.loads((results / "meta/board.json").read_text())
    difference = np.array([second - first for first, second, _ in ROWS.values()])
    expected = stats.ttest_1samp(difference, 0)
    assert meta["of_tasks"] and meta["summary"]["df"] == 6
    assert meta["summary"]["effect"] == pytest.approx(difference.mean())
    assert meta["summary"]["p_value"] == pytest.approx(expected.pvalue)
    page = (results / "summary.md").read_text()
    assert "Tasks: of-second against of-first" in (results / "figures/queries-board.svg").read_text()
    assert "Over tasks like the 7 of mteb, mean nDCG@10 of of-second exceeds that of of-first by" in page
    half = stats.t.ppf(0.975, 6) * difference.std(ddof=1) * math.sqrt(1 + 1 / 7)
    low, high = (
        f"{end:.3f}".replace("-", "\N{MINUS SIGN}") for end in (difference.mean() - half, difference.mean() + half)
    )
    assert f"In a further task, the difference is expected between {low} and {high} (95% prediction interval)" in page
    ranks = (results / "tables/multiple-comparisons/all.md").read_text()
    for text in (page, ranks):
        assert "no task has a variance of its own" in text
    assert "(7 tasks)" in ranks and "sign flips of each task's differences" in ranks
    mixed = (
        LEADERBOARD.replace("tasks: [mteb]", "tasks: [mteb, other]")
        .replace(
            "measure: nDCG@10}}\nsystems", "measure: nDCG@10}, other: {format: scores, measure: nDCG@10}}\nsystems"
        )
        .replace("{mteb: board.tsv}", "{mteb: board.tsv, other: board.tsv}")
    )
    assert "'mteb' is a leaderboard, a sample of tasks, and cannot be combined with other tasks" in refused(
        scores, mixed
    )
