"""Systems that learn to rank: their seeds, the splits that they need, their words, and what each mistake says."""

from ranktrial.experiment import exhibits
from ranktrial.experiment.descriptions import cautions, datasets_learnt, describe, for_times
from ranktrial.experiment.timings import timings as cost_timings
from scripts.learning_to_rank import planning
from tests.experiment.test_config import BASE
from tests.experiment.test_config import resolved as of_base
from tests.support.one_line import each_is_one_line

SETS = {"few": {"first_stage": "bm25", "depth": 10, "of": ["BM25", "DPH"]}}
LIGHTGBM = {"type": "learning-to-rank", "features": "few", "learner": "lightgbm"}
FOREST = LIGHTGBM | {"learner": "random-forest"}
OTHER = {"datasets__e": {"format": "beir", "location": "scripts"}}
INSURANCE = {"format": "insuranceqa", "location": "tests"}


def experiment(**changes):
    return of_base({"features": SETS}, **changes)


def test_a_ranker_takes_what_its_features_need_and_the_splits_that_it_learns_from():
    resolved = experiment(systems__l=LIGHTGBM)
    assert list(resolved.selection_tasks) == ["d/train", "d/dev"]
    system = resolved.systems["l"]
    assert system.settings.takes == ("bm25",) and (system.first_stage, system.depth) == ("bm25", 10)
    assert system.settings.parameters["num_leaves"] == [15] and system.settings.measure == "nDCG@10"
    scores = {"few": {"first_stage": "bm25", "of": ["BM25", {"system": "z"}]}}
    resolved = experiment(features=scores, systems__z={"model": "m"}, systems__l=LIGHTGBM)
    assert resolved.systems["l"].settings.takes == ("bm25", "z") and resolved.systems["l"].depth == 100


def test_only_a_learner_that_draws_has_seeds():
    assert experiment(systems__l=LIGHTGBM | {"seeds": 3}).systems["l"].seeds == (0,)
    assert experiment(systems__l=FOREST).systems["l"].seeds == (1,)
    assert experiment(systems__l=FOREST | {"seeds": [4, 7]}).systems["l"].seeds == (4, 7)
    drawing = {"type": "lightgbm", "bagging_fraction": [0.5, 1]}
    assert experiment(systems__l=LIGHTGBM | {"learner": drawing, "seeds": 2}).systems["l"].seeds == (1, 2)


def test_learners_fan_out_and_a_list_of_a_parameter_is_a_grid():
    resolved = experiment(systems__l=LIGHTGBM | {"learner": ["lightgbm", "xgboost"]})
    assert {"l-lightgbm", "l-xgboost"} <= set(resolved.systems)
    grid = {"type": "lightgbm", "num_leaves": [7, 15], "learning_rate": 0.2}
    system = experiment(systems__l=LIGHTGBM | {"learner": grid}).systems["l"]
    assert system.settings.parameters["num_leaves"] == [7, 15]
    assert system.settings.parameters["learning_rate"] == [0.2]


def test_transfer_learns_from_other_datasets():
    resolved = experiment(systems__l=LIGHTGBM | {"train_on": "e"}, **OTHER)
    assert list(resolved.selection_tasks) == ["e/train", "e/dev"]
    system = resolved.systems["l"]
    assert datasets_learnt(resolved, system, "d") == ["e"] and planning.source(system, "d") == "e"
    both = experiment(systems__l=LIGHTGBM | {"train_on": ["d", "e"]}, **OTHER)
    system = both.systems["l"]
    assert planning.source(system, "d") == "2-datasets"
    folders = planning.folders(both, "l", "2-datasets", "train")
    assert folders == ["d-train", "e-train"]
    files = planning.features(both, "l", "2-datasets", "dev")
    assert files == ["results/e/features/d-dev/few.parquet", "results/e/features/e-dev/few.parquet"]


def test_jobs_are_given_what_they_need():
    resolved = experiment(systems__l=FOREST | {"seeds": 2}, tasks=["d", "e"], **OTHER)
    assert datasets_learnt(resolved, resolved.systems["l"], "e") == ["e"]
    assert planning.all_tables(resolved) == [
        f"results/e/rankers/{source}/l/seed-{seed}.importance.tsv" for source in ("d", "e") for seed in (1, 2)
    ]
    figures = [file for file in exhibits.files(resolved) if "/importance/" in file]
    assert "results/e/figures/importance/e/l.png" in figures and len(figures) == 6
    assert not [file for file in exhibits.files(resolved, on_page=True) if "/importance/" in file]
    timing = cost_timings(resolved)["results/e/runs/e/l/seed-2.timing.json"]
    parts = ["results/e/runs/e/bm25/seed-0.timing.json", "results/e/features/e/few.timing.json"]
    assert timing == {"training": "results/e/rankers/e/l/seed-2.timing.json", "parts": parts}
    assert planning.ranker(resolved, "l", "e", "2") == "results/e/rankers/e/l/seed-2.model"
    assert planning.learner_files(resolved, "l") == ["ranktrial/learning_to_rank/learners/random_forest.py"]
    assert planning.training_settings(resolved, "l", "2")["seed"] == 2
    assert planning.ranking_settings(resolved, "l", "e", "2") == {"depth": resolved.depth, "tag": "l-2"}


FOLDED = FOREST | {"cross_validation": 5}


def test_cross_validation_needs_no_dev_and_ranks_each_training_query_without_its_fold():
    """Its scores of the training queries may be a feature, those of a ranker without folds not (CASES)."""
    data = {"datasets__d": TREC | {"topics": {"train": "1", "test": "2"}, "qrels": {"train": "3", "test": "4"}}}
    learner = {"type": "random-forest", "trees": [2, 4]}
    resolved = experiment(systems__l=FOLDED | {"learner": learner}, tasks=["d", "d/train"], **data)
    assert not [task for task in resolved.selection_tasks if task.endswith("/dev")]
    training = planning.training_inputs(resolved, "l", "d")
    assert training["dev"] == training["train"] == ["results/e/features/d-train/few.parquet"]
    assert training["qrels"] == ["results/e/data/d/qrels/train.qrels"]
    settings = planning.training_settings(resolved, "l", "1")
    assert (settings["folds"], settings["fold_seed"]) == (5, resolved.seed)
    assert planning.ranking_settings(resolved, "l", "d-train", "1")["by_fold"] is True
    assert "by_fold" not in planning.ranking_settings(resolved, "l", "d", "1")
    assert planning.all_tables(resolved) == ["results/e/rankers/d/l/seed-1.importance.tsv"]
    said = describe(resolved, resolved.systems["l"])
    assert "trees chosen on the next fold by nDCG@10, trained on each task's dataset in 5 folds, orders" in said
    elsewhere = experiment(systems__l=FOLDED | {"train_on": "e"}, tasks=["d/train", "e/train"], **OTHER)
    assert "by_fold" not in planning.ranking_settings(elsewhere, "l", "d-train", "1")
    assert planning.ranking_settings(elsewhere, "l", "e-train", "1")["by_fold"] is True


def test_a_ranker_that_is_tested_on_its_own_training_queries_is_reported():
    """Under its dataset's name or another one; not if each query is ranked by folds."""
    tasks = {"tasks": ["d", "d/train", "other/train"], "datasets__other": BASE["datasets"]["d"], "comparisons": {}}

    def said(system):
        lines = cautions(experiment(systems__l=system | {"train_on": "d"}, measures=["nDCG@10"], **tasks))
        assert all(line.endswith(" learnt from its queries, so their values there are too high") for line in lines)
        return {line.partition(": ")[0]: line.partition(": ")[2].split(" learnt")[0].split(", ") for line in lines}

    learnt = said(LIGHTGBM)
    assert list(learnt) == ["task d/train", "task other/train"] and all("l" in names for names in learnt.values())
    assert ["l" in names for names in said(FOLDED).values()] == [False, True]


def test_words():
    resolved = experiment(systems__l=LIGHTGBM | {"learner": {"type": "lightgbm", "num_leaves": [7, 15]}})
    said = (
        "LambdaMART (LightGBM) on 2 features (few), num_leaves chosen on dev by nDCG@10, trained on each task's dataset"
    )
    assert describe(resolved, resolved.systems["l"]) == f"{said}, orders the top 10 of bm25"
    assert for_times(resolved, resolved.systems["l"])["candidates"] == "top 10 of bm25"


TUNED = {"few": {"first_stage": "bm25", "of": ["BM25", {"system": "tuned"}]}}
TREC = {"format": "trec", "location": "tests", "documents": ["d"]}
SWAPPED = {
    "datasets__a": TREC | {"topics": {"train": "1", "dev": "2"}, "qrels": {"train": "3", "dev": "4"}},
    "datasets__b": TREC | {"topics": {"train": "2", "dev": "1"}, "qrels": {"train": "4", "dev": "3"}},
    "recipes__q": {"train_on": "a"},
    "systems__z": {"model": "m", "recipe": "q"},
    "features": {"few": {"first_stage": "bm25", "of": ["BM25", {"system": "z"}]}},
}
CASES = {
    "without features": ({"systems__l": {"type": "learning-to-rank", "learner": "linear"}}, "systems.l: key 'features' is missing"),
    "without a learner": ({"systems__l": {"type": "learning-to-rank", "features": "few"}}, "systems.l: key 'learner' is missing"),
    "unknown features": ({"systems__l": LIGHTGBM | {"features": "more"}}, "systems.l.features: unknown name 'more'; features has few"),
    "external features": ({"features": {"few": {"letor": {"d": "tests/conftest.py"}}}, "systems__l": LIGHTGBM}, "few are external files"),
    "unknown learner": ({"systems__l": LIGHTGBM | {"learner": "deep"}},
     "systems.l.learner: unknown learner 'deep'; expected one of lightgbm, linear, random-forest, xgboost"),
    "unknown parameter": ({"systems__l": LIGHTGBM | {"learner": {"type": "linear", "num_leaves": 3}}},
     "systems.l.learner: unknown parameter 'num_leaves'; linear has C"),
    "parameter of no learner": ({"systems__l": LIGHTGBM | {"learner": {"type": "linear", "leafs": 3}}}, "unknown parameter 'leafs'"),
    "value out of range": ({"systems__l": LIGHTGBM | {"learner": {"type": "lightgbm", "num_leaves": [7, 1]}}},
     "systems.l.learner.num_leaves: 1: expected a whole number from 2 to"),
    "value twice": ({"systems__l": LIGHTGBM | {"learner": {"type": "lightgbm", "num_leaves": [7, 7]}}}, "none twice"),
    "too large a grid": ({"systems__l": LIGHTGBM | {"learner": {"type": "lightgbm", "num_leaves": list(range(2, 30)),
     "min_data_in_leaf": list(range(1, 10))}}}, "systems.l.learner: 252 combinations of parameters; expected at most 200"),
    "learner without a type": ({"systems__l": LIGHTGBM | {"learner": {"num_leaves": 3}}}, "systems.l.learner"),
    "unknown dataset": ({"systems__l": LIGHTGBM | {"train_on": "x"}}, "systems.l.train_on: unknown name 'x'; datasets has d"),
    "unknown measure": ({"systems__l": LIGHTGBM | {"measure": "nDGC"}}, "systems.l.measure: unknown measure 'nDGC'"),
    "dataset without train": ({"datasets__e": INSURANCE | {"format": "qrels", "location": "tests/conftest.py"},
     "systems__l": LIGHTGBM | {"train_on": "e"}}, "systems.l.train_on: e has format qrels, without documents to learn from"),
    "split not there": ({"datasets__e": {"format": "trec", "location": "tests", "documents": ["d"], "topics": {"test": "t"},
     "qrels": {"test": "q"}}, "systems__l": LIGHTGBM | {"train_on": "e"}}, "systems.l.train_on: e has no judgements for the split train"),
    "a score of a model that saw the queries": ({"features": TUNED, "systems__l": LIGHTGBM},
     "systems.l: tuned learnt from the training queries of d, by which this learns: its scores there are too optimistic"),
    "another name of the same data": ({"features": TUNED, "datasets__e": {"format": "beir", "location": "tests"},
     "systems__l": LIGHTGBM | {"train_on": "e"}}, "systems.l: tuned learnt from the training queries of e, by which this learns (d/train may hold the same ones)"),
    "a ranker's score on what it learnt from": ({"features": {"few": SETS["few"], "deep": {"first_stage": "bm25", "of": ["BM25", {"system": "l"}]}},
     "systems__l": LIGHTGBM, "systems__k": LIGHTGBM | {"features": "deep"}}, "systems.k: l learnt from the training queries of d"),
    "a ranker's score by folds": ({"features": {"few": SETS["few"], "deep": {"first_stage": "bm25", "of": ["BM25", {"system": "l"}]}},
     "systems__l": FOLDED, "systems__k": FOLDED | {"features": "deep"}}, None),
    "no dev": ({"datasets__d": TREC | {"topics": {"train": "1", "test": "2"}, "qrels": {"train": "3", "test": "4"}}, "systems__l": FOREST},
     "systems.l: d has no judgements for the split dev; its splits are test, train; expected datasets.d.splits: {dev: 0.1} or cross_validation"),
    "by folds, and refit": ({"systems__l": FOLDED | {"refit": True}}, "systems.l.refit: not together with cross_validation"),
    "too few folds": ({"systems__l": FOREST | {"cross_validation": 2}}, "systems.l.cross_validation: 2 is too small; expected a whole number from 3 to 100"),
    "its own score": ({"features": {"few": {"first_stage": "l", "of": ["BM25"]}}, "systems__l": LIGHTGBM}, "refers to itself: l -> l"),
    "features that name no system": ({"features": {"few": {"first_stage": "x", "of": ["BM25"]}}, "systems__l": LIGHTGBM},
     "systems.l.features: its features name the system 'x', which is none or became several"),
    "the same data, divided otherwise": ({"features": TUNED, "datasets__e": {"format": "beir", "location": "tests", "splits": {"dev": 0.1}},
     "systems__l": LIGHTGBM | {"train_on": "e"}}, "systems.l: tuned learnt from the training queries of e, by which this learns (d/train may"),
    "dev queries that a model learnt from": (SWAPPED | {"systems__l": LIGHTGBM | {"train_on": "b"}},
     "systems.l: z learnt from the dev queries of b, by which this stops and chooses (a/train may hold the same ones)"),
    "a score of another seed": ({"features": {"few": {"first_stage": "bm25", "of": [{"system": "z"}]}}, **OTHER,
     "systems__z": {"model": "m", "recipe": "r", "seeds": 2, "select_seed": {"task": "d/dev"}}, "systems__l": LIGHTGBM | {"train_on": "e"}},
     "systems.l: z selects a seed on d, where its own runs have all seeds"),
    "a score from other data": ({"features": TUNED, "systems__l": LIGHTGBM | {"train_on": "e"}, **OTHER}, None),
}  # fmt: skip


test_a_mistake_is_one_line = each_is_one_line(CASES, lambda changes: experiment(**changes))
