"""The table of each task's influence: from effects and meta record, with the dependence that this keeps."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ranktrial.common.keys import given
from ranktrial.common.settings import read_settings
from ranktrial.experiment.synthesis_records import OWN, SeedsOf
from ranktrial.records.comparison import MetaRecord, as_record
from ranktrial.synthesis.comparing import Settings, compared
from ranktrial.synthesis.comparison_results import dependence_record, rows
from ranktrial.synthesis.comparison_results import meta_record as record_of_job
from scripts.synthesis.tables import COLUMNS, combined, influence_table
from tests.statistics.test_dependent_influence import CASES, dependence_of
from tests.support.meta_records import meta_record
from tests.synthesis.test_comparing import BASE, pairs


def table_of(effect: list[float | None], variance: list[float | None], effect_type: str) -> pd.DataFrame:
    effects = pd.DataFrame({"task": [f"t{number}" for number in range(len(effect))], "effect": effect,
                            "variance": variance})  # fmt: skip
    return influence_table(effects, meta_record(effect_type=effect_type))


def test_the_table_leaves_undefined_tasks_out_and_is_empty_for_fewer_than_three():
    assert list(table_of([0.1, None, 0.2, 0.3], [0.01, None, 0.02, 0.01], "MD")["task"]) == ["t0", "t2", "t3"]
    two = table_of([0.1, None, 0.2], [0.01, None, 0.02], "MD")
    assert len(two) == 0 and tuple(two.columns) == COLUMNS


def test_a_correlation_is_combined_on_its_own_scale_and_reported_as_r():
    r, variance = [0.3, 0.5, 0.9], [0.01, 0.02, 0.005]
    table, on_z = table_of(r, variance, "CORR"), table_of(list(np.arctanh(r)), variance, "MD")
    assert np.allclose(
        np.arctanh(table["effect_without"].astype(float)), on_z["effect_without"].astype(float), atol=1e-12
    )
    assert np.allclose(table["dffits"].astype(float), on_z["dffits"].astype(float), atol=1e-10)


@pytest.mark.parametrize("value", [0.0, 0.3, -0.999, 0.99999999])
def test_the_inverse_of_what_is_stated(value):
    assert combined("CORR", value) == pytest.approx(np.arctanh(value), rel=1e-7, abs=1e-14)
    assert combined("MD", value) == value


def test_the_table_takes_the_dependence_of_the_meta_record():
    case = next(case for case in CASES if case["name"] == "one_corpus")
    variances = np.diag(np.array(case["v"]))
    effects = pd.DataFrame({"task": list("abcde"), "effect": case["yi"], "variance": variances})
    effects.loc[5] = ["undefined", None, None]
    meta = meta_record(estimator="REML")
    alone = influence_table(effects, meta)
    table = influence_table(effects, replace(meta, dependence=as_record(dependence_of(case))))
    assert np.allclose(table["effect_without"].astype(float), case["effect_without"], rtol=1e-6)
    assert not np.allclose(alone["effect_without"].astype(float), case["effect_without"], rtol=1e-2)
    assert list(table["task"]) == list("abcde") and table["dffits"].isna().all() and not alone["dffits"].isna().any()


def test_the_table_of_a_comparison_is_its_leave_one_out():
    """Through what a comparison writes: tasks of one corpus with the same queries, and four seeds of the treatment."""
    corpora = {"t0": "a", "t1": "a", "t2": "b", "t3": "c"}
    settings = Settings(**BASE, corpora=corpora, seed_sources={"treatment": SeedsOf(OWN, "t")})
    found = compared(pairs(4, m=4), settings)
    written = json.dumps(given(record_of_job(found.synthesis, settings, 1.0, **dependence_record(found, settings))))
    meta = read_settings(MetaRecord, json.loads(written), "meta")
    assert len(meta.dependence.seed_effects) == 1 and meta.dependence.collections == [0, 0, 1, 2]
    assert meta.meta.interval == "robust" and meta.asked.interval == "knapp-hartung"  # two corpora have no level
    table = influence_table(rows(found.tasks, found.synthesis.weights), meta)
    for row in table.to_dict("records"):
        without = meta.leave_one_out[row["task"]].summary
        for name in ("effect", "ci_low", "ci_high", "p_value"):
            assert row[f"{name}_without"] == pytest.approx(getattr(without, name), rel=1e-12), name
