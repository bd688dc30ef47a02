"""The comparison's files: pairing by query id, seeds averaged first, nothing that does not exist is a number."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

SETTINGS = {"control": "c", "treatment": "t", "measure": "P@1", "effect": "MD", "estimator": "DL",
            "interval": "normal", "alpha": 0.05, "ddof": 1, "hedges": True, "permutations": 1000, "seed": 1,
            "cumulative": False}  # fmt: skip


def metrics(folder, task, system, seed, values):
    path = folder / "metrics" / task / system / f"seed-{seed}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame({"query_id": list(values), "P@1": list(values.values())})
    table["Judged@10"] = 0.5
    table.to_csv(path, sep="\t", index=False)
    return str(path)


def compare(folder, control, treatment, **changes):
    command = [sys.executable, "scripts/synthesis/compare.py", "--control", *control, "--treatment", *treatment,
               "--effects", folder / "c.tsv", "--meta", folder / "c.json", "--settings", json.dumps(SETTINGS | changes)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": ".", "PATH": "/usr/bin:/bin"})
    if done.returncode:
        return done
    return pd.read_csv(folder / "c.tsv", sep="\t").set_index("task"), json.loads((folder / "c.json").read_text())


def test_queries_are_paired_by_id_and_seeds_averaged_first(tmp_path):
    control = [metrics(tmp_path, "a", "c", 0, {"1": 0.1, "2": 0.5, "3": 0.4})]
    treatment = [metrics(tmp_path, "a", "t", 1, {"3": 0.9, "1": 0.2, "2": 0.5}),
                 metrics(tmp_path, "a", "t", 2, {"2": 0.7, "3": 0.7, "1": 0.2})]  # fmt: skip
    effects, meta = compare(tmp_path, control, treatment)
    difference = np.array([0.1, 0.1, 0.4])
    row = effects.loc["a"]
    assert row["effect"] == pytest.approx(difference.mean(), rel=1e-14)
    assert row["variance"] == pytest.approx(difference.var(ddof=1) / 3, rel=1e-14)
    assert row["treatment_seed_sd"] == pytest.approx(np.std([1.6 / 3, 1.6 / 3], ddof=1), abs=1e-15)
    assert np.isnan(row["control_seed_sd"]) and row["n"] == 3 and row["weight"] == 1 and row["control_judged"] == 0.5
    assert meta["k"] == 1 and meta["summary"]["effect"] == row["effect"] and meta["tau2"] is None


def test_a_task_with_a_constant_difference_does_not_spoil_the_summary(tmp_path):
    control, treatment = [], []
    for task, gain in (("a", [0.1, 0.3, 0.2]), ("b", [0.0, 0.1, 0.4]), ("flat", [0.0, 0.0, 0.0])):
        control.append(metrics(tmp_path, task, "c", 0, dict(zip("xyz", [0.1, 0.2, 0.3], strict=True))))
        treatment.append(metrics(tmp_path, task, "t", 0, {q: v + g for (q, v), g in zip(
            zip("xyz", [0.1, 0.2, 0.3], strict=True), gain, strict=True)}))  # fmt: skip
    effects, meta = compare(tmp_path, control, treatment)
    assert effects.loc["flat", "undefined"] == "the difference is the same for every query"
    assert np.isnan(effects.loc["flat", "weight"]) and effects.loc[["a", "b"], "weight"].sum() == pytest.approx(1)
    assert meta["k"] == 2 and np.isfinite(meta["summary"]["effect"])
    assert meta["warnings"] == ["flat: left out, the difference is the same for every query"]


def test_queries_of_one_system_only_are_left_out_and_said(tmp_path):
    control = [metrics(tmp_path, "a", "c", 0, {"1": 0.1, "2": 0.5, "3": 0.4})]
    treatment = [metrics(tmp_path, "a", "t", 0, {"2": 0.9, "3": 0.2, "4": 0.5})]
    effects, meta = compare(tmp_path, control, treatment)
    assert (
        effects.loc["a", "n"] == 2 and meta["warnings"][0] == "a: 2 queries stand in one system only and are left out"
    )


def test_nothing_in_common_is_one_line_and_no_file(tmp_path):
    done = compare(tmp_path, [metrics(tmp_path, "a", "c", 0, {"1": 0.1})], [metrics(tmp_path, "a", "t", 0, {"2": 0.1})])
    assert done.returncode == 1
    assert done.stderr == "error: task a: control and treatment have not one query in common\n"
    assert not (tmp_path / "c.tsv").exists() and not (tmp_path / "c.json").exists()
