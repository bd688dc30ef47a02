"""Records of comparisons for tests: a test says what it is about, the rest is filled in."""

import json
from dataclasses import fields
from typing import Any

from ranktrial.common.settings import read_settings
from ranktrial.records.comparison import MetaRecord
from ranktrial.records.facts import Facts, Labels
from ranktrial.statistics.independent_tasks import MetaResult

SUMMARY = {"effect": 0.05, "variance": 1e-4, "se": 0.01, "ci_low": 0.03, "ci_high": 0.07, "df": None, "p_value": 1e-6,
           "log10_p": -6.0}  # fmt: skip
HETEROGENEITY = ("tau2", "tau2_ci", "q", "q_df", "q_p_value", "q_log10_p", "i2", "h2", "prediction_interval",
                 "prediction_df")  # fmt: skip
WHOLE = {
    "control": "c", "treatment": "t", "measure": "nDCG@10", "ddof": 1, "permutations": 1000,
    "prediction": "confidence-distribution", "small_tasks": "shrunk", "effect_type": "MD", "task_interval": "t", "k": 2,
    "estimator": "DL", "interval": "normal", "alpha": 0.05, "summary": SUMMARY, "fixed": SUMMARY,
    **dict.fromkeys(HETEROGENEITY), "fixed_mean": None, "leave_one_out": {}, "warnings": [],
}  # fmt: skip
SPREAD = {"df": 2.0, "variance": 1e-5, "sd": 0.01, "sd_ci": [0.005, 0.02]}


def meta_record(**changes: Any) -> MetaRecord:
    """A record with these changes; parts of a summary may be left out, and without one there is no meta-analysis."""
    given = WHOLE | changes
    if given["summary"] is None:
        given = {key: value for key, value in given.items() if key not in {one.name for one in fields(MetaResult)}}
        given |= {"k": 0, "summary": None}
    given |= {key: SUMMARY | given[key] for key in ("summary", "fixed", "fixed_mean") if given.get(key)}
    if "equivalence" in changes:
        given["equivalence"] = {"margin": 0.01, "p_equivalence": None, "p_non_inferiority": None} | given["equivalence"]
    if isinstance(given.get("seeds"), dict):
        given["seeds"] = {role: _seeds(record) for role, record in given["seeds"].items()}
    if "sensitivity" in changes:
        given["sensitivity"] = _sensitivity(**changes["sensitivity"])
    return read_settings(MetaRecord, json.loads(json.dumps(given)), "a test's record")


def _seeds(record: dict[str, Any]) -> dict[str, Any]:
    return {"source": None} | (SPREAD if "seeds" in record else {}) | record


def _sensitivity(tasks: dict[str, dict], **means: dict) -> dict[str, Any]:
    heterogeneity = dict.fromkeys(("tau2", "q", "q_df", "q_p_value", "i2", "prediction_interval"))
    same = {task: {"n": 30, "effect": 0.0, "variance": 1e-3} | one for task, one in tasks.items()}
    of_means = {name: SUMMARY | mean for name, mean in means.items()}
    return {
        "assumption": "",
        "pooled_variance": 0.03,
        "pooled_df": 90,
        "tasks": same,
        "k": 5,
        **of_means,
        **heterogeneity,
    }


def facts(
    labels: Labels | None = None,
    trained: dict[str, list[str]] | None = None,
    unstated: tuple[str, ...] = (),
    lower_is_better: bool = False,
) -> Facts:
    """What is known of the systems and tasks of a comparison of nDCG@10."""
    marks = {"trained": trained or {}, "unstated": {name: ["any"] for name in unstated}}
    lower = ["nDCG@10"] if lower_is_better else []
    return Facts(labels or Labels({}, {}), ["nDCG@10"], lower_is_better=lower, marks=marks)
