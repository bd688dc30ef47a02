"""What the jobs of study design are given, on a small experiment."""

from ranktrial.experiment import exhibits
from scripts.study_design import planning
from tests.experiment.test_config import resolved


def test_each_comparison_has_a_plan_on_demand():
    experiment = resolved({})
    assert planning.plan_files(experiment) == ["results/e/tables/study-designs/c.json"]
    assert planning.figure_files(experiment)[0] == "results/e/figures/study-design-c.svg"
    assert planning.tables(experiment) == [f"results/e/tables/study-design.{ending}" for ending in ("tsv", "md", "tex")]
    assert planning.asked(experiment) == []
    assert not [file for file in exhibits.files(experiment) if "study-design" in file]
    assert planning.plan_inputs(experiment, "c")["control"] == ["results/e/metrics/d/bm25/seed-0.tsv"]
    assert len(planning.plan_inputs(experiment, "c")["treatment"]) == 2
    compared = planning.plan_settings(experiment, "c")["compared"]
    assert compared == {"control": "bm25", "treatment": "tuned", "trained": ["tuned"], "given": []}


def test_a_plan_in_the_configuration_is_made_with_the_other_results():
    assumed = {"new": {"query_sd": 0.2, "collection_sd": 0.03}}
    experiment = resolved({"plan_study": {"assumed": assumed}})
    assert planning.asked(experiment) == planning.tables(experiment)
    assert set(planning.figure_files(experiment)) < set(exhibits.files(experiment))
    assert planning.compared(experiment, "new") == [] == planning.plan_inputs(experiment, "new")["control"]
    assert planning.plan_settings(experiment, "new")["assumed"]["query_sd"] == 0.2
    assert "compared" not in planning.plan_settings(experiment, "new")


def test_what_fuses_or_ranks_again_has_the_seeds_of_what_it_takes_and_given_runs_are_named():
    systems = {"fused": {"type": "fusion", "systems": ["bm25", "tuned"]}, "zero": {"model": "m"},
               "again": {"model": "ce", "rerank": {"first_stage": "tuned"}},
               "theirs": {"type": "external", "runs": {"d": "README.md"}}}  # fmt: skip
    changes = {f"systems/{name}": entry for name, entry in systems.items()}
    experiment = resolved({**changes, "comparisons/c": {"control": "theirs", "treatment": "fused"}})
    vary = {name: planning.seeds_vary(experiment, name) for name in experiment.systems}
    assert vary == {"bm25": False, "tuned": True, "fused": True, "zero": False, "again": True, "theirs": False}
    assert planning.plan_settings(experiment, "c")["compared"]["given"] == ["theirs"]


def test_a_treatment_on_other_tasks_is_read_there():
    changes = {
        "datasets/images": {"format": "beir", "location": "tests", "corpus": "d"},
        "tasks": ["d", "images"],
        "comparisons/c": {"control": "bm25", "treatment": "bm25", "tasks": ["d"], "treatment_on": {"d": "images"}},
    }
    experiment = resolved(changes)
    assert planning.plan_inputs(experiment, "c")["treatment"] == ["results/e/metrics/images/bm25/seed-0.tsv"]
    assert planning.plan_settings(experiment, "c")["compared"]["treatment_on"] == {"d": "images"}
