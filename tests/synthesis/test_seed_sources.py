"""From whose seeds a comparison estimates the seed variance of its trained systems."""

import pytest

from ranktrial.common.errors import UserError
from scripts.study_design.planning import seeds_vary
from scripts.synthesis import planning
from scripts.synthesis.planning_seeds import checkpoints
from tests.experiment.test_config import resolved
from tests.support.one_line import refused

RECIPES = {"recipes/r2": {"train_on": "d", "epochs": 2}, "models/m2": {"type": "bi-encoder", "weights": "org/m2"}}


def sources(systems: dict, control: str, treatment: str, **more: object) -> dict:
    changes = RECIPES | {f"systems/{name}": entry for name, entry in systems.items()}
    changes |= {"comparisons/c": {"control": control, "treatment": treatment} | more}
    experiment = resolved(changes)
    settings = planning.comparison_settings(experiment, "c")
    return settings.get("seed_sources", {}), planning.comparison_inputs(experiment, "c")["siblings"]


ONE = {"model": "m", "recipe": "r2"}


@pytest.mark.parametrize(
    ("systems", "control", "treatment", "expected", "siblings"),
    [
        ({}, "bm25", "tuned", {"treatment": {"status": "own", "system": "tuned"}}, 0),
        ({"one": ONE}, "bm25", "one", {"treatment": {"status": "borrowed", "system": "tuned"}}, 2),
        ({"one": ONE | {"model": "m2"}}, "bm25", "one", {"treatment": {"status": "borrowed", "system": "tuned"}}, 2),
        ({"one": ONE | {"model": "m2"}, "near": ONE | {"model": "m2", "recipe": "r", "seeds": 3}}, "bm25", "one", {"treatment": {"status": "borrowed", "system": "near"}}, 3),
        ({"one": {"model": "ce", "recipe": "r", "rerank": {"first_stage": "bm25"}}}, "bm25", "one", {"treatment": {"status": "unknown"}}, 0),
        ({"plain": {"model": "m"}}, "bm25", "plain", {}, 0),
        ({"one": ONE}, "one", "tuned", {"control": {"status": "borrowed", "system": "tuned"}, "treatment": {"status": "own", "system": "tuned"}}, 2),
        ({"over": {"model": "m", "recipe": "r", "seeds": 2, "long_documents": "passages"}}, "tuned", "over", {"difference": {"status": "own", "system": "over - tuned"}}, 0),
    ],
)  # fmt: skip
def test_source(systems, control, treatment, expected, siblings):
    found, files = sources(systems, control, treatment)
    assert found == expected and len(files) == siblings


def test_given_seeds_need_no_source():
    assert sources({"one": ONE}, "bm25", "one", seeds="conditional") == ({}, [])


def test_what_tasks_have_in_common_is_reported():
    changes = {"datasets/images": {"format": "beir", "location": "docs", "corpus": "d"}, "tasks": ["d", "images"]}
    experiment = resolved(changes)
    settings = planning.comparison_settings(experiment, "c")
    assert settings["corpora"] == {"d": "d", "images": "d"}
    assert settings["qrels"] == {task: f"results/e/data/{task}/qrels/test.qrels" for task in ("d", "images")}
    changes |= {"comparisons/c/dependence": "independent", "comparisons/c/clusters": {"d": "README.md"}}
    experiment = resolved(changes)
    settings = planning.comparison_settings(experiment, "c")
    assert "corpora" not in settings and settings["cluster_files"] == {"d": "README.md"}
    assert planning.cluster_files(experiment, "c") == [
        *(f"results/e/data/{task}/qrels/test.qrels" for task in ("images", "d")),
        "README.md",
    ]  # d for unjudged documents


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        ({"x": "README.md"}, "c.yaml: comparisons.c.clusters: 'x' is not among the tasks of the comparison"),
        ({"d": "no.tsv"}, "c.yaml: comparisons.c.clusters.d: no file 'no.tsv'"),
        ("topic", "c.yaml: comparisons.c.clusters: "),
    ],
)
def test_wrong_clusters_are_one_line(clusters, message):
    with refused(start=message):
        resolved({"comparisons/c/clusters": clusters})


def test_values_without_judgements_have_no_gold_documents():
    changes = {
        "datasets/s": {"format": "scores", "measure": "accuracy"}, "tasks": ["d", "s"],
        "systems/a": {"type": "external", "scores": {"s": "pyproject.toml"}},
        "systems/b": {"type": "external", "scores": {"s": "README.md"}},
        "systems/bm25/tasks": ["d"], "systems/tuned/tasks": ["d"],
        "comparisons/c": {"control": "a", "treatment": "b", "tasks": ["s"], "measure": "accuracy", "clusters": "gold-document"},
    }  # fmt: skip
    with pytest.raises(UserError, match="task 's' has values and no relevance judgements; give a file of its clusters"):
        resolved(changes)
    experiment = resolved(changes | {"comparisons/c/clusters": "auto"})
    assert "qrels" not in planning.comparison_settings(experiment, "c")


FOREST = {"type": "learning-to-rank", "features": "few", "learner": "random-forest"}
FEATURES = {"features": {"few": {"first_stage": "bm25", "of": ["BM25"]}}}
ELSEWHERE = {"datasets/e": {"format": "beir", "location": "scripts"}, "tasks": ["d", "e"]}


def of_ranker(treatment, control="bm25", **changes):
    compared = {"comparisons/c": {"control": control, "treatment": treatment}}
    experiment = resolved(RECIPES | FEATURES | compared, **changes)
    return experiment, planning.comparison_settings(experiment, "c").get("seed_sources", {})


def test_a_ranker_that_draws_has_seeds_though_no_recipe_trains_it():
    experiment, found = of_ranker("l", systems__l=FOREST)
    assert found == {"treatment": {"status": "unknown"}} and seeds_vary(experiment, "l")
    experiment, found = of_ranker("l", systems__l=FOREST | {"learner": "linear"})
    assert found == {} and not seeds_vary(experiment, "l")


def test_rankers_that_each_dataset_has_for_itself_do_not_share_seed_effects():
    experiment, _ = of_ranker("l", systems__l=FOREST | {"seeds": 3}, **ELSEWHERE)
    assert checkpoints(experiment, experiment.comparisons["c"]) == {"treatment": {"d": "d", "e": "e"}}
    experiment, _ = of_ranker("l", systems__l=FOREST | {"seeds": 3, "train_on": "e"}, **ELSEWHERE)
    assert checkpoints(experiment, experiment.comparisons["c"]) == {}


def test_a_score_that_is_a_feature_is_not_paired_with_the_ranker_s_seeds():
    """All seeds of the ranker take the score of one seed, so seed i of both have nothing in common."""
    scores = {"few": {"first_stage": "bm25", "of": ["BM25", {"system": "tuned"}]}}
    ranker = FOREST | {"seeds": 2, "train_on": "e"}
    _, found = of_ranker("l", control="tuned", systems__l=ranker, features=scores, **ELSEWHERE)
    assert {role: one["status"] for role, one in found.items()} == {"control": "own", "treatment": "own"}
