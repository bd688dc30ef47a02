"""Further judgements of one dataset's runs (`runs_of`): two tasks, of which one is ranked and both are scored."""

from ranktrial.experiment import job_files
from ranktrial.experiment.exhibits import forest
from ranktrial.experiment.timings import run_timings
from scripts.datasets import planning as datasets
from scripts.evaluation import planning as evaluation
from scripts.synthesis.planning import comparison_settings
from tests.experiment.test_config import resolved as of_base
from tests.support.one_line import each_is_one_line

QUALITY = {"format": "qrels", "location": "tests", "qrels": {"test": "quality.qrels"}, "runs_of": "d"}
TWO = {"datasets/q": QUALITY, "tasks": ["d", "q"]}
NAMED = "README.md"  # any file: nothing is read here


def resolved(**changes):
    return of_base(TWO | changes)


def test_a_run_is_made_once_and_scored_by_both_judgements():
    experiment = resolved()
    system, task = experiment.systems["bm25"], experiment.tasks["q"]
    assert job_files.runs(experiment, system, task) == ["results/e/runs/d/bm25/seed-0.trec.gz"]
    assert job_files.metrics(experiment, system, task) == ["results/e/metrics/q/bm25/seed-0.tsv"]
    assert evaluation.run(experiment, "bm25", "q", "0") == evaluation.run(experiment, "bm25", "d", "0")
    assert evaluation.qrels(experiment, "q") == "results/e/data/q/qrels/test.qrels"
    assert len(evaluation.all_runs(experiment)) == len(set(evaluation.all_runs(experiment))) == 3
    assert len(evaluation.all_metrics(experiment)) == 6
    assert {"runs/d/" in timing for timing in run_timings(experiment)} == {True}


def test_the_judgements_are_prepared_with_the_queries_of_the_runs():
    experiment = resolved()
    queries = [f"results/e/data/d/queries/{split}.jsonl" for split in ("train", "dev", "test")]
    assert datasets.ranked_queries(experiment, "q") == queries and datasets.ranked_queries(experiment, "d") == []
    assert "runs_of" not in datasets.dataset_settings(experiment, "q")


def test_both_tasks_in_one_comparison_are_known_to_share_a_corpus_so_that_their_covariance_is_estimated():
    assert comparison_settings(resolved(), "c")["corpora"] == {"d": "d", "q": "d"}


def test_a_system_that_is_limited_to_the_ranked_task_is_scored_on_both():
    experiment = resolved(**{"systems/bm25": {"type": "bm25", "tasks": ["d"]}})
    assert experiment.systems["bm25"].tasks == ("d", "q")
    external = resolved(**{"systems/theirs": {"type": "external", "runs": {"d": NAMED}}})
    assert external.systems["theirs"].tasks == ("d", "q")
    assert job_files.runs(external, external.systems["theirs"], external.tasks["q"]) == [
        "results/e/runs/d/theirs/seed-0.trec.gz"
    ]


def test_a_fusion_follows_what_it_fuses():
    experiment = resolved(**{"systems/both": {"type": "fusion", "systems": ["bm25", "tuned"]}})
    system = experiment.systems["both"]
    assert job_files.runs(experiment, system, experiment.tasks["q"]) == [
        f"results/e/runs/d/both/seed-{seed}.trec.gz" for seed in (1, 2)
    ]


def test_what_is_trained_for_each_dataset_apart_ranks_by_the_checkpoint_of_the_ranked_one():
    each = {"systems/apart": {"model": "m", "recipe": {"each": {"d": "r"}}}}
    experiment = resolved(**each, **{"comparisons/c/treatment": "apart"})
    assert experiment.comparisons["c"].tasks == ("d", "q")


def test_a_system_that_learnt_from_the_ranked_dataset_is_marked_on_both_tasks():
    experiment = resolved()
    assert forest.known(experiment, "c")["marks"]["trained"] == {"tuned": ["d", "q"]}


WRONG = {
    "the ranked task is not listed": ({"tasks": ["q"]}, "tasks: 'q' takes the runs of d/test (runs_of), which is not among the tasks; add it"),
    "another split": (
        {"datasets/q": QUALITY | {"qrels": {"dev": "a", "test": "b"}}, "tasks": ["d", "q", "q/dev"]},
        "tasks: 'q/dev' takes the runs of d/dev (runs_of), which is not among the tasks",
    ),
    "unknown dataset": ({"datasets/q/runs_of": "x"}, "datasets.q.runs_of: unknown name 'x'; datasets has d, q"),
    "judgements of judgements": ({"datasets/q/runs_of": "q"}, "datasets.q.runs_of: q has no documents, so no runs of its own"),
    "of a dataset with documents": ({"datasets/b": {"format": "beir", "location": "tests", "runs_of": "d"}}, "datasets.b: a dataset of format beir cannot have 'runs_of'"),
    "splits of its own": ({"datasets/q/splits": {"dev": 0.1}}, "datasets.q.splits: not together with runs_of"),
    "drop_shared": ({"datasets/q/drop_shared": True}, "datasets.q.drop_shared: not together with runs_of"),
    "a sample of its own": ({"datasets/q/test_queries": 5}, "datasets.q.test_queries: not together with runs_of"),
    "a system for the further task alone": ({"systems/tuned/tasks": ["q"]}, "systems.tuned.tasks: 'q' takes the runs of d; name that task, and this one follows"),
    "another run for the further task": ({"systems/theirs": {"type": "external", "runs": {"d": NAMED, "q": NAMED}}}, "systems.theirs.runs.q: takes the runs of another task (runs_of)"),
}  # fmt: skip


test_a_mistake_is_one_line = each_is_one_line(WRONG, lambda changes: resolved(**changes))
