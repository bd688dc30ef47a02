"""A plan through files: from metrics by way of a comparison to designs, table, page and figure."""

import json
import math

import numpy as np
import pandas as pd
import pytest

import ranktrial as rt
from ranktrial.study_design import Systems, trained_values
from scripts.reports import figure, study_designs
from scripts.study_design.plan_designs import study_design
from scripts.synthesis.compare import compare
from tests.support.calling import call

TASKS = {"a": 30, "b": 50, "c": 40, "d": 60}
STATISTICS = {"control": "bm25", "treatment": "tuned", "measure": "nDCG@10", "effect": "MD", "estimator": "REML",
              "interval": "knapp-hartung", "task_interval": "t", "alpha": 0.05, "ddof": 1,
              "permutations": 100, "seed": 1, "cumulative": False}  # fmt: skip
ASKED = {"plan": "dense", "alpha": 0.05, "power": 0.8, "queries": [50, 200], "collections": [4, 10], "seeds": [1, 3],
         "effect": 0.1}  # fmt: skip
COMPARED = {"control": "bm25", "treatment": "tuned", "trained": ["tuned"], "given": []}


def write_metrics(folder, task, system, seed, values):
    path = folder / "metrics" / task / system / f"seed-{seed}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame({"query_id": [f"q{number}" for number in range(len(values))], "nDCG@10": values})
    table.to_csv(path, sep="\t", index=False)
    return path


@pytest.fixture
def plan(tmp_path):
    """A plan of a comparison of BM25 with a system of three seeds; `seeds` of them are given to the comparison."""

    def make(seeds=3, tasks=TASKS, asked=ASKED, **statistics):
        generator = np.random.default_rng(7)
        seed_variance = generator.normal(0, 0.02, 3)
        control, treatment = [], []
        for task, n in tasks.items():
            base = generator.uniform(0.2, 0.6, n)
            control.append(write_metrics(tmp_path, task, "bm25", 0, base))
            gain = generator.normal(0.05, 0.03) + generator.normal(0, 0.1, n)
            for seed in range(seeds):
                noise = seed_variance[seed] + generator.normal(0, 0.03, n)
                treatment.append(write_metrics(tmp_path, task, "tuned", seed + 1, base + gain + noise))
        paths = {"effects": tmp_path / "effects.tsv", "meta": tmp_path / "meta.json"}
        call(compare, STATISTICS | statistics, control=control, treatment=treatment, **paths)
        costs = tmp_path / "costs.tsv"
        costing = {"queries_per_second": 10.0, "seconds": 2.0, "end_to_end_seconds": 2.0, "device": "A100",
                   "end_to_end_encoding_seconds": 36.0, "end_to_end_training_seconds": 3600.0}  # fmt: skip
        rows = [{"task": task, "system": "tuned", "seed": seed} | costing for task in tasks for seed in (1, 2, 3)]
        pd.DataFrame(rows).to_csv(costs, sep="\t", index=False)
        written = tmp_path / "plan.json"
        settings = asked | {"compared": COMPARED}
        call(study_design, settings, control=control, treatment=treatment, costs=costs, plan=written, **paths)
        return json.loads(written.read_text())

    return make


def test_a_plan_rests_on_what_the_comparison_shows(plan, tmp_path):
    made = plan()
    effects, meta = pd.read_csv(tmp_path / "effects.tsv", sep="\t"), json.loads((tmp_path / "meta.json").read_text())
    (seed_variance,) = made["components"]["seed_variances"]
    assert made["components"]["collection"] == meta["tau2"] and seed_variance["df"] == 2
    with_noise = made["components"]["query"] + seed_variance["seed_by_query"] / 3
    assert with_noise == pytest.approx((effects["n"] * effects["variance"]).mean())
    assert seed_variance["seed_by_query"] == pytest.approx(0.03**2, rel=0.2)
    present = made["present"]
    assert (present["collections"], present["seeds"]) == (4, [3])
    assert present["queries"] == pytest.approx(4 / sum(1 / n for n in TASKS.values()))
    assert made["unknown_seed_variance"] == [] and made["untimed"] == ["bm25"] and made["devices"] == ["A100"]
    assert len(made["designs"]) == 2 * 2 * 3
    for row in made["designs"]:
        expected = row["seeds"] * (1 + row["collections"] * (0.01 + row["queries"] / 36000))
        assert row["hours"] == pytest.approx(expected)
        assert row["meets_target"] == (row["detectable"] <= 0.1)
    assert made["cheapest"]["summary"]["meets_target"]


def test_one_seed_has_no_seed_variance_and_the_plan_says_so(plan):
    made = plan(seeds=1)
    assert made["components"]["seed_variances"] == [] and made["unknown_seed_variance"] == ["tuned"]
    assert {row["seeds"] for row in made["designs"]} == {1}


def test_one_collection_tells_nothing_of_others(plan):
    made = plan(tasks={"a": 30})
    assert {row["test"] for row in made["designs"]} == {"task"} and made["curves"]["collections"] == []
    assert "summary" not in made["present"] and made["cheapest"]["summary"] is None


def test_a_standardised_effect_is_planned_on_its_own_scale(plan):
    md, smd = plan(), plan(effect="SMD")
    (of_md,), (of_smd,) = md["components"]["seed_variances"], smd["components"]["seed_variances"]
    sd = math.sqrt(md["components"]["query"])
    assert of_smd["seed"] / of_md["seed"] > 1.5
    assert math.sqrt(of_smd["seed"] / of_md["seed"]) < 2 / sd
    assert smd["axis"].startswith("Standardised") or "Hedges" in smd["axis"] or "SMD" in smd["axis"]


def test_in_the_present_design_each_system_has_its_own_seeds():
    generator = np.random.default_rng(4)
    control, treatment = (generator.normal(0, 0.06, seeds) for seeds in (2, 12))
    pairs = {}
    for task in "abcdef":
        base = generator.random(60)[:, None] + generator.normal(0, 0.05, (60, 14))
        pairs[task] = base[:, :2] + control, base[:, 2:] + treatment + 0.05
    planned = rt.power(rt.compare(pairs), effect=0.02)
    parts, present = planned.record.components, planned.record.present
    of_seeds = [(of.seed, of.seed_by_collection, of.seed_by_query) for of in parts.seed_variances]
    seed, by_collection, by_query = np.array(of_seeds).T @ [1 / 2, 1 / 12]
    of_queries = (parts.query + by_query) / 60
    assert present.task.variance == pytest.approx(of_queries + seed + by_collection)
    over_collections = (parts.collection + of_queries + by_collection) / 6 + seed
    assert present.over_collections.summary.variance == pytest.approx(over_collections)
    assert "the present design, 6 tasks of 60 samples (harmonic mean), 2 and 12 seeds, detects" in planned.sentence()


def test_a_system_against_itself_in_another_wording_has_one_seed_variance():
    table = pd.DataFrame({"1": [0.1, 0.2], "2": [0.3, 0.4]}, index=["x", "y"])
    systems = Systems("s", "s", ["s"], [], {"text": "image"})
    values = trained_values(systems, {"text": table}, {"image": table + 0.5})
    assert list(values) == ["s"] and np.allclose(values["s"]["text"], 0.5)


def test_tables_page_and_figure(plan, tmp_path, capsys):
    made = plan()
    written, table, page = (
        tmp_path / "plan.json",
        tmp_path / "tables/study-design.tsv",
        tmp_path / "tables/study-design.md",
    )
    drawn = {name: tmp_path / f"figures/study-design-dense.{name}" for name in ("svg", "pdf", "png")}
    call(figure.drawn("study-design"), {"labels": {"tuned": "Tuned"}}, plan=written, **drawn)
    assert "Tuned against bm25" in drawn["svg"].read_text() and all(path.stat().st_size for path in drawn.values())
    call(
        study_designs.write_designs,
        {"labels": {}},
        plans=[written],
        figures=list(drawn.values()),
        table=table,
        page=page,
        tex=page.with_suffix(".tex"),
    )
    tex = page.with_suffix(".tex").read_text()
    lines = [line for line in tex.splitlines() if line.endswith(r" \\")]
    cells = {(row["seeds"], row["queries"]) for row in made["designs"]}
    assert len(lines) == 1 + len(cells) and lines[0].startswith("Seeds & Queries & 1 collection & ")
    assert all(line.count("&") == lines[0].count("&") for line in lines)
    assert tex.count(r"\textbf{") == sum(row["meets_target"] is True for row in made["designs"])
    assert "Cells in bold meet the target" in tex and "Cells in bold meet the target" in page.read_text()
    rows = pd.read_csv(table, sep="\t")
    assert len(rows) == len(made["designs"]) and set(rows["plan"]) == {"dense"}
    best = rows[rows["cheapest"] == "yes"]
    assert len(best) == sum(row is not None for row in made["cheapest"].values())
    assert "../figures/study-design-dense.svg" in page.read_text() and "1 collection" in page.read_text()
    assert capsys.readouterr().out.startswith(
        "dense: With 80% power at the 0.05 level, the present design, 4 collections of "
    )


def test_without_an_effect_of_any_task_the_mistake_is_one_line(plan):
    from ranktrial.common.errors import UserError

    with pytest.raises(UserError, match="tuned against bm25: no task has an effect"):
        plan(tasks={"a": 1})


def test_what_is_assumed_needs_no_file(tmp_path):
    assumed = {"effect": "gain", "query_sd": 0.25, "collection_sd": 0.03, "trained": 1, "seed_sd": 0.01,
               "seed_by_collection_sd": 0.0, "seed_by_query_sd": 0.0, "training_hours": 2}  # fmt: skip
    written = tmp_path / "plan.json"
    call(study_design, ASKED | {"assumed": assumed}, plan=written)
    made = json.loads(written.read_text())
    assert made["components"]["seed_variances"][0]["df"] is None and made["present"] is None
    assert made["designs"][0]["hours"] == 2 and made["designs"][-1]["hours"] == 6
