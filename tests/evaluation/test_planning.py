"""What the jobs of evaluation are given, on a small experiment."""

from ranktrial.experiment.resolution import resolve
from scripts.evaluation import planning
from tests.experiment.test_config import changed, resolved

EXPERIMENT = resolved(
    {
        "datasets/judged": {"format": "qrels", "location": "tests"},
        "datasets/scored": {"format": "scores", "measure": "accuracy"},
        "systems/theirs": {"type": "external", "runs": {"judged": "README.md", "d/dev": "Makefile"}},
        "systems/theirs-scored": {"type": "external", "scores": {"scored": "LICENSE"}},
        "systems/bm25/tasks": ["d"],
        "systems/tuned/tasks": ["d"],
        "tasks": ["d", "d/dev", "judged", "scored"],
        "comparisons": {},
    }
)


def test_what_others_scored_has_values_and_no_runs():
    assert planning.scored_by_others(EXPERIMENT) == ["scored"]
    assert planning.scored_here(EXPERIMENT) == ["d", "d-dev", "judged"]
    assert planning.import_scores_settings(EXPERIMENT, "theirs-scored", "scored", "0") == {
        "measure": "accuracy",
        "task": "scored",
    }


def test_a_list_of_columns_makes_a_system_of_each(tmp_path):
    file = tmp_path / "scores.tsv"
    file.write_text("query_id\ta\tb b\n1\t0\t1\n")
    columns = {"type": "external", "scores": {"d": str(file)}, "column": ["a", "b b"]}
    config = changed({"datasets/d": {"format": "scores", "measure": "accuracy"}, "systems": {"columns": columns},
                      "recipes": {}, "models": {}, "comparisons/c": {"control": "columns-a", "treatment": "columns-b_b",
                                                                    "measure": "accuracy"}})  # fmt: skip
    experiment = resolve(config, "c.yaml")
    assert planning.import_scores_settings(experiment, "columns-a", "d", "0")["column"] == "a"
    assert planning.import_scores_settings(experiment, "columns-b_b", "d", "0")["column"] == "b b"


def test_a_tasks_folder_leads_to_the_file_that_the_configuration_names():
    assert planning.external_files(EXPERIMENT, "theirs", "d-dev", "0") == ["Makefile"]
    assert planning.qrels(EXPERIMENT, "d-dev") == "results/e/data/d/qrels/dev.qrels"


def test_judgements_alone_have_no_corpus():
    assert planning.corpus(EXPERIMENT, "judged") == []
    assert planning.corpus(EXPERIMENT, "d-dev") == "results/e/data/d/corpus.jsonl"


def test_every_seed_of_every_system_on_its_tasks_is_scored():
    assert planning.all_metrics(EXPERIMENT) == [
        "results/e/metrics/d/bm25/seed-0.tsv",
        "results/e/metrics/d/tuned/seed-1.tsv",
        "results/e/metrics/d/tuned/seed-2.tsv",
        "results/e/metrics/d-dev/theirs/seed-0.tsv",
        "results/e/metrics/judged/theirs/seed-0.tsv",
        "results/e/metrics/scored/theirs-scored/seed-0.tsv",
    ]
    assert len(planning.all_runs(EXPERIMENT)) == 5
