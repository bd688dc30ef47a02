"""Scores of tasks that a model judges: which queries are the humans', which the model's, and why there is no effect."""

import numpy as np
import pandas as pd
import pytest

from ranktrial.common.errors import UserError
from ranktrial.statistics.prediction_powered import LEAST
from ranktrial.synthesis.comparing import (
    HOLES,
    NO_HUMANS,
    JudgedBy,
    Settings,
    compared,
    notes,
    read_probabilities,
    with_judges,
)
from ranktrial.synthesis.metrics_files import Scores

SETTINGS = Settings(control="c", treatment="t", measure="P@1", permutations=100)


def scores(queries, seed):
    values = np.random.default_rng(seed).random((len(queries), 2))
    return Scores(pd.DataFrame(values, index=pd.Index(queries, name="query_id")), None)


def pairs(humans, judged):
    human_ids, model_ids = ([f"q{number}" for number in range(count)] for count in (humans, judged))
    return {"j": (scores(model_ids, 1), scores(model_ids, 2)), "h": (scores(human_ids, 3), scores(human_ids, 4))}


def test_the_humans_judgements_of_the_sample_stand_beside_the_models_of_all():
    given = pairs(40, 100)
    scored, models = with_judges(given, {"j": JudgedBy(model="m", humans="h")}, 1)
    assert list(scored) == ["j"] and scored["j"][0].values.equals(given["h"][0].values)
    model = models["j"]
    assert np.array_equal(model.treatment, given["j"][1].values.to_numpy()[:40])
    assert np.array_equal(model.further_control, given["j"][0].values.to_numpy()[40:]) and model.undefined is None
    found = compared(scored, SETTINGS, None, models).tasks["j"]
    assert (found.effect.n, found.observed.powered.further, found.interval.df) == (40, 60, 39)


def test_a_sample_is_drawn_by_the_seed_from_the_ids_alone():
    given = pairs(100, 100)

    def queries(seed, pairs_of=given, size=LEAST):
        scored, models = with_judges(pairs_of, {"j": JudgedBy(model="m", humans="h", queries=size)}, seed)
        assert len(models["j"].further_control) == 100 - size
        return set(scored["j"][0].values.index)

    other_values = {task: tuple(Scores(one.values + 1, None) for one in pair) for task, pair in given.items()}
    assert len(queries(1)) == LEAST and queries(1) == queries(1, other_values) != queries(2)
    assert queries(1) < queries(1, size=50)


def test_why_a_task_has_no_effect():
    for by, humans, problem in (
        (JudgedBy(model="m"), 50, NO_HUMANS),
        (JudgedBy(model="m", holes=True), 50, HOLES),
        (
            JudgedBy(model="m", humans="h"),
            LEAST - 1,
            "29 queries judged by humans; a prediction-powered effect needs 30",
        ),
    ):
        scored, models = with_judges({**pairs(humans, 80), "other": pairs(9, 60)["j"]}, {"j": by}, 1)
        found = compared({task: scored[task] for task in ("other", "j")}, SETTINGS, None, models)
        assert list(found.synthesis.weights) == ["other"] and f"j: left out, {problem}" in found.synthesis.warnings
        assert notes(found.tasks, {"j": by}) == []


def test_what_is_said_of_a_judge():
    scored, models = with_judges(
        pairs(40, 100), by := {"j": JudgedBy(model="gpt-4o", humans="h", relatives=["gpt-5"])}, 1
    )
    said = notes(compared(scored, SETTINGS, None, models).tasks, by)
    assert said[0].startswith("j: prediction-powered, 40 queries judged by humans and 60 more by gpt-4o alone, whose")
    assert said[1] == "j: judge and ranker belong to the same model family, gpt-4o and gpt-5"


def test_probabilities_are_read_by_query(tmp_path):
    file = tmp_path / "p.tsv"
    file.write_text("".join(f"q{number}\t0.{number % 9 + 1}\n" for number in range(50)))
    _, models = with_judges(pairs(40, 100), {"j": JudgedBy(model="m", humans="h", probabilities=str(file))}, 1)
    assert models["j"].probabilities[:3].tolist() == [0.1, 0.2, 0.3] and len(models["j"].probabilities) == 40
    for text, problem in (
        ("q0\t1.5\n", "p.tsv:1: expected a query, a tab and a probability"),
        ("q0\t1\n", "no probability for 1 query with"),
    ):
        file.write_text(text)
        with pytest.raises(UserError, match=problem):
            read_probabilities(file, ["q0", "q1"])
