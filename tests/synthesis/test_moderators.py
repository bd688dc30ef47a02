"""Moderators: what each is of a task, and what a comparison's job makes of them, on tasks counted by hand."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.keys import given as as_json
from ranktrial.records.comparison import EffectsRow, as_record
from ranktrial.statistics.dependence import Dependence
from ranktrial.statistics.effects import all_effects, combined
from ranktrial.statistics.independent_tasks import meta_analysis
from ranktrial.statistics.method import Method
from ranktrial.statistics.moderation import Effects, Model, models, subgroups
from ranktrial.statistics.seeds import SeedEffects, SeedSource
from ranktrial.synthesis.moderators import MODERATORS, TaskFacts
from scripts.synthesis import moderate
from tests.support.calling import call
from tests.support.meta_records import meta_record

SPLIT = {"queries": 4, "judgements": 10, "relevant": 6, "mean_query_words": 7.5}
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2, "b": 1}, "q3": {"c": 0}, "q4": {"c": 3}}
ROW = EffectsRow(task="a", control_judged=0.75, treatment_judged=0.5)
FACTS = TaskFacts({"documents": 1000, "mean_document_words": 100}, SPLIT, QRELS, ROW, trained=True)
NO_ROW = EffectsRow(task="a")
VALUES = {
    "corpus-size": 3.0,
    "document-length": 2.0,
    "judged-gap": -0.25,
    "judgements-per-query": 2.5,
    "one-gold-document": 0.5,
    "query-length": 7.5,
    "relevant-per-query": 1.5,
    "trained": "trained on it",
}
METHOD = Method(interval="knapp-hartung", permutations=100, seed=1)


def test_each_moderator_is_what_it_says_of_a_task_counted_by_hand():
    assert {name: known.value(FACTS) for name, known in MODERATORS.items()} == pytest.approx(VALUES)
    assert MODERATORS["trained"].value(TaskFacts({}, {}, {}, NO_ROW, trained=False)) == "transfer"


def test_each_moderator_takes_no_more_than_it_needs():
    parts = {"documents": {"collection", "split"}, "judgements": {"split"}, "qrels": {"qrels"}, "judged": {"effects"}}
    for name, known in MODERATORS.items():
        given = {field for need in known.needs for field in parts[need]}
        nothing = {"collection": {}, "split": {}, "qrels": {}, "effects": NO_ROW}
        empty = {field: value for field, value in nothing.items() if field not in given}
        facts = TaskFacts(**{**vars(FACTS), **empty})
        assert known.value(facts) == VALUES[name] and isinstance(VALUES[name], str) == known.categorical


def effects(estimates: list[float], variances: list[float]) -> Effects:
    return Effects(tuple("abcdefgh"[: len(estimates)]), np.array(estimates), np.array(variances))


EIGHT = effects([0.02, 0.05, -0.03, 0.08, 0.04, 0.11, 0.01, 0.06], [4e-4, 1e-4, 9e-4, 2e-4, 3e-4, 1e-4, 2e-4, 5e-4])


def test_each_moderator_is_fitted_alone_then_all_together_and_p_is_adjusted_for_their_number():
    moderators = {"size": [3.0, 4, 5, 3, 6, 7, 4, 2], "kind": list("xyxyxyyx")}
    alone, also, both = models(EIGHT, moderators, METHOD)
    assert [model.moderators for model in (alone, also, both)] == [("size",), ("kind",), ("size", "kind")]
    assert [coefficient.term for coefficient in both.fit.coefficients] == ["intercept", "size", "kind: y"]
    smaller, larger = sorted([alone.fit.qm_p_value, also.fit.qm_p_value])
    adjusted = sorted([alone.fit.qm_p_holm, also.fit.qm_p_holm])
    assert adjusted == pytest.approx([min(2 * smaller, 1), min(max(2 * smaller, larger), 1)])
    assert (both.fit.qm_p_holm, both.fit.line, both.fit.levels) == (None, None, None)
    assert (alone.fit.line[0].x, alone.fit.line[-1].x) == (2, 7)
    first = alone.fit.coefficients[0].estimate + 2 * alone.fit.coefficients[1].estimate
    assert math.isclose(alone.fit.line[0].effect, first)


def test_effects_on_a_line_leave_the_unmodified_interval_nothing_to_test_with():
    """Before, p of the slope was 4e-47, that of the rounding."""
    on_a_line = effects([0.1, 0.2, 0.3, 0.4, 0.5], [0.001, 0.002, 0.0013, 0.001, 0.001])
    size = {"size": [1.0, 2, 3, 4, 5]}
    (record,) = models(on_a_line, size, replace(METHOD, interval="knapp-hartung-unmodified"))
    assert record.problem == "the effects follow the model exactly, which leaves knapp-hartung-unmodified no residual"
    assert not models(on_a_line, size, METHOD)[0].problem


def test_subtotals_of_groups_with_one_task_each_way_are_weighted_means_with_one_tau2():
    found = subgroups(EIGHT, "kind", dict(zip("abcdefgh", "xxxyyyxy", strict=True)), METHOD)
    assert found.tasks == {"x": ["a", "b", "c", "g"], "y": ["d", "e", "f", "h"]}
    weights = 1 / (EIGHT.variances + found.model.fit.tau2)
    for word, members in (("x", [0, 1, 2, 6]), ("y", [3, 4, 5, 7])):
        mean = (weights * EIGHT.estimates)[members].sum() / weights[members].sum()
        level = found.model.fit.levels[word]
        assert math.isclose(level.summary.effect, mean) and level.k == 4


def test_a_task_without_an_effect_keeps_its_place_in_its_group():
    groups = {**dict(zip("abcdefgh", "xxxyyyxy", strict=True)), "undefined": "z"}
    found = subgroups(EIGHT, "kind", groups, METHOD)
    assert found.tasks["z"] == ["undefined"] and set(found.model.fit.levels) == {"x", "y"}


def test_what_cannot_be_fitted_says_why_and_has_no_numbers():
    few = effects([0.1, 0.2, 0.3], [0.01, 0.01, 0.01])
    (model,) = models(few, {"size": [1.0, 2, 3]}, METHOD)
    assert model == Model(("size",), 3, "3 tasks have an effect; a moderator needs at least 4")
    assert models(EIGHT, {"size": [1.0] * 8}, METHOD)[0].problem == "size is the same on all tasks"
    found = subgroups(EIGHT, "kind", dict(zip("abcdefgh", "xyzuvwst", strict=True)), METHOD)
    assert found.model.fit is None and len(found.tasks) == 8


@pytest.mark.parametrize("name", all_effects())
def test_a_reported_effect_is_turned_back_to_the_scale_of_the_synthesis(name):
    for value in (-1.2, 0.0, 1e-9, 0.3):
        assert math.isclose(combined(name, all_effects()[name].reported(value)), value, rel_tol=1e-6)


def test_an_effect_that_cannot_be_turned_back_is_refused(monkeypatch):
    monkeypatch.setattr(all_effects()["MD"], "reported", math.tanh)
    with pytest.raises(UserError, match="effect MD is reported on another scale"):
        moderate.effects_of({"a": EffectsRow(task="a", effect=0.5, variance=1.0)}, "MD")


@pytest.fixture
def files(tmp_path):
    """An effects file of five tasks (the last without an effect), and the counts and judgements of their datasets."""
    rows = [
        {"task": f"d{number}", "n": 9, "effect": effect, "variance": 1e-4 * number, "control_judged": 0.5,
         "treatment_judged": 0.5 + 0.1 * number, "undefined": None if effect else "the same for every query"}
        for number, effect in enumerate([0.01, 0.08, 0.02, 0.09, 0.05, None], 1)
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "c.tsv", sep="\t", index=False)
    found = {"effects": tmp_path / "c.tsv", "meta": tmp_path / "meta.json", "statistics": [], "qrels": [],
             "moderators": tmp_path / "c.json"}  # fmt: skip
    found["meta"].write_text(json.dumps(as_json(meta_record())))
    for number in range(1, 7):
        folder = tmp_path / f"data/d{number}"
        (folder / "qrels").mkdir(parents=True)
        counts = {"documents": 10**number, "splits": {"test": SPLIT | {"judgements": 4 * number}}}
        (folder / "statistics.json").write_text(json.dumps(counts))
        (folder / "qrels/test.qrels").write_text("q1 0 a 1\nq2 0 a 1\nq2 0 b 1\n" + f"q3 0 c {number % 2}\n")
        found["statistics"].append(folder / "statistics.json")
        found["qrels"].append(folder / "qrels/test.qrels")
    return found


def settings(**changes) -> dict:
    tasks = {f"d{number}": {"dataset": f"d{number}", "split": "test"} for number in (6, 5, 4, 3, 2, 1)}
    tasks["d2"]["trained"] = tasks["d4"]["trained"] = True
    plain = {
        "effect": "MD",
        "estimator": "REML",
        "interval": "knapp-hartung",
        "alpha": 0.05,
        "permutations": 50,
        "seed": 1,
    }
    return plain | {"tasks": tasks} | changes


def test_a_job_reads_the_facts_of_its_tasks_and_writes_values_models_and_groups(files):
    names = ("corpus-size", "one-gold-document", "judged-gap")
    asked = [{"name": name, "label": name} for name in names]
    own = {"name": "year", "label": "Year", "values": {f"d{number}": 2000.0 + number for number in range(1, 7)}}
    given = settings(moderators=[*asked, own], subgroups={"name": "trained", "label": "Training"})
    call(moderate.moderate, given, **files)
    found = json.loads(files["moderators"].read_text())
    assert list(found["values"]) == ["d1", "d2", "d3", "d4", "d5", "d6"]  # as in the effects file
    expected = {"corpus-size": 3, "one-gold-document": 2 / 3, "judged-gap": 0.3, "year": 2003}
    assert found["values"]["d3"] == pytest.approx(expected)
    assert found["values"]["d2"]["one-gold-document"] == 1 / 3
    assert [model["problem"] for model in found["models"][:4]] == [None] * 4
    assert found["models"][4]["problem"].startswith("5 tasks are too few for 5 coefficients")
    assert found["subgroups"]["tasks"] == {"transfer": ["d1", "d3", "d5", "d6"], "trained on it": ["d2", "d4"]}
    levels = found["subgroups"]["levels"]
    assert levels["trained on it"]["effect"] > levels["transfer"]["effect"] and levels["transfer"]["k"] == 3


def test_a_constant_moderator_is_said_and_what_is_explained_is_the_tau2_of_the_summary(files):
    given = settings(moderators=[{"name": "x", "label": "x", "values": dict.fromkeys(settings()["tasks"], 1.0)}])
    call(moderate.moderate, given, **files)
    (model,) = json.loads(files["moderators"].read_text())["models"]
    assert model["problem"] == "x is the same on all tasks" and "coefficients" not in model
    values = {"d1": -1.0, "d2": 1.0, "d3": 1.0, "d4": -1.0, "d5": 0.0, "d6": 0.0}
    call(moderate.moderate, settings(moderators=[{"name": "x", "label": "x", "values": values}]), **files)
    (model,) = json.loads(files["moderators"].read_text())["models"]
    summary = meta_analysis([0.01, 0.08, 0.02, 0.09, 0.05], [1e-4, 2e-4, 3e-4, 4e-4, 5e-4], "REML", "normal")
    assert math.isclose(model["tau2_of_all"], summary.tau2, rel_tol=1e-9)


def test_correlations_are_modelled_as_fishers_z_and_shown_as_r(files):
    given = settings(effect="CORR", moderators=[{"name": "corpus-size", "label": "size"}])
    call(moderate.moderate, given, **files)
    (model,) = json.loads(files["moderators"].read_text())["models"]
    intercept, slope = (coefficient["estimate"] for coefficient in model["coefficients"])
    assert math.isclose(model["line"][0]["effect"], math.tanh(intercept + slope))


def test_a_job_takes_the_covariance_and_seed_effects_from_the_meta_record(files):
    """Five tasks have an effect; the last two share queries, and all the seed effects of a treatment with three seeds."""
    asked = settings(moderators=[{"name": "corpus-size", "label": "size"}])
    call(moderate.moderate, asked, **files)
    before = json.loads(files["moderators"].read_text())
    sampling = np.diag([1e-4, 2e-4, 3e-4, 4e-4, 5e-4])
    sampling[3, 4] = sampling[4, 3] = 2e-4
    seed_effect = SeedEffects(
        SeedSource("t", 3, np.full((5, 5), 0.003), np.zeros((5, 5))), np.full((5, 3), 1 / 3), np.ones(5), np.zeros(5)
    )
    dependence = Dependence(sampling, (9.0,) * 5, (0, 1, 2, 3, 3), (seed_effect,))
    files["meta"].write_text(json.dumps(as_json(replace(meta_record(), dependence=as_record(dependence)))))
    call(moderate.moderate, asked, **files)
    found = json.loads(files["moderators"].read_text())
    assert before["depends_on"] == []
    assert found["depends_on"] == [
        "the covariance of tasks with a corpus in common",
        "the variance between training seeds",
    ]
    (old,), (new,) = before["models"], found["models"]
    intercept, slope = new["coefficients"]
    assert intercept["variance"] > old["coefficients"][0]["variance"] + 0.0005  # 0.003 / 3 less what else changes
    assert slope["variance"] != pytest.approx(old["coefficients"][1]["variance"], rel=1e-4)
    assert new["permuted_as_independent"] and new["permutation_p_value"] == old["permutation_p_value"]
    assert new["df"] == slope["df"] and intercept["df"] != slope["df"]
