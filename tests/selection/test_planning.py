"""What the jobs that select a seed are given, on a small experiment."""

from ranktrial.experiment.results_paths import SELECTED
from scripts.inference.planning import ranking_inputs
from scripts.selection import planning
from tests.experiment.test_config import resolved

EXPERIMENT = resolved(
    {
        "datasets/other": {"format": "beir", "location": "tests"},
        "systems/tuned/select_seed": {"task": "d/dev", "score": {"R@1": 2, "R@5": 1}},
        "tasks": ["d", "other"],
        "comparisons": {},
    }
)


def test_all_seeds_are_candidates_on_the_task_of_selection():
    assert planning.seed_inputs(EXPERIMENT, "tuned")["checkpoints"] == [
        "results/e/models/m/r/seed-1", "results/e/models/m/r/seed-2",
    ]  # fmt: skip
    assert planning.seed_inputs(EXPERIMENT, "tuned")["runs"] == [
        "results/e/runs/d-dev/tuned/seed-1.trec.gz", "results/e/runs/d-dev/tuned/seed-2.trec.gz",
    ]  # fmt: skip
    assert planning.seed_inputs(EXPERIMENT, "tuned")["qrels"] == "results/e/data/d/qrels/dev.qrels"


def test_settings_tell_how_a_seed_is_chosen():
    assert planning.seed_settings(EXPERIMENT, "tuned") == {
        "system": "tuned", "task": "d/dev", "split": "dev", "score": {"R@1": 2, "R@5": 1}, "formula": "(2 R@1 + R@5)/3",
    }  # fmt: skip


def test_the_kept_seed_has_a_record_beside_the_checkpoint_with_which_the_system_ranks():
    kept = ranking_inputs(EXPERIMENT, "runs/d", "tuned", SELECTED)["checkpoint"]
    assert kept == "results/e/models/m/r/seed-selected-tuned"
    assert planning.seed_records(EXPERIMENT) == [f"{kept}.json"]


def test_nothing_is_selected_where_no_system_asks_for_it():
    assert planning.seed_records(resolved({})) == []
