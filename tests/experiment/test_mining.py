"""Negatives from systems in a configuration: what they need, what their jobs are given, and what each mistake says."""

import pytest

from ranktrial.common.errors import UserError
from scripts.training import planning
from scripts.training.planning import examples_name, examples_of
from tests.experiment.test_config import resolved as of_base
from tests.support.one_line import refused

ZERO_SHOT = {"systems/z": {"model": "m"}}
CE = {"systems/ce": {"model": "ce", "rerank": {"first_stage": "bm25"}}}
FUSED = {"systems/f": {"type": "fusion", "systems": ["bm25", "z"]}}


def resolved(negatives, **changes):
    return of_base({"recipes/r/negatives": negatives} | ZERO_SHOT, **changes)


def examples(experiment, recipe="r"):
    return examples_name(experiment.recipes[recipe])


def test_a_system_ranks_the_training_queries_and_bm25_does_not():
    experiment = resolved({"from": "z", "range_min": 2, "range_max": 50})
    assert list(experiment.selection_tasks) == ["d/train"] and list(experiment.tasks) == ["d"]
    name = examples(experiment)
    assert name == "human-labels_3-z-negatives_all-queries_top-of-2-50"
    assert planning.examples_inputs(experiment, "d", name)["runs"] == ["results/e/runs/d-train/z/seed-0.trec.gz"]
    assert (
        planning.examples_inputs(experiment, "d", name)["first_stage"]
        == []
        == planning.filtering_scores(experiment, "d", name)
    )
    assert planning.examples_settings(experiment, "d", name) == {
        "from": ["z"], "per_query": 3, "exclude_evaluation": True, "range_min": 2, "range_max": 50, "labels": "human",
        "queries": "all", "seed": 42, "sampling_strategy": "top", "positives": "all", "among_candidates": False,
    }  # fmt: skip
    assert planning.names_of_negatives(experiment, of_systems=True) == [name]
    assert planning.names_of_negatives(experiment, of_systems=False) == []


def test_a_trained_system_mines_with_its_first_seed():
    more = {"train_on": "d", "negatives": {"from": "tuned"}, "start_from": "r"}
    experiment = resolved({}, recipes__more=more, systems__again={"model": "m", "recipe": "more", "seeds": 2})
    name = examples(experiment, "more")
    assert planning.examples_inputs(experiment, "d", name)["runs"] == ["results/e/runs/d-train/tuned/seed-1.trec.gz"]
    assert [planning.training_inputs(experiment, "m", "more", seed)["negatives"] for seed in "12"] == [
        [f"results/e/negatives/d/{name}.tsv"]
    ] * 2
    assert planning.names_of_negatives(experiment, of_systems=False) == [examples(experiment)]


def test_a_list_makes_recipes_and_a_list_within_it_one_of_several_sources():
    experiment = resolved({"from": ["bm25", "z", ["bm25", "z"]]})
    assert list(experiment.recipes) == ["r-bm25", "r-z", "r-bm25-z"]
    assert experiment.recipes["r-bm25-z"].negatives.from_ == ("bm25", "z")
    name = examples(experiment, "r-bm25-z")
    assert name == "human-labels_3-bm25+z-negatives_all-queries"
    assert planning.examples_inputs(experiment, "d", name)["first_stage"] == "results/e/bm25/d/train.trec.gz"
    assert planning.examples_inputs(experiment, "d", name)["runs"] == ["results/e/runs/d-train/z/seed-0.trec.gz"]
    alone = resolved({"from": [["bm25", "z"]]})
    assert list(alone.recipes) == ["r"] and alone.recipes["r"].negatives.from_ == ("bm25", "z")


def test_bm25s_and_random_negatives_are_chosen_as_ever():
    for source in ("bm25", "random"):
        experiment = resolved({"from": source})
        assert experiment.selection_tasks == {} and planning.names_of_negatives(experiment, of_systems=True) == []
        settings = planning.examples_settings(experiment, "d", examples(experiment))
        assert settings["from"] == source
    filtered = resolved({"max_score": 20})
    name = examples(filtered)
    assert planning.names_of_negatives(filtered, of_systems=True) == [name] and name.endswith("queries_max-score-20")
    assert planning.examples_inputs(filtered, "d", name)["first_stage"] == "results/e/bm25/d/train.trec.gz"
    assert planning.examples_inputs(filtered, "d", name).get("runs", []) == [] and filtered.selection_tasks == {}
    assert planning.examples_settings(filtered, "d", name)["from"] == ["bm25"]


def test_filters_that_say_nothing_are_none():
    said = {
        "absolute_margin": None,
        "relative_margin": None,
        "max_score": None,
        "min_score": None,
        "cross_encoder": None,
    }
    assert resolved(said).recipes == resolved({}).recipes


def test_margins_share_what_a_cross_encoder_scores():
    given = {"from": [["bm25", "z"]], "cross_encoder": "ce", "range_max": 20, "relative_margin": [0, 0.05]}
    experiment = resolved(given, **{"systems__tuned__seeds": 1}, systems__ce=CE["systems/ce"])
    assert list(experiment.recipes) == ["r-0", "r-0.05"]
    names = [examples(experiment, recipe) for recipe in experiment.recipes]
    assert names[1] == "human-labels_3-bm25+z-negatives_all-queries_top-of-0-20_relative-margin-0.05_scored-by-ce"
    pool = "human-labels_bm25+z-candidates_all-queries_of-0-20"
    scores = f"results/e/negatives/d/{pool}/ce/seed-0.trec.gz"
    assert [planning.filtering_scores(experiment, "d", name) for name in names] == [scores, scores]
    assert planning.pairs_settings(experiment, "negatives", "d", pool) == {
        "from": ["bm25", "z"], "exclude_evaluation": True, "range_min": 0, "range_max": 20, "labels": "human",
        "queries": "all", "seed": 42, "among_candidates": False,
    }  # fmt: skip
    assert planning.pairs_inputs(experiment, "negatives", "d", pool) == {
        "corpus": "results/e/data/d/corpus.jsonl",
        "queries": "results/e/data/d/queries/train.jsonl",
        "qrels": "results/e/data/d/qrels/train.qrels",
        "evaluation_qrels": planning.examples_inputs(experiment, "d", names[0])["evaluation_qrels"],
        "first_stage": "results/e/bm25/d/train.trec.gz",
        "runs": ["results/e/runs/d-train/z/seed-0.trec.gz"],
    }


def test_what_a_system_takes_ranks_the_training_queries_too():
    experiment = resolved({"from": "f"}, systems__f=FUSED["systems/f"])
    assert list(experiment.selection_tasks) == ["d/train"]
    tuned = {"type": "fusion", "systems": ["bm25", "z"], "method": "weighted-sum", "tune": True}
    assert list(resolved({"from": "f"}, systems__f=tuned).selection_tasks) == ["d/train", "d/dev"]
    limited = {"model": "m", "tasks": ["d"]}
    assert list(resolved({"from": "z"}, systems__z=limited).selection_tasks) == ["d/train"]


def test_pseudo_labels_need_no_judgements_of_the_queries_that_a_system_mines():
    unjudged = {"format": "trec", "location": "tests", "documents": ["d"], "topics": {"train": "s", "test": "t"},
                "qrels": {"test": "q"}}  # fmt: skip
    experiment = resolved({"from": "z"}, datasets__d=unjudged, recipes__r__labels="bm25")
    assert list(experiment.selection_tasks) == ["d/train"]


def test_a_circle_of_another_dataset_is_none():
    """A system that is trained for each dataset apart is asked for the one that it mines."""
    each = {"model": "m", "recipe": {"each": {"d": "other", "e": "r"}}}
    changes = {"datasets__e": {"format": "beir", "location": "scripts"}, "tasks": ["d", "e"]}
    changes |= {"recipes__other": {"train_on": "d"}, "systems__each": each}
    experiment = resolved({"from": "each"}, **changes)
    assert examples_of(experiment, "d", examples(experiment)).recipe.negatives.from_ == "each"


LTR = {"features": {"few": {"first_stage": "bm25", "of": ["BM25", {"system": "z"}]}},
       "systems/l": {"type": "learning-to-rank", "features": "few", "learner": "lightgbm"}}  # fmt: skip
TREC = {"format": "trec", "location": "tests", "documents": ["d"], "topics": {"train": "s", "test": "t"},
        "qrels": {"train": "p", "test": "q"}}  # fmt: skip
MISTAKES = {
    "unknown system": ({"from": "x"}, {}, "negatives.from: unknown name 'x'; expected one of bm25, random, tuned, z"),
    "a recipe": ({"from": "r"}, {}, "negatives.from: r is a recipe; name a system that ranks with it"),
    "several systems": ({"from": "y"}, {"systems/y": {"model": "m", "long_documents": ["truncate", "passages"]}},
     "negatives.from: y became 2 systems; name one of them: y-truncate, y-passages"),
    "one in a list": ({"from": [["z"]]}, {}, "negatives.from: has 1 of the 2 entries"),
    "one twice": ({"from": [["z", "z"]]}, {}, "negatives.from: duplicate entry 'z'"),
    "a list in a list in a list": ({"from": [[["z"]]]}, {}, "negatives.from: a list or mapping within a list"),
    "random among others": ({"from": [["z", "random"]]}, {}, "negatives.from: random ranks nothing that could be taken in turn"),
    "margin of random": ({"from": "random", "relative_margin": 0.1}, {}, "recipes.r.negatives.relative_margin: not together with from: random"),
    "score of random": ({"from": "random", "max_score": 1}, {}, "recipes.r.negatives.max_score: not together with from: random"),
    "margin of 1": ({"relative_margin": 1}, {}, "negatives.relative_margin: 1 is too large; expected a number of at least 0 and below 1"),
    "margin below 0": ({"absolute_margin": -0.1}, {}, "negatives.absolute_margin: -0.1 is too small"),
    "scores the wrong way": ({"min_score": 0.8, "max_score": 0.5}, {}, "negatives.min_score: 0.8 is above max_score 0.5"),
    "range the wrong way": ({"from": "z", "range_min": 9, "range_max": 5}, {}, "3 are more than the 0 candidates from range_min 9 to range_max 5"),
    "deeper than the runs": ({"from": "z", "range_max": 30}, {"depth": 20, "measures": ["nDCG@10"]},
     "negatives.range_max: 30 is deeper than the runs of z, which contain at most 20 documents"),
    "more than the runs": ({"from": "z", "range_min": 18}, {"depth": 20, "measures": ["nDCG@10"]},
     "negatives.per_query: 3 are more than the candidates from range_min 18 to the 20 documents that the runs of z contain"),
    "scores without scale": ({"from": [["bm25", "z"]], "max_score": 1}, {}, "negatives.max_score: scores of bm25 and z have no common scale; give a cross_encoder"),
    "nothing to filter": ({"cross_encoder": "ce"}, CE, "recipes.r.negatives.cross_encoder: only valid with absolute_margin or relative_margin or max_score or min_score or positives.found_within"),
    "a bi-encoder as filter": ({"cross_encoder": "z", "max_score": 1}, {}, "negatives.cross_encoder: z is of a bi-encoder; expected a system with a cross-encoder"),
    "bm25 as filter": ({"cross_encoder": "bm25", "max_score": 1}, {}, "negatives.cross_encoder: bm25 is of type bm25, without a model; expected"),
    "unknown filter": ({"cross_encoder": "org/ce", "max_score": 1}, {}, "negatives.cross_encoder: unknown name 'org/ce'; expected one of bm25, tuned, z"),
    "margin of a fusion": ({"from": "f", "relative_margin": 0}, FUSED, "negatives.relative_margin: f ranks the candidates of others, so the score of a positive"),
    "margin of a re-ranker": ({"from": "ce", "absolute_margin": 0}, CE, "negatives.absolute_margin: ce ranks the candidates of others"),
    "its own system": ({"from": "tuned"}, {}, "recipes.r.negatives: a circle: r -> tuned -> r; what mines or filters"),
    "a fusion of its own": ({"from": "f"}, {"systems/f": {"type": "fusion", "systems": ["bm25", "tuned"]}}, "a circle: r -> f -> r;"),
    "one that starts from it": ({"from": "y"}, {"recipes/s": {"train_on": "d", "start_from": "r"}, "systems/y": {"model": "m", "recipe": "s"}},
     "a circle: r -> y -> s -> r;"),
    "two that mine each other": ({"from": "y"}, {"recipes/s": {"train_on": "d", "negatives": {"from": "tuned"}}, "systems/y": {"model": "m", "recipe": "s"}},
     "a circle: r -> y -> s -> tuned -> r;"),
    "its own filter": ({"cross_encoder": "ce", "max_score": 1}, {"systems/ce": {"model": "ce", "recipe": "r", "rerank": {"first_stage": "bm25"}}},
     "a circle: r -> ce -> r;"),
    "a ranker of features of its own": ({"from": "l"}, LTR | {"features": {"few": {"first_stage": "bm25", "of": ["BM25", {"system": "tuned"}]}}}, "c.yaml: "),
    "an external run elsewhere": ({"from": "theirs"}, {"systems/theirs": {"type": "external", "runs": {"d": "README.md"}}},
     "negatives.from: theirs has no run for the training queries of d (d/train)"),
    "no recipe for the dataset": ({"from": "each"}, {"datasets/e": {"format": "beir", "location": "scripts"}, "tasks": ["d", "e"], "recipes/o": {"train_on": "e"},
     "systems/each": {"model": "m", "recipe": {"each": {"e": "o"}}}}, "negatives.from: each needs runs of each on d, for which that has no recipe"),
    "tuned without dev": ({"from": "t"}, {"datasets/d": TREC, "datasets/e": {"format": "beir", "location": "scripts"}, "tasks": ["e"],
     "systems/t": {"type": "bm25", "tune": True}}, "negatives.from: t is tuned: d has no judgements for the split dev"),
    "names too long for a file": ({"from": [["x" * 99, "y" * 99]]}, {f"systems/{sign * 99}": {"model": "m"} for sign in "xy"}, "negatives: the names of what they are from"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_each_mistake_is_one_line_before_anything_runs(name):
    negatives, changes, said = MISTAKES[name]
    with refused(said, start="c.yaml: "):
        of_base({"recipes/r/negatives": negatives} | ZERO_SHOT | changes)


def test_a_ranker_of_features_may_mine():
    experiment = of_base({"recipes/r/negatives": {"from": "l"}} | ZERO_SHOT | LTR)
    assert list(experiment.selection_tasks) == ["d/train", "d/dev"]


TUNED = {"systems/tuned-bm25": {"type": "bm25", "tune": True}}


def test_labels_candidates_and_negatives_of_a_tuned_bm25():
    """Its run of the training queries stands where that of Pyserini's BM25 stood; the examples are others."""
    recipe = {"train_on": "d", "labels": "bm25", "bm25": "tuned-bm25", "negatives": {"range_max": 100}}
    experiment = of_base({"recipes/r": recipe} | TUNED)
    name = examples(experiment)
    assert name == "bm25-labels_3-bm25-negatives_all-queries_top-of-0-100_by-tuned-bm25"
    assert (
        planning.examples_inputs(experiment, "d", name)["first_stage"]
        == "results/e/runs/d-train/tuned-bm25/seed-0.trec.gz"
    )
    assert planning.examples_inputs(experiment, "d", name).get("runs", []) == []
    assert planning.names_of_negatives(experiment, of_systems=True) == []
    assert list(experiment.selection_tasks) == ["d/train"]
    settings = planning.examples_settings(experiment, "d", name)
    plain = of_base({"recipes/r": {key: value for key, value in recipe.items() if key != "bm25"}})
    assert settings == planning.examples_settings(plain, "d", examples(plain))


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ({"bm25": "nothing"}, "recipes.r.bm25: unknown name 'nothing'"),
        ({"bm25": "z"}, "recipes.r.bm25: z is not a system of type bm25"),
        ({"bm25": "tuned-bm25", "negatives": {"from": "random"}}, "recipes.r.bm25: only valid where labels, positives"),
        ({"bm25": True}, "recipes.r.bm25: "),
        ({"bm25": "tuned-bm25", "negatives": {"range_max": 150}}, "recipes.r.negatives.range_max: 150 is deeper than"),
    ],
)
def test_what_cannot_stand_for_bm25(recipe, said):
    given = {"recipes/r": {"train_on": "d"} | recipe, "depth": 100} | TUNED | ZERO_SHOT
    with pytest.raises(UserError, match=said):
        of_base(given)
