"""The configuration: defaults, fan-out, and what each mistake says."""

import copy
from functools import partial

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.keys import given
from ranktrial.experiment.exhibits.costs import by_control
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.resolution import resolve
from ranktrial.experiment.systems.external import files_of
from tests.support.configuration import changed as changed_base
from tests.support.one_line import each_is_one_line, refused

BASE = {
    "experiment": "e",
    "datasets": {"d": {"format": "beir", "location": "tests"}},
    "models": {"m": {"type": "bi-encoder", "weights": "org/m"}, "ce": {"type": "cross-encoder", "weights": "org/ce"}},
    "recipes": {"r": {"train_on": "d"}},
    "systems": {"bm25": {"type": "bm25"}, "tuned": {"model": "m", "recipe": "r", "seeds": 2}},
    "tasks": ["d"],
    "comparisons": {"c": {"control": "bm25", "treatment": "tuned"}},
}


changed = partial(changed_base, BASE)


def resolved(changes: dict | None = None, /, **further: object) -> Experiment:
    """What the base becomes with these changes; the keys of `further` have __ for /."""
    named = {key.replace("__", "/"): value for key, value in further.items()}
    return resolve(changed((changes or {}) | named), "c.yaml")


def test_the_base_of_these_tests_is_right():
    experiment = resolve(copy.deepcopy(BASE), "c.yaml")
    assert experiment.systems["tuned"].seeds == (1, 2) and experiment.systems["bm25"].seeds == (0,)
    assert given(experiment.systems["bm25"].settings) == {
        "analyzer": "english", "fields": "together", "k1": 0.9, "b": 0.4,
    }  # fmt: skip


def test_elasticsearch_has_its_own_defaults():
    systems = {"es": {"type": "bm25", "engine": "elasticsearch", "url": "http://h:9200"},
               "standard": {"type": "bm25", "analyzer": "standard", "fields": "best", "tune": True}}  # fmt: skip
    experiment = resolve(changed({"systems": systems, "comparisons": {}}), "c.yaml")
    assert given(experiment.systems["es"].settings) == {
        "analyzer": "standard", "fields": "best", "url": "http://h:9200", "k1": 1.2, "b": 0.75,
    }  # fmt: skip
    assert experiment.systems["standard"].settings.analyzer == "standard"


IR_DATASETS = {"format": "ir_datasets", "location": "ir_datasets:antique",
               "ids": {"train": "antique/train", "test": "antique/test"}}  # fmt: skip
TREC = {"format": "trec", "location": "tests", "documents": ["d"], "topics": {"train": "s", "test": "t"},
        "qrels": {"test": "q"}}  # fmt: skip

CASES = {  # what is wrong, or accepted where there is no message
    "unknown key of the top": ({"colour": 1}, "c.yaml: unknown key 'colour'; allowed are"),
    "name with a space": ({"experiment": "a b"}, "c.yaml: experiment: 'a b' does not fit; expected a name of at most 100 letters"),
    "unknown dataset of a task": ({"tasks": ["x"]}, "c.yaml: tasks: unknown name 'x'; datasets has d"),
    "unknown measure": ({"measures": ["nDGC@10"]}, "c.yaml: measures: unknown measure 'nDGC@10' (did you mean 'nDCG@10'?)"),
    "unknown treatment": ({"comparisons/c/treatment": "x"}, "c.yaml: comparisons.c.treatment: unknown name 'x'; systems has bm25, tuned"),
    "unknown among treatments": ({"comparisons/c/treatment": ["tuned", "x"]}, "c.yaml: comparisons.c.treatment (in c-x): unknown name 'x'; systems has bm25, tuned"),
    "unknown task of a comparison": ({"comparisons/c/tasks": ["x"]}, "c.yaml: comparisons.c.tasks: unknown name 'x'; tasks has d"),
    "measure not listed": ({"comparisons/c/measure": "P@1"}, "c.yaml: comparisons.c.measure: 'P@1' is not among measures"),
    "unknown dataset to train on": ({"recipes/r/train_on": "x"}, "c.yaml: recipes.r.train_on: unknown name 'x'; datasets has d"),
    "unknown recipe to start from": ({"recipes/r/start_from": "x"}, "c.yaml: recipes.r.start_from: unknown name 'x'; recipes has r"),
    "unknown model": ({"systems/x": {"model": "none"}}, "c.yaml: systems.x.model: unknown name 'none'; models has m, ce"),
    "unknown recipe": ({"systems/x": {"model": "m", "recipe": "none"}}, "c.yaml: systems.x.recipe: unknown name 'none'"),
    "seeds without a recipe": ({"systems/x": {"model": "m", "seeds": 3}}, "c.yaml: systems.x.seeds: only valid with recipe"),
    "cross-encoder without candidates": ({"systems/x": {"model": "ce"}}, "c.yaml: systems.x: a cross-encoder cannot search a corpus alone; give it 'rerank', or 'candidates: all'"),
    "unknown candidates": ({"systems/x": {"model": "ce", "candidates": "some"}}, "c.yaml: systems.x.candidates: unknown value 'some'; expected"),
    "candidates beside rerank": ({"systems/x": {"model": "ce", "candidates": "all", "rerank": {"first_stage": "bm25"}}}, "c.yaml: systems.x.candidates: not together with rerank"),
    "candidates of bm25": ({"systems/x": {"type": "bm25", "candidates": "all"}}, "a system of type bm25 cannot have 'candidates'"),
    "unknown way with long documents": ({"systems/x": {"model": "m", "long_documents": "cut"}}, "c.yaml: systems.x.long_documents: unknown value 'cut'; expected"
     " one of truncate, passages"),
    "passage length without passages": ({"systems/x": {"model": "m", "passage_length": 99}}, "c.yaml: systems.x.passage_length: only valid with long_documents: passages"),
    "long documents of bm25": ({"systems/bm25/long_documents": "passages"}, "c.yaml: systems.bm25: a system of type bm25 cannot have 'long_doc"),
    "passage length of zero": ({"systems/x": {"model": "m", "long_documents": "passages", "passage_length": 0}}, "c.yaml: systems.x.passage_length: 0"),
    "vectors of a cross-encoder": ({"systems/x": {"model": "ce", "rerank": {"first_stage": "bm25", "vectors": "corpus"}}},
     "c.yaml: systems.x.rerank.vectors: a model that scores pairs has no vectors of documents; leave it out"),
    "unknown vectors": ({"systems/x": {"model": "m", "rerank": {"first_stage": "bm25", "vectors": "all"}}},
     "c.yaml: systems.x.rerank.vectors: unknown value 'all'; expected one of candidates, corpus"),
    "unknown first stage": ({"systems/x": {"model": "ce", "rerank": {"first_stage": "y"}}}, "c.yaml: systems.x.rerank.first_stage: unknown"),
    "system of no kind": ({"systems/x": {}}, "c.yaml: systems.x: a system needs type: b"),
    "recipe of an external system": ({"systems/x": {"type": "external", "recipe": "r", "runs": {"d": "f"}}}, "c.yaml: systems.x: a system of type external cannot have 'recipe'"),
    "tuned external system": ({"systems/x": {"type": "external", "tune": True, "runs": {"d": "f"}}}, "c.yaml: systems.x: a system of type external cannot have 'tune'"),
    "external system without runs": ({"systems/x": {"type": "external"}}, "c.yaml: systems.x: an external system needs 'runs'"),
    "missing run file": ({"systems/x": {"type": "external", "runs": {"d": "f"}}}, "c.yaml: systems.x.runs.d: no file 'f'"),
    "parameters beside tuning": ({"systems/bm25/k1": 1.0, "systems/bm25/tune": True}, "c.yaml: systems.bm25: k1 or b is given, so tune"),
    "elasticsearch without a url": ({"systems/bm25/engine": "elasticsearch"}, "c.yaml: systems.bm25.engine: elasticsearch is only valid with url"),
    "url without elasticsearch": ({"systems/bm25/url": "http://h:9200"}, "c.yaml: systems.bm25.url: only valid with engine: elasticsearch"),
    "password in a url": ({"systems/bm25/engine": "elasticsearch", "systems/bm25/url": "http://me:word@h:9200"},
     "c.yaml: systems.bm25.url: no name or password here: give them in the environment"),
    "tuned elasticsearch": ({"systems/bm25/engine": "elasticsearch", "systems/bm25/url": "http://h:9200", "systems/bm25/tune": True},
     "c.yaml: systems.bm25.tune: true is not together with engine: elasticsearch"),
    "unknown analyzer": ({"systems/bm25/analyzer": "thai"}, "c.yaml: systems.bm25.analyzer: unknown value 'thai'; expected one of english, "),
    "grid without tuning": ({"systems/bm25/grid": {"b": [0.5]}}, "c.yaml: systems.bm25.grid: only valid with tune: true"),
    "trec without documents": ({"datasets/d/format": "trec"}, "c.yaml: datasets.d: format trec needs the key 'documents'"),
    "library for another format": ({"datasets/d/location": "ir_datasets:antique"}, "c.yaml: datasets.d.location: 'ir_datasets:antique' is for the format ir_datasets, and this is beir"),
    "library without ids": ({"datasets/d": {"format": "ir_datasets", "location": "ir_datasets:antique"}}, "c.yaml: datasets.d: format ir_datasets needs the key 'ids'"),
    "folder for the library": ({"datasets/d": {"format": "ir_datasets", "location": "tests", "ids": {"test": "antique/test"}}},
     "c.yaml: datasets.d.location: 'tests' is not a location for this format, which reads ir_datasets:ID"),
    "library with a sum": ({"datasets/d": IR_DATASETS | {"sha256": "0" * 64}}, "c.yaml: datasets.d.sha256: ir_datasets has checksums of its own"),
    "library's id that is none": ({"datasets/d": IR_DATASETS | {"location": "ir_datasets:../etc"}}, "c.yaml: datasets.d.location: '../etc': expected an id of ir_datasets"),
    "split's id that is none": ({"datasets/d": IR_DATASETS | {"ids": {"test": "a b"}}}, "c.yaml: datasets.d.ids.test: 'a b': expected an id of ir_datasets"),
    "one id for two splits": ({"datasets/d": IR_DATASETS | {"ids": {"train": "antique/test", "test": "antique/test"}}},
     "c.yaml: datasets.d.ids: train and test are both 'antique/test': the same judgements twice"),
    "field twice": ({"datasets/d": IR_DATASETS | {"fields": ["text", "text"]}}, "c.yaml: datasets.d.fields: names a field twice"),
    "fields of another format": ({"datasets/d/fields": ["text"]}, "c.yaml: datasets.d: a dataset of format beir cannot have 'fields'"),
    "weights of the library": ({"models/m/weights": "ir_datasets:antique"}, "c.yaml: models.m.weights: no folder 'ir_datasets:antique' here, and no hub id"),
    "library": ({"datasets/d": IR_DATASETS}, None),
    "sample of no query": ({"datasets/d/test_queries": 0}, "c.yaml: datasets.d.test_queries: 0 is too small"),
    "sample of a share": ({"datasets/d/dev_queries": 0.5}, "c.yaml: datasets.d.dev_queries: 0.5 is not a whole number"),
    "sample of no split": ({"datasets/d": IR_DATASETS | {"dev_queries": 9}}, "c.yaml: datasets.d.dev_queries: there is no split dev; there are test, train"),
    "sample of a carved split": ({"datasets/d": IR_DATASETS | {"dev_queries": 9, "splits": {"dev": 20}}}, None),
    "unknown use of unjudged": ({"datasets/d/unjudged": "dev"}, "c.yaml: datasets.d.unjudged: unknown value 'dev'; expected one of drop, train, test"),
    "human labels without judgements": ({"datasets/d": TREC}, "c.yaml: recipes.r.labels: d has training queries without judgements, and labels: human needs them; labels: bm25 does not"),
    "pseudo-labels without judgements": ({"datasets/d": TREC, "recipes/r/labels": "bm25"}, None),
    "pseudo-labels without queries": ({"datasets/d": TREC | {"topics": {"test": "t"}}, "recipes/r/labels": "bm25"},
     "c.yaml: recipes.r.train_on: d has no judgements for the split train; its splits are test"),
    "topics of test without qrels": ({"datasets/d": TREC | {"topics": {"test": "t", "dev": "u"}}}, "c.yaml: datasets.d.topics: topics and qrels must name the same splits; train alone may lack qrels"),
    "qrels without topics": ({"datasets/d": TREC | {"topics": {"test": "t"}, "qrels": {"test": "q", "train": "r"}}}, "c.yaml: datasets.d.topics: topics and qrels must name the same splits"),
    "carved share above one": ({"datasets/d/splits": {"dev": 1.5}}, "c.yaml: datasets.d.splits.dev: 1.5 is neither a share below 1 nor"),
    "no location": ({"datasets/d/location": ...}, "c.yaml: datasets.d: key 'location' is missing"),
    "values without a measure": ({"datasets/d": {"format": "scores"}}, "c.yaml: datasets.d: format scores needs the key 'measure'"),
    "values with a location": ({"datasets/d": {"format": "scores", "measure": "F1", "location": "tests"}}, "c.yaml: datasets.d: format scores has no location"),
    "judgements without documents to search": ({"datasets/d/format": "qrels", "recipes": {}, "systems": {"b": {"type": "bm25"}}, "comparisons": {}},
     "c.yaml: systems.b: needs documents, but task 'd' has format qrels: external systems only"),
    "split without judgements": ({"datasets/j": {"format": "qrels", "location": "tests"}, "tasks": ["d", "j/dev"]}, "c.yaml: tasks: j/dev: j has no judgements for the split dev"),
    "scores for a task with judgements": ({"systems/x": {"type": "external", "scores": {"d": "pyproject.toml"}}},
     "c.yaml: systems.x.scores.d: a task of format beir takes runs: it has qrels"),
    "run for a task with values": ({"datasets/s": {"format": "scores", "measure": "F1"}, "tasks": ["d", "s"],
     "systems/x": {"type": "external", "runs": {"s": "pyproject.toml"}}, "systems/bm25": ..., "systems/tuned": ...,
     "comparisons": {}}, "c.yaml: systems.x.runs.s: a task of format scores takes scores: it has no qrels"),
    "run file not in the mirrors": ({"systems/x": {"type": "external", "runs": {"d": "f"}}, "mirrors": ["tests", "none"]}, "c.yaml: systems.x.runs.d: no file 'f' here or in the mirrors"),
    "measure without its grade": ({"measures": ["RBP"]}, "c.yaml: measures: measure 'RBP' cannot be computed: state the lowest grade"),
    "label of two systems": ({"systems/bm25/label": "tuned"}, "c.yaml: systems: bm25 and tuned have the same label 'tuned'"),
    "unknown effect": ({"comparisons/c/effect": "OR"}, "c.yaml: comparisons.c.effect: unknown value 'OR' (did you mean 'CORR'?); expected one of CORR, "),
    "margin of zero": ({"comparisons/c/margin": 0}, "c.yaml: comparisons.c.margin: 0 is too small; expected a number above 0"),
    "comparison named like a cost figure": ({"comparisons/cost-c": {"control": "bm25", "treatment": "tuned"}}, "c.yaml: comparisons.cost-c: names that begin"),
    "figure named like a comparison": ({"comparisons/c/figure": {"together": "c"}}, "c.yaml: comparisons.c.figure.together: 'c' is the name of"),
    "figure of comparisons that differ": ({"comparisons/c/figure": {"together": "f"},
     "comparisons/e": {"control": "tuned", "treatment": "bm25", "alpha": 0.1, "figure": {"together": "f"}}},
     "c.yaml: comparisons.e.figure.together: cannot be drawn with c: they differ in alpha, control"),
    "figure named like a chart": ({"comparisons/c/figure": {"together": "chart-c"}}, "c.yaml: comparisons.c.figure.together: 'chart-c' is a name of other figures"),
    "missing published numbers": ({"published": {"file": "none.tsv"}}, "c.yaml: published.file: no file 'none.tsv'"),
    "unknown comparison beside published numbers": ({"published": {"file": "pyproject.toml", "beside": {"c": "x"}}}, "c.yaml: published.beside: unknown name 'x'"),
    "part without a mapping": ({"published": {"file": "pyproject.toml", "part": True}}, "c.yaml: published.part: only valid with mapping"),
    "missing mapping": ({"published": {"file": "pyproject.toml", "mapping": "none.yaml"}}, "c.yaml: published.mapping: no file 'none.yaml'"),
    "mapping beside comparisons": ({"published": {"file": "pyproject.toml", "mapping": "pyproject.toml", "beside": {"c": "c"}}}, "c.yaml: published.beside: not together with mapping"),
    "mapping with an unknown system": ({"published": {"file": "pyproject.toml", "mapping": "config/published/factcheck.yaml"}},
     "factcheck.yaml: systems: c.yaml has no such entry: unknown name 'elasticsearch'; with published.part: true its cells"),
    "mapping of which this is a part": ({"published": {"file": "pyproject.toml", "mapping": "config/published/factcheck.yaml", "part": True}}, None),
    "chart with a baseline": ({"charts/x": {"systems": ["tuned"], "measures": ["RR@10"], "baseline": "bm25"}}, None),
    "chart with types of system": ({"charts/x": {"systems": {"a": ["tuned"], "b": ["bm25"]}, "measures": ["RR@10"]}}, None),
    "chart without measures": ({"charts/x": {"systems": ["tuned"]}}, "c.yaml: charts.x: key 'measures' is missing"),
    "chart with one system as text": ({"charts/x": {"systems": "tuned", "measures": ["RR@10"]}}, "c.yaml: charts.x.systems: 'tuned' is text; expected"),
    "unknown system in a chart": ({"charts/x": {"systems": ["tunde"], "measures": ["RR@10"]}}, "c.yaml: charts.x.systems: unknown name 'tunde' (did you mean 'tuned'?); systems has "),
    "unknown baseline of a chart": ({"charts/x": {"systems": ["tuned"], "measures": ["RR@10"], "baseline": "b"}}, "c.yaml: charts.x.baseline: unknown name 'b'"),
    "unknown task of a chart": ({"charts/x": {"systems": ["tuned"], "measures": ["RR@10"], "tasks": ["x"]}}, "c.yaml: charts.x.tasks: unknown name 'x'"),
    "measure of a chart not listed": ({"charts/x": {"systems": ["tuned"], "measures": ["RR@3"]}}, "c.yaml: charts.x.measures: 'RR@3' is not among the measures of task 'd'"),
    "two systems for one bar": ({"charts/x": {"systems": ["tuned", "plain"], "measures": ["RR@10"]}, "systems/plain": {"model": "m"}},
     "c.yaml: charts.x.systems: tuned and plain would be the same bar of m"),
    "system of a chart without a run": ({"charts/x": {"systems": ["bm25"], "measures": ["RR@10"]}, "systems/bm25/tasks": ["d"], "tasks": ["d", "d/dev"],
     "comparisons": {}}, "c.yaml: charts.x: bm25 has no run for task 'd/dev'; list other tasks"),
    "too many bars": ({"charts/x": {"systems": {name: ["tuned"] for name in "abcdefg"}, "measures": ["RR@10"]}}, "c.yaml: charts.x: has more than 6 bars per model"),
    "baseline that was fanned out": ({"charts/x": {"systems": ["tuned"], "measures": ["RR@10"], "baseline": "more"},
     "systems/more": {"type": "bm25", "k1": [0.5, 0.9]}}, "c.yaml: charts.x.baseline: more became 2 systems; name one"),
    "checkthat without parts": ({"datasets/d": {"format": "checkthat", "location": "tests"}}, "c.yaml: datasets.d: format checkthat needs the key 'parts'"),
    "emnlp2020 without text": ({"datasets/d": {"format": "emnlp2020", "location": "tests"}}, "c.yaml: datasets.d: format emnlp2020 needs the key 'text'"),
    "unknown text of emnlp2020": ({"datasets/d": {"format": "emnlp2020", "location": "tests", "text": "image"}},
     "c.yaml: datasets.d.text: unknown value 'image' (did you mean 'tweet+image'?); expected one of tweet, tweet+image"),
    "unknown corpus": ({"datasets/d/corpus": "x"}, "c.yaml: datasets.d.corpus: unknown name 'x'"),
    "corpus of itself": ({"datasets/d/corpus": "d"}, "c.yaml: datasets.d.corpus: d has no corpus of its own"),
    "corpus of judgements": ({"datasets/q": {"format": "qrels", "location": "tests"}, "datasets/d/corpus": "q"},
     "c.yaml: datasets.d.corpus: formats judge, leaderboard, letor, qrels, scores have no documents to share"),
    "unknown task of a system": ({"systems/bm25/tasks": ["x"]}, "c.yaml: systems.bm25.tasks: unknown name 'x'; tasks has d"),
    "comparison on a task without a run": ({"tasks": ["d", "d/dev"], "systems/bm25/tasks": ["d"]}, "c.yaml: comparisons.c: bm25 has no run for task 'd/dev'"),
    "first stage on fewer tasks": ({"tasks": ["d", "d/dev"], "systems/bm25/tasks": ["d"], "comparisons": {},
     "systems/x": {"model": "ce", "rerank": {"first_stage": "bm25"}}},
     "c.yaml: systems.x: its first stage bm25 has no run for d/dev"),
    "pairs with an unknown system": ({"comparisons/c/same": ["model"], "comparisons/c/treatment": "tuned-rr"},
     "c.yaml: comparisons.c.treatment: unknown name 'tuned-rr'"),
    "pairs without a common model": ({"comparisons/c/same": ["model"]}, "c.yaml: comparisons.c.same: no control and treatment have the same model"),
    "unknown task that a treatment ranks instead": ({"comparisons/c/treatment_on": {"x": "d"}}, "c.yaml: comparisons.c.treatment_on: unknown name 'x'"),
    "treatment on another split": ({"tasks": ["d", "d/dev"], "comparisons/c/treatment_on": {"d": "d/dev"}},
     "c.yaml: comparisons.c.treatment_on: 'd' and 'd/dev' must be the same split of datasets that share a corpus"),
    "treatment on other documents": ({"tasks": ["d", "j"], "datasets/j": {"format": "beir", "location": "tests"}, "comparisons/c/treatment_on": {"d": "j"}},
     "c.yaml: comparisons.c.treatment_on: 'd' and 'j' must be the same split"),
    "two tasks with distinct folders": ({"tasks": ["d", "d-dev"], "datasets/d-dev": {"format": "beir", "location": "scripts"}}, None),
}  # fmt: skip


test_each_mistake_is_one_line_that_names_file_and_key = each_is_one_line(CASES, resolved, start="")


def test_lists_fan_out_into_readable_names_and_references_follow():
    experiment = resolve(
        changed(
            {
                "models/m/weights": ["org/mini-lm", "org/big"],
                "recipes/r/negatives": {"from": ["random", "bm25"]},
                "recipes/more": {"train_on": "d", "start_from": "r"},
            }
        ),
        "c.yaml",
    )
    assert list(experiment.models) == ["m-mini-lm", "m-big", "ce"]
    assert list(experiment.recipes) == ["r-random", "r-bm25", "more-r-random", "more-r-bm25"]
    assert list(experiment.systems) == ["bm25", *(f"tuned-{m}-{r}" for m in ["m-mini-lm", "m-big"]
                                                  for r in ["r-random", "r-bm25"])]  # fmt: skip
    assert len(experiment.comparisons) == 4
    assert experiment.recipes["more-r-bm25"].start_from == "r-bm25"


def test_twelve_models_with_ten_seeds_are_ten_lines():
    config = changed({"models/m/weights": [f"org/m{i}" for i in range(12)], "systems/tuned/seeds": 10})
    systems = resolve(config, "c.yaml").systems
    assert sum(len(system.seeds) for system in systems.values()) == 1 + 12 * 10


def test_a_list_of_treatments_is_drawn_together_and_labels_tell_them_apart():
    changes = {
        "systems/tuned/label": "Tuned",
        "recipes/r/epochs": [1, 2],
        "comparisons/c": {"control": "bm25", "treatment": "tuned", "estimator": ["DL", "PM"]},
    }
    experiment = resolve(changed(changes), "c.yaml")
    assert experiment.figures == {f"c-{e}": (f"c-tuned-r-1-{e}", f"c-tuned-r-2-{e}") for e in ("DL", "PM")}
    assert [system.label for system in experiment.systems.values()] == ["bm25", "Tuned (r-1)", "Tuned (r-2)"]
    changes["comparisons/c"]["figure"] = {"together": "all-of-them"}
    changes["comparisons/c"]["estimator"] = "PM"
    assert list(resolve(changed(changes), "c.yaml").figures) == ["all-of-them"]


def test_lists_of_controls_and_treatments_can_be_paired_by_their_model():
    changes = {
        "models/m/weights": ["org/a", "org/b"],
        "recipes/r/epochs": [1, 2],
        "systems/base": {"model": "m"},
        "comparisons": {"c": {"control": "base", "treatment": "tuned", "same": ["model"]}},
    }
    experiment = resolve(changed(changes), "c.yaml")
    assert [(one.control, one.treatment) for one in experiment.comparisons.values()] == [
        (f"base-m-{m}", f"tuned-m-{m}-r-{epochs}") for m in "ab" for epochs in (1, 2)
    ]
    assert list(experiment.comparisons) == [f"c-tuned-m-{m}-r-{epochs}" for m in "ab" for epochs in (1, 2)]
    assert experiment.figures == {f"c-base-m-{m}": (f"c-tuned-m-{m}-r-1", f"c-tuned-m-{m}-r-2") for m in "ab"}


def test_a_treatment_may_rank_the_same_queries_of_another_task():
    changes = {
        "datasets/e": {"format": "beir", "location": "tests", "corpus": "d", "label": "D with images"},
        "tasks": ["d", "e"],
        "systems/tuned/tasks": ["e"],
        "comparisons": {
            "c": {"control": ["bm25"], "treatment": ["bm25", "tuned"], "tasks": ["d"], "treatment_on": {"d": "e"},
                  "same": ["system"]}
        },
    }  # fmt: skip
    experiment = resolve(changed(changes), "c.yaml")
    (comparison,) = experiment.comparisons.values()
    assert (comparison.name, comparison.control, comparison.treatment) == ("c-bm25", "bm25", "bm25")
    assert comparison.names(lambda _: "BM25", lambda task: experiment.tasks[task].label)[1] == "BM25 on D with images"
    assert [task.name for task in experiment.runs_of(experiment.systems["tuned"])] == ["e"]
    assert experiment.corpus_owner("e") == experiment.corpus_owner("d") == "d"
    assert by_control(experiment.comparisons, {"bm25", "tuned"}) == {}


def test_figures_of_costs_are_one_a_control_and_hold_timed_systems_only():
    changes = {
        "systems/x": {"type": "external", "runs": {"d": "pyproject.toml"}},
        "systems/plain": {"type": "bm25", "k1": 1.0},
        "comparisons": {
            "a": {"control": "bm25", "treatment": ["tuned", "plain"]},
            "b": {"control": "bm25", "treatment": "tuned", "ddof": 0},
            "c": {"control": "tuned", "treatment": "plain"},
            "d": {"control": "tuned", "treatment": "plain", "effect": "SMD"},
            "e": {"control": "plain", "treatment": "x"},
        },
    }
    experiment = resolve(changed(changes), "c.yaml")
    assert by_control(experiment.comparisons, {"bm25", "tuned", "plain"}) == {
        "bm25": ("a-tuned", "a-plain"), "tuned-c": ("c",), "tuned-d": ("d",)}  # fmt: skip


def test_external_files_are_looked_up_here_and_then_in_the_mirrors(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / "deep" / folder).mkdir(parents=True)
        (tmp_path / "deep" / folder / "run[1].txt").write_text("")
    changes = {"systems/x": {"type": "external", "runs": {"d": "b/run[1].txt"}}, "mirrors": ["none", str(tmp_path)]}
    found = files_of(resolve(changed(changes), "c.yaml").systems["x"], "d")
    assert found == (str(tmp_path / "deep" / "b" / "run[1].txt"),)


def scored(tasks, files):
    """A configuration of three datasets of scores, with these tasks, and with files of two systems."""
    others = {task: "README.md" if file in ("Makefile", "pyproject.toml") else file for task, file in files.items()}
    external = {name: {"type": "external", "scores": of_it} for name, of_it in (("x", files), ("y", others))}
    return changed({
        "datasets": {name: {"format": "scores", "measure": "accuracy"} for name in ("a", "b", "c")}, "models": {},
        "systems": external | {"y": external["y"] | {"label": "Y"}}, "recipes": {}, "tasks": tasks,
        "comparisons": {"c": {"control": "x", "treatment": "y", "measure": "accuracy"}},
    })  # fmt: skip


def test_a_subset_of_the_tasks_needs_no_other_change(tmp_path):
    """Files of tasks that wait are not looked up, and may even be missing."""
    files = {"a": "pyproject.toml", "b": "Makefile", "c": "not/here.txt"}
    for tasks in (["a"], ["b"], ["b", "a"]):
        experiment = resolve(scored(tasks, files), "c.yaml")
        assert list(experiment.tasks) == tasks and set(experiment.systems["x"].tasks) == set(tasks)
        assert set(experiment.comparisons["c"].tasks) == set(tasks)
    with pytest.raises(UserError, match=r"systems\.x\.scores\.c: .*not/here\.txt"):
        resolve(scored(["a", "c"], files), "c.yaml")


@pytest.mark.parametrize(
    ("tasks", "files", "said"),
    [
        (
            ["a"],
            {"a": "Makefile", "d": "Makefile"},
            "systems.x.scores: unknown name 'd'",
        ),  # no dataset: a typing mistake
        (["a"], {"a": "Makefile", "a/dev": "Makefile"}, "systems.x.scores: unknown name 'a/dev'"),
        (["a"], {"b": "Makefile"}, "systems.x: has no file for any of the tasks a"),
    ],
)
def test_a_file_for_no_task_at_all_is_a_mistake(tasks, files, said):
    with refused(said):
        resolve(scored(tasks, files), "c.yaml")


def test_tasks_and_their_measures_follow_the_dataset():
    changes = {
        "datasets/s": {"format": "scores", "measure": "accuracy", "label": "RTE"},
        "systems": {"x": {"type": "external", "scores": {"s": "pyproject.toml"}},
                    "y": {"type": "external", "label": "Y", "scores": {"s": "Makefile"}}},
        "recipes": {}, "tasks": ["s"],
        "comparisons": {"c": {"control": "x", "treatment": "y", "measure": "accuracy", "effect": "CORR"}},
    }  # fmt: skip
    experiment = resolve(changed(changes), "c.yaml")
    assert experiment.tasks["s"].measures == ("accuracy",) and experiment.tasks["s"].label == "RTE"
    changes["comparisons"]["c"]["measure"] = "nDCG@10"
    with pytest.raises(UserError, match="'nDCG@10' is not among the measures of task 's'"):
        resolve(changed(changes), "c.yaml")


def test_the_first_of_the_measures_is_compared_unless_another_is_named():
    experiment = resolve(
        changed({"measures": ["RR@5", "nDCG@5"], "comparisons/c": {"control": "bm25", "treatment": "tuned"}}), "c.yaml"
    )
    assert experiment.comparisons["c"].statistics.measure == "RR@5"


@pytest.mark.parametrize(
    ("changes", "own", "other"),
    [
        ({"systems/f": {"type": "fusion", "of": ["bm25", "tuned"]}}, "systems", "rerank"),
        ({"systems/bm25/zzzz": 1}, "k1", "method"),
        ({"systems/tuned/zzzz": 1}, "rerank", "k1"),
        ({"datasets/d/zzzz": 1}, "location", "measure"),
    ],
)
def test_an_unknown_key_lists_the_keys_of_the_type(changes, own, other):
    with pytest.raises(UserError) as error:
        resolve(changed(changes), "c.yaml")
    listed = str(error.value).partition("allowed are ")[2]
    assert own in listed and other not in listed.split(", ")


def test_names_that_would_collide_are_refused():
    with pytest.raises(UserError, match="becomes 'tuned-a', a name that is already taken"):
        resolve(changed({"systems/tuned/model": ["a", "b"], "systems/tuned-a": {"model": "m"}}), "c.yaml")


def test_systems_that_split_texts_or_score_all_pairs():
    systems = {
        "all": {"model": "ce", "candidates": "all", "recipe": "r", "seeds": 2},
        "all-bi": {"model": "m", "candidates": "all"},
        "split": {"model": "m", "long_documents": "passages", "rerank": {"first_stage": "bm25"}},
        "short": {"model": "ce", "candidates": "all", "long_documents": "passages", "passage_length": 80},
        "cut": {"model": "m", "long_documents": "truncate"},
    }
    found = resolve(changed({f"systems/{name}": entry for name, entry in systems.items()}), "c.yaml").systems
    types = {"all": "score_all", "all-bi": "retrieve", "split": "rerank", "short": "score_all", "cut": "retrieve"}
    assert {name: found[name].type for name in systems} == types
    assert {name: found[name].passage_length for name in systems} == dict.fromkeys(systems) | {
        "split": 150,
        "short": 80,
    }
    assert (found["all"].seeds, found["short"].seeds, found["all"].depth) == ((1, 2), (0,), None)


def test_a_reranker_takes_the_seeds_of_its_first_stage():
    experiment = resolve(changed({"systems/x": {"model": "ce", "rerank": {"first_stage": "tuned"}}}), "c.yaml")
    assert experiment.systems["x"].seeds == (1, 2)
    task = experiment.tasks["d"]
    assert [experiment.first_stage_seed(experiment.systems["x"], seed, task) for seed in (1, 2)] == [1, 2]
    with pytest.raises(UserError, match=r"its seeds \(1, 2, 3\) are not those of tuned \(1, 2\)"):
        entry = {"model": "ce", "recipe": "r", "seeds": 3, "rerank": {"first_stage": "tuned"}}
        resolve(changed({"systems/x": entry}), "c.yaml")


@pytest.mark.parametrize("changes", [{"experiment": "x.resume"}, {"datasets/x.resume": {"format": "beir", "location": "scripts"}},
                                     {"systems/x.resume": {"type": "bm25"}}, {"tasks": ["x.resume"]},
                                     {"comparisons/x.resume": {"control": "a", "treatment": "b"}}], ids=str)  # fmt: skip
def test_the_ending_of_unfinished_files_is_no_name(changes):
    """The ledger enters nothing below such a name."""
    with pytest.raises(UserError, match=r"x\.resume'"):
        resolve(changed(changes), "c.yaml")
