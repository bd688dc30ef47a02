"""The tables of results on the pages of studies have the numbers of the tables beside them."""

import re
from pathlib import Path

import pandas as pd
import pytest
from scipy import stats

STUDIES = Path(__file__).parents[2] / "docs/studies"
FAMILIES = ["bm25", "rm3", "splade", "bge", "zero-shot", "tuned", "filtered", "distilled", "late", "reranker",
            "dense-reranker", "fusion", "tuned-fusion"]  # fmt: skip
COLLECTIONS = ["scifact", "nfcorpus", "clef", "long-term-care", "retirement"]
LEARNERS = ["lightgbm", "xgboost", "random-forest"]


def shown(value, sign=""):
    return re.sub(r"^([+-]?)0\.", r"\1.", f"{value:{sign}.3f}")


def interval(low, high):
    return f"[{shown(low)}, {shown(high)}]"


def beside(folder, name):
    return pd.read_csv(STUDIES / folder / f"{name}.tsv", sep="\t")


def rows_below(page, heading):
    """The cells of the table that begins with this row."""
    text = (STUDIES / f"{page}.md").read_text().replace("\\*", "*")
    assert text.count(f"\n{heading}\n") == 1
    table = text.partition(f"\n{heading}\n")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table.split("\n")[1:]]


def test_families():
    means = beside("families", "means").pivot(index="system", columns="task", values="nDCG@10")
    effects = beside("families", "comparisons")
    effects = effects[effects["comparison"].str.startswith("against-bm25-")].set_index("treatment")
    heading = "| system | SciFact | NFCorpus | CLEF-2020 | long-term care | retirement | minus BM25, on these five | over collections like these |"
    rows = rows_below("families", heading)
    assert len(rows) == len(FAMILIES)
    for system, (_, *cells) in zip(FAMILIES, rows, strict=True):
        assert cells[:5] == [shown(means.loc[system, task]) for task in COLLECTIONS]
        if system == "bm25":
            continue
        of = effects.loc[system]
        fixed = f"{shown(of['fixed_mean_effect'])} {interval(of['fixed_mean_ci_low'], of['fixed_mean_ci_high'])}"
        assert cells[5:] == [fixed, interval(of["ci_low"], of["ci_high"])]


def test_depth():
    table = beside("families", "depth")
    rows = rows_below("families", "| nDCG@10 | BM25 | first 10 | first 100 | 100 minus 10 |")
    for (_, *cells), one in zip(rows, table.itertuples(), strict=True):
        assert cells[:3] == [shown(value) for value in (one.bm25, one.ten, one.hundred)]
        assert cells[3].partition(", p")[0] == f"{shown(one.effect)} {interval(one.ci_low, one.ci_high)}"
    assert (
        f"{table['hundred_ms'].min() / 1000:.1f} to {table['hundred_ms'].max() / 1000:.1f} s"
        in (STUDIES / "families.md").read_text()
    )


def test_ensembles():
    means = beside("learning-to-rank", "means").pivot(index="system", columns="task", values="nDCG@10")
    effects = beside("learning-to-rank", "comparisons").set_index("comparison")
    tasks = ["clef", "politifact", "scifact", "nfcorpus", "long-term-care", "retirement"]
    rows = rows_below("touche", "| task | LightGBM | XGBoost | random forest |")
    assert len(rows) == len(tasks) + 2
    for task, (label, *_) in zip(tasks, rows, strict=False):
        assert f"{shown(means.loc['bm25', task])})" in label
    for column, learner in enumerate(LEARNERS, 1):
        gains = means.loc[f"ensemble-{learner}", tasks] - means.loc["bm25", tasks]
        assert [row[column].split()[0] for row in rows[:6]] == [shown(gain, "+") for gain in gains]
        half = stats.t.ppf(0.975, len(gains) - 1) * gains.sem()
        mean = f"{shown(gains.mean(), '+')} {interval(gains.mean() - half, gains.mean() + half)}"
        assert rows[6][column] == f"**{mean}**"
        of = effects.loc[f"against-bm25-ensemble-{learner}"]
        assert rows[7][column] == f"{shown(of['prediction_low'])} to {shown(of['prediction_high'])}"


TRANSFER = {
    "transfer": "| trained on | long-term care | retirement | annuities | PolitiFact |",
    "matrix": "| trained on | CLEF-2020 | PolitiFact | NFCorpus | SciFact |",
}


@pytest.mark.parametrize("name", TRANSFER)
def test_transfer(name):
    table = beside("transfer", name).fillna({"mark": ""})
    targets = list(table["target"].drop_duplicates())

    def cells(rows):
        return [f"{shown(row.mean)}{row.mark}" for row in rows.set_index("target").loc[targets].itertuples(name="Row")]

    found = {label: row for label, *row in rows_below("transfer", TRANSFER[name])}
    sources = table[table["kind"] == "source"]
    expected = [cells(sources[sources["source"] == target]) for target in targets]
    kinds = [(kind, shot) for kind, shot in (("baseline", "zero"), ("pseudo-labels", "zero"), ("pseudo-labels", "full"))
             if ((table["kind"] == kind) & (table["shot"] == shot)).any()]  # fmt: skip
    expected += [cells(table[(table["kind"] == kind) & (table["shot"] == shot)]) for kind, shot in kinds]
    published = "(nothing: the published weights)"
    assert [row for label, row in found.items() if label != published] == expected
    if name == "transfer":
        curves = beside("transfer", "curves-few-shot")
        zero = curves[(curves["start"] == "scratch") & (curves["queries"] == "0")].set_index("target")["mean"]
        assert found[published] == [shown(zero[target]) for target in targets]


def test_cross_encoders_with_a_new_head():
    names = {"clef": "CLEF-2020", "politifact": "PolitiFact", "insurance": "InsuranceQA", "nfcorpus": "NFCorpus",
             "scifact": "SciFact", "bm25": "BM25"}  # fmt: skip
    targets = list(names)[:5]
    adapted = beside("transfer", "cross-adapted").rename(columns={"task": "target", "treatment_mean": "mean"})
    alone = adapted[adapted["comparison"] == "adapted-or-pseudo-labels"].assign(row="elsewhere, then pseudo-labels")
    curves = beside("transfer", "cross-curves")
    curves = curves[curves["queries"] > 0]
    queries = curves["queries"].astype(str) + " queries"
    curves["row"] = queries.where(curves["start"] == "scratch", "pseudo-labels, then " + queries)
    matrix = beside("transfer", "cross")
    matrix["row"] = matrix["source"].str.removesuffix(" (600 queries)").replace(names)
    rows = pd.concat([matrix, alone, curves]).fillna({"mark": ""}).set_index(["row", "target"])
    heading = f"| a new head, trained on | {' | '.join(names[target] for target in targets)} |"
    found = {row: cells for row, *cells in rows_below("transfer", heading)}
    shown_mean = (rows["mean"].map(shown) + rows["mark"]).unstack("target")[targets].fillna("")
    assert found == dict(zip(shown_mean.index, shown_mean.to_numpy().tolist(), strict=True))
    text = " ".join((STUDIES / "transfer.md").read_text().split())
    for target in targets:
        one = rows.loc[("600 queries", target)]
        gain = f"{shown(one['baseline_difference'], '+')} {interval(one['baseline_ci_low'], one['baseline_ci_high'])}"
        assert (f"{names[target]} ({gain})" in text) == (one["baseline_difference"] > 0)
    gained = adapted[adapted["comparison"] == "adapted"].set_index("target")["effect"]
    assert f"add {shown(gained.drop('nfcorpus').min())} to {shown(gained.max())}, and nothing on NFCorpus" in text
    assert abs(gained["nfcorpus"]) < 0.0005
    assert f"{shown(alone['effect'].min())} to {shown(alone['effect'].max())} of pseudo-labels alone" in text
    transfers = matrix[matrix["kind"] == "source"]
    lower = (transfers["baseline_difference"] < 0) & (transfers["baseline_p_value"] < 0.01)
    assert len(transfers) == 20 and lower.all() and "All 20 transfers are below BM25 (p < .01)" in text
