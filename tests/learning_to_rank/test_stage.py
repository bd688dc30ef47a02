"""Training, ranking and importance by their scripts: what is written, and what each refusal says."""

import csv
import json

import numpy as np
import pytest

from ranktrial.ir.feature_file import KEY
from ranktrial.ir.query_samples import equal_folds
from ranktrial.ir.term_counts import TermCounts
from ranktrial.ir.trec import read_run
from ranktrial.learning_to_rank.files import part, read_judgements, read_lists, run_of, strictly_falling
from ranktrial.learning_to_rank.learners import learner
from scripts.learning_to_rank import jobs
from tests.learning_to_rank.conftest import write_features, write_judgements
from tests.support.calling import call
from tests.support.one_line import refused

OUTPUTS = ("model", "record", "grid", "timing")


def trained(place, name="linear", seed=1, datasets=1, parameters=None, columns=None, folds=None, **changes):
    """Run the script that trains; gives what it wrote."""
    values = {key: [one.default] for key, one in learner(name).PARAMETERS.items()} | (parameters or {})
    settings = {"learner": name, "parameters": values, "measure": "nDCG@3", "depth": 3, "seed": seed}
    settings |= {"columns": columns} if columns else {}
    settings |= {"folds": folds, "fold_seed": 7} if folds else {}
    options = {"train": place / "train.parquet", "dev": place / "dev.parquet", "qrels": place / "dev.qrels",
               "terms": place / "terms"} | changes  # fmt: skip
    options = {key: [value] * datasets if not isinstance(value, list) else value for key, value in options.items()}
    call(jobs.train_ranker, settings, **options, **{key: place / f"x.{key}" for key in OUTPUTS})
    return {key: (place / f"x.{key}").read_text() for key in OUTPUTS}


def ranked(place, features="test.parquet", depth=6, terms="terms", **settings):
    call(jobs.rank_by_features, {"depth": depth, "tag": "t"} | settings, features=place / features, terms=[place / terms],
         model=place / "x.model", record=place / "x.record", run=place / "run", timing=place / "run.json")  # fmt: skip
    return read_run(place / "run")


@pytest.mark.parametrize("name", ["linear", "random-forest"])
def test_what_is_learnt_ranks_new_queries(place, name):
    written = trained(place, name)
    record = json.loads(written["record"])
    assert record["features"] == ["noise", "signal"]
    assert record["chosen"][0]["train_queries"] == record["chosen"][0]["dev_queries"] == 12
    run = ranked(place)
    rows = read_lists([place / "test.parquet"])
    best = {query: f"d{place}" for query, place in zip(rows.queries, rows.grades.reshape(12, 6).argmax(1), strict=True)}
    assert sum(next(iter(run[query])) == best[query] for query in run) >= 9
    assert json.loads((place / "run.json").read_text())["pairs"] == 72
    assert all(len(scores) == 2 for scores in ranked(place, depth=2).values())


@pytest.mark.parametrize("name", ["linear", "lightgbm"])
def test_a_feature_that_is_left_out_is_not_read(place, name):
    """One that nobody may learn from, beside the same that may: model, run and importance are as without it."""
    names = ["noise", "signal", "body.title"]
    for seed, split in enumerate(("train", "dev", "test"), 1):
        replaced(place, f"{split}.parquet", seed=seed, names=names)
    parameters = {"trees": [5], "min_data_in_leaf": [2]} if name == "lightgbm" else {}
    kept = ["noise", "body.title"]
    settings = {"measure": "nDCG@3", "depth": 3, "shuffles": 2, "seed": 1}
    files = {"dev": place / "dev.parquet", "qrels": place / "dev.qrels", "model": place / "x.model",
             "record": place / "x.record", "table": place / "x.tsv"}  # fmt: skip

    def everything():
        written = trained(place, name, parameters=parameters, columns=kept)
        run = ranked(place)
        call(jobs.importance, settings, **files)
        return written["model"], run, (place / "x.tsv").read_text(), json.loads(written["record"])

    before = everything()
    assert before[3]["features"] == kept and before[3]["chosen_from"] == names
    assert [row["feature"] for row in csv.DictReader(before[2].splitlines(), delimiter="\t")] == kept
    for split in ("train", "dev", "test"):
        rows = read_lists([place / f"{split}.parquet"])
        spoil(place / f"{split}.parquet", "signal", len(rows.documents))
    assert everything() == before
    with refused("train.parquet: contains a feature that is not a finite number"):
        trained(place)
    with refused("train.parquet: lacks the feature title; it has noise, signal, body.title"):
        trained(place, columns=["noise", "title"])


def test_a_grid_is_tried_and_the_first_of_the_best_is_kept(place):
    grid = {"C": [1e-9, 1.0, 2.0]}
    written = trained(place, parameters=grid)
    rows = list(csv.DictReader(written["grid"].splitlines(), delimiter="\t"))
    values = [float(row["nDCG@3"]) for row in rows]
    record = json.loads(written["record"])
    assert [float(row["C"]) for row in rows] == grid["C"] and record["combinations"] == 3
    (chosen,) = record["chosen"]
    assert chosen["parameters"] == {"C": grid["C"][values.index(max(values))]} and chosen["value"] == max(values)


BOOSTED = {"trees": [30], "patience": [3]}
REFITTED = {
    "linear": {"C": [1e-9, 1.0]},
    "random-forest": {"trees": [2, 5]},
    "lightgbm": BOOSTED | {"min_data_in_leaf": [2]},
    "xgboost": BOOSTED | {"learning_rate": [0.3]},
}


@pytest.mark.parametrize("name", REFITTED)
def test_what_was_chosen_is_learnt_again_from_train_and_dev(place, name):
    """The same model as one fit on both with the winning parameters and as many trees as were kept."""
    (chosen,) = json.loads(trained(place, name, parameters=REFITTED[name])["record"])["chosen"]
    files = {part: place / f"y.{part}" for part in ("model", "record", "timing")}
    call(jobs.refit_ranker, {"depth": 3}, train=[place / "train.parquet"], dev=[place / "dev.parquet"],
         terms=[place / "terms"], chosen=place / "x.record", chosen_timing=place / "x.timing", **files)  # fmt: skip
    record, timing = (json.loads(files[part].read_text()) for part in ("record", "timing"))
    assert record["chosen"] == [chosen | {"train_queries": 24, "train_candidates": 144}]
    assert timing["seconds"] > json.loads((place / "x.timing").read_text())["seconds"] and timing["refit_seconds"] > 0
    kept = chosen["trees_kept"]
    assert (kept is None) == (name in ("linear", "random-forest")) and (kept is None or 1 <= kept < 30)
    both = read_lists([place / "train.parquet"]), read_lists([place / "dev.parquet"])
    whole = jobs.together(*both)
    assert whole.sizes.sum() == len(whole.documents) == 144 and whole.values[72:].tolist() == both[1].values.tolist()
    parameters = chosen["parameters"] | ({} if kept is None else {"trees": kept})
    expected = learner(name).fit(whole, None, parameters, 3, 1)
    model = learner(name).read(files["model"].read_text())
    assert model.rounds == kept and model.scores(whole.values).tolist() == expected.scores(whole.values).tolist()
    before = learner(name).read((place / "x.model").read_text())
    assert model.scores(whole.values).tolist() != before.scores(whole.values).tolist()


def test_a_timing_that_is_none_is_reported(place):
    trained(place)
    (place / "x.timing").write_text("{}")
    with refused("x.timing: has no seconds; train the ranker again"):
        call(jobs.refit_ranker, {"depth": 3}, train=[place / "train.parquet"], dev=[place / "dev.parquet"],
             terms=[place / "terms"], chosen=place / "x.record", chosen_timing=place / "x.timing",
             **{part: place / f"y.{part}" for part in ("model", "record", "timing")})  # fmt: skip
    assert not (place / "y.model").exists()


def test_several_datasets_are_joined_and_equal_ids_stay_apart(place):
    (once,) = json.loads(trained(place)["record"])["chosen"]
    (twice,) = json.loads(trained(place, datasets=2)["record"])["chosen"]
    assert twice["train_queries"] == 2 * once["train_queries"] and twice["dev_queries"] == 24
    assert twice["value"] == once["value"]
    joined = read_lists([place / "train.parquet", place / "dev.parquet"], numbered=True)
    assert joined.queries[0] == "1:q0" and joined.queries[-1] == "2:q11" and joined.sizes.tolist() == [6] * 24


FOLDED = {"dev": "train.parquet", "qrels": "train.qrels"}


def folded(place, name="linear", queries=30, folds=5, **changes):
    """Train with folds; gives the files, the lists, and the fold of each query."""
    train = replaced(place, "train.parquet", queries=queries)
    write_judgements(place / "train.qrels", 1, queries)
    files = {key: place / file for key, file in FOLDED.items()}
    written = trained(place, name, folds=folds, **files, **changes)
    lists = read_lists([train])
    numbers = equal_folds(lists.queries, folds, 7)
    return written, lists, [numbers[query] for query in lists.queries]


def compare(run, expected):
    """Each expected query has these documents in this order, with scores equal in 32 bits."""
    for query, scored in expected.items():
        assert list(run[query]) == list(scored)
        assert list(run[query].values()) == pytest.approx(list(scored.values()), rel=1e-6)


@pytest.mark.parametrize("name", ["linear", "random-forest", "lightgbm"])
def test_a_fold_is_ranked_by_a_model_that_saw_it_neither_in_training_nor_in_selection(place, name):
    """As one ranker per fold would: learnt from the folds but two, selected on the next, and applied to its own."""
    grid = {"linear": {"C": [1e-9, 1.0]}, "random-forest": {"trees": [2, 4]}, "lightgbm": {"trees": [5]}}[name]
    grid |= {"min_data_in_leaf": [2]} if name == "lightgbm" else {}
    written, lists, folds = folded(place, name, parameters=grid)
    record, run = json.loads(written["record"]), ranked(place, "train.parquet", by_fold=True)
    assert len(record["chosen"]) == 5 and set(folds) == {1, 2, 3, 4, 5} and list(run) == lists.queries
    texts = json.loads(written["model"])
    for fold, (choice, text) in enumerate(zip(record["chosen"], texts, strict=True), 1):
        held = fold % 5 + 1
        learnt, other, own = (
            part(lists, [place for place, one in enumerate(folds) if one in chosen])
            for chosen in ({1, 2, 3, 4, 5} - {fold, held}, {held}, {fold})
        )
        assert (choice["train_queries"], choice["dev_queries"]) == (len(learnt.queries), len(other.queries))
        parameters = {key: one.default for key, one in learner(name).PARAMETERS.items()} | choice["parameters"]
        alone = learner(name).fit(learnt, other, parameters, 3, 1)
        assert alone.text() == text
        compare(run, run_of(own, alone.scores(own.values)))
    rows = list(csv.DictReader(written["grid"].splitlines(), delimiter="\t"))
    assert [int(row["fold"]) for row in rows] == [fold for fold in range(1, 6) for _ in rows[::5]]
    test = read_lists([place / "test.parquet"])
    mean = np.mean([learner(name).read(text).scores(test.values) for text in texts], axis=0)
    compare(ranked(place), run_of(test, mean))


def test_what_a_fold_holds_changes_nothing_in_the_model_that_ranks_it(place):
    """Its features reversed; the ranker before selects on this fold, but has nothing to select."""
    _, lists, folds = folded(place)
    texts = json.loads((place / "x.model").read_text())
    signal = [-value if folds[row // 6] == 2 else value for row, value in enumerate(lists.values[:, 1])]
    replace_column(place / "train.parquet", "signal", signal)
    trained(place, folds=5, **{key: place / file for key, file in FOLDED.items()})
    again = json.loads((place / "x.model").read_text())
    assert [one == other for one, other in zip(texts, again, strict=True)] == [True, True, False, False, False]


def test_folds_that_cannot_be_learnt_from_are_refused(place):
    with refused("train.parquet: has candidates of 12 queries, fewer than the 20 folds"):
        folded(place, queries=12, folds=20)
    with refused("x.model: is not a model of linear"):
        folded(place)
        (place / "x.model").write_text("[1, 2]")
        ranked(place)


def test_candidates_of_one_score_stay_in_the_order_of_the_first_stage(place):
    rows = read_lists([place / "test.parquet"])
    same = run_of(rows, np.zeros(len(rows.documents)))
    assert all(list(scores) == [f"d{number}" for number in range(6)] for scores in same.values())
    scores = np.array([3, 3, 2, 2, 2, 1], dtype=np.float32)
    reported = strictly_falling(scores)
    assert (np.diff(reported) < 0).all() and reported[0] == 3 and reported[5] == 1 and np.allclose(reported, scores)
    assert strictly_falling(reported) is reported


def test_importance_tells_the_signal_from_noise(place):
    for name in ("linear", "random-forest"):
        trained(place, name)
        settings = {"measure": "nDCG@3", "depth": 3, "shuffles": 3, "seed": 1}
        files = {"dev": place / "dev.parquet", "qrels": place / "dev.qrels", "model": place / "x.model"}
        tables = []
        for table in ("a.tsv", "b.tsv"):
            call(jobs.importance, settings, **files, record=place / "x.record", table=place / table)
            tables.append((place / table).read_text())
        noise, signal = csv.DictReader(tables[0].splitlines(), delimiter="\t")
        assert tables[0] == tables[1] and (noise["feature"], signal["feature"]) == ("noise", "signal")
        assert float(signal["permutation"]) > 0.2 > float(noise["permutation"])
        assert (signal["gain"] == "") == (name == "linear") and (signal["shap"] == "") == (name == "random-forest")


def test_importance_with_folds_is_that_of_each_model_on_the_fold_that_selected_it(place):
    written, lists, folds = folded(place, "lightgbm", parameters={"trees": [5], "min_data_in_leaf": [2]})
    settings = jobs.Shuffling("nDCG@3", 3, 3, 1)
    of_train = {key: place / file for key, file in FOLDED.items()}
    files = {"model": place / "x.model", "record": place / "x.record", "table": place / "a.tsv"}
    call(jobs.importance, vars(settings), **of_train, **files)
    models = [learner("lightgbm").read(text) for text in json.loads(written["model"])]
    qrels, fell, gains, explained = read_judgements([place / "train.qrels"]), [], [], []
    for fold, model in enumerate(models, 1):
        dev = part(lists, [row for row, one in enumerate(folds) if one == fold % 5 + 1])
        judged = {query: qrels[query] for query in dev.queries}
        fell += [jobs.falls(model, dev, judged, settings).mean(axis=1)] * len(judged)  # a row per query
        gains.append(model.gain() / model.gain().sum())
        explained.append(np.abs(model.shap(dev.values)).mean(axis=0))
    rows = list(csv.DictReader((place / "a.tsv").read_text().splitlines(), delimiter="\t"))
    for column, expected in (("permutation", fell), ("gain", gains), ("shap", explained)):
        assert [float(row[column]) for row in rows] == pytest.approx(np.mean(expected, axis=0), rel=1e-9)
    assert float(rows[1]["permutation"]) > 0.2


def test_a_query_of_no_fold_is_not_ranked_by_folds(place):
    folded(place)
    replaced(place, "train.parquet", queries=31)
    with refused("train.parquet: query q30 is in no fold of", "x.record; train the ranker again"):
        ranked(place, "train.parquet", by_fold=True)
    assert not (place / "run").exists()


def replaced(place, name, **changes):
    """The feature file `name` written anew, with something wrong."""
    return write_features(place / name, TermCounts(place / "terms"), **changes)


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("train.parquet", {"grades": [0] * 6}, ["train.parquet: all 72 candidates have grade 0", "nothing to learn"]),
        ("train.parquet", {"grades": [None] * 6}, ["train.parquet: all 72 candidates have grade 0"]),
        ("dev.parquet", {"grades": [1] * 6}, ["dev.parquet: all 72 candidates have grade 1", "nothing to stop or"]),
        ("train.parquet", {"queries": 1}, ["train.parquet: has candidates of 1 training query; expected at least 2"]),
        ("train.parquet", {"queries": 0}, ["train.parquet: has no candidates"]),
        ("dev.parquet", {"names": ["noise", "other"]}, ["dev.parquet: has other features than", "train.parquet"]),
        ("train.parquet", {"digest": "0" * 64}, ["train.parquet: its features were computed from another index"]),
        ("dev.parquet", {"digest": "0" * 64}, ["dev.parquet: its features were computed from another index"]),
        ("train.parquet", {"value": 1e39}, ["train.parquet: contains a feature beyond 32 bits"]),
    ],
)
def test_what_cannot_be_learnt_from_is_reported_and_nothing_is_written(place, name, changes, words):
    replaced(place, name, **changes)
    with refused(*words):
        trained(place)
    assert not list(place.glob("x.*"))


def replace_column(path, feature, values):
    """Give a feature of a file other values."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    table, about = parquet.read_table(path), parquet.read_metadata(path).metadata[KEY]
    table = table.set_column(table.schema.names.index(feature), feature, arrow.array(values))
    with parquet.ParquetWriter(path, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({KEY: about})


def spoil(path, feature, rows):
    """Put numbers that are none into the first rows of a feature."""
    values = read_lists([path], only=[feature]).values[:, 0].tolist()
    replace_column(path, feature, [float("nan")] * rows + values[rows:])


def test_a_feature_that_is_not_finite_is_reported(place):
    spoil(place / "train.parquet", "noise", 1)
    with refused("train.parquet: contains a feature that is not a finite number"):
        trained(place)


def test_ranking_refuses_features_that_the_model_did_not_learn_from(place):
    trained(place)
    replaced(place, "test.parquet", names=["signal", "noise"])
    with refused("test.parquet: has the features signal, noise, and", "x.record has noise, signal"):
        ranked(place)
    replaced(place, "test.parquet", digest="0" * 64)
    with refused("test.parquet: its features were computed from another index"):
        ranked(place)
    assert not (place / "run").exists()


@pytest.mark.parametrize(
    ("damaged", "words"), [("model", "is not a model of linear"), ("record", "is not a record of a ranker")]
)
def test_a_damaged_model_is_reported(place, damaged, words):
    trained(place)
    (place / f"x.{damaged}").write_text("{}\n")
    with refused(f"x.{damaged}: {words}"):
        ranked(place)


def test_the_model_of_another_ranker_is_reported(place):
    """One that would rank by other weights, or by another number of features, with no word about it."""
    trained(place)
    other = (place / "x.model").read_text()
    trained(place, parameters={"C": [0.001]})
    (place / "x.model").write_text(other)
    with refused("x.model: is not the model that its record was written with"):
        ranked(place)
    assert not (place / "run").exists()


def test_queries_without_a_relevant_document_decide_nothing(place):
    (place / "more.qrels").write_text("q1 0 d1 0\nq2 0 d1 1\n")
    assert list(read_judgements([place / "more.qrels"])) == ["q2"]
    assert list(read_judgements([write_judgements(place / "y"), place / "more.qrels"], numbered=True))[-1] == "2:q2"
