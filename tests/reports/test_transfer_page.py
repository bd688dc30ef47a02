"""The claims on docs/studies/transfer.md: printed numbers from the paper's table 1, ours from the tables beside the page."""

from pathlib import Path

import pandas as pd

CLONE = Path(__file__).parents[2]
PAGE = (CLONE / "docs/studies/transfer.md").read_text()
BESIDE = CLONE / "docs/studies/transfer"
CLAIMS = pd.read_csv(BESIDE / "claims.tsv", sep="\t")
INSURANCE = {"long-term-care", "retirement", "annuities"}
ALPHA = 0.01


def claim(beginning):
    rows = CLAIMS[CLAIMS["the paper"].str.startswith(beginning)]
    assert len(rows) == 1
    return tuple(rows.iloc[0])


def matrix(name):
    """Per pair of the zero-shot part: source, target, gain over BM25 in percent, and the table's own columns."""
    table = pd.read_csv(BESIDE / f"{name}.tsv", sep="\t")
    bm25 = table[table["kind"] == "baseline"].set_index("target")["mean"]
    zero = table[(table["shot"] == "zero") & (table["kind"] != "baseline")]
    return zero.assign(gain=100 * zero["baseline_difference"] / zero["target"].map(bm25))


def printed():
    """The paper's table 1 as numbers: zero-shot and full-shot, a row per target, a column per source."""
    cells = pd.read_csv(CLONE / "config/published/transfer.tsv", sep="\t", comment="#", dtype=str)
    cells = cells[cells["table"] == "Table 1"].assign(value=lambda one: one["printed"].astype(float))
    cells[["target", "shot"]] = cells["column"].str.split(", ", expand=True)
    zero, full = (
        cells[cells["shot"] == shot].pivot(index="target", columns="row", values="value") for shot in ("ZS", "FS")
    )
    bm25 = cells[cells["row"] == "BM25"].set_index("target")["value"]
    return zero, full, bm25


ZERO, FULL, BM25 = printed()
LAPTOP, MATRIX, CROSS = matrix("transfer"), matrix("matrix"), matrix("cross")
CURVES = pd.read_csv(BESIDE / "curves-few-shot.tsv", sep="\t")
AFTER = CURVES[(CURVES["start"] == "pseudo-labels") & CURVES["start_difference"].notna()]
HEADS = pd.read_csv(BESIDE / "cross-curves.tsv", sep="\t")  # of cross-encoders with a new head
HEADS_AFTER = HEADS[(HEADS["start"] != "scratch") & HEADS["start_difference"].notna()]


def transfers(table):
    return table[table["kind"] == "source"]


def pseudo(table):
    return table[table["kind"] == "pseudo-labels"]


def span(values, unit="%"):
    if unit:
        return f"{min(values):.0f} to {max(values):.0f}{unit}"
    return " to ".join(f"{value:.3f}".replace("0.", ".", 1) for value in (min(values), max(values)))


def test_the_page_has_the_rows_of_the_table():
    assert len(CLAIMS) == 9
    for row in CLAIMS.itertuples(index=False, name=None):
        assert f"| {' | '.join(row)} |\n" in PAGE


def test_from_scratch():
    _, here, verdict = claim("From scratch")
    points = CURVES[(CURVES["start"] == "scratch") & (CURVES["size"] > 0)]
    above = points.groupby("target")["baseline_difference"].min() > 0
    heads = HEADS[HEADS["start"] == "scratch"].assign(above=lambda one: one["baseline_difference"] > 0)
    of_heads, targets = heads.groupby("queries")["above"].sum(), heads["target"].nunique()
    assert here == (
        f"{points['size'].min():.0f}, the fewest tried, suffice on {above.sum()} of {len(above)} targets, from a trained "
        f"sentence encoder; a new head: 128 on {of_heads[128]} of {targets}, 600 on {of_heads[600]}"
    )
    assert verdict == "for a new head" and of_heads[32] == 0


def test_pseudo_labels():
    paper, here, verdict = claim("Pseudo-labels exceed")
    assert f"(table 1: {span(100 * (ZERO['pseudo-labelling'] / BM25 - 1))})" in paper
    lower = pseudo(MATRIX)[(pseudo(MATRIX)["gain"] < 0) & (pseudo(MATRIX)["baseline_p_value"] < ALPHA)]
    assert (
        here
        == f"{span(pseudo(LAPTOP)['gain'])}; {span(pseudo(MATRIX)['gain'])}, on SciFact lower with p < .01; {span(pseudo(CROSS)['gain'])}"
    )
    assert list(lower["target"]) == ["scifact"] and verdict == "against"


def test_targets_below_bm25_from_all_sources():
    _, here, verdict = claim("All transfers to one target")
    sources = ZERO.drop(columns="pseudo-labelling")
    assert [name for name, best in sources.max(axis=1).items() if best < BM25[name]] == ["Yahoo! Answers"]
    worst = [transfers(table).groupby("target")["gain"].max() for table in (LAPTOP, MATRIX, CROSS)]
    below = [one[one < 0].index.tolist() for one in worst]
    assert below[:2] == [[], ["nfcorpus", "scifact"]]
    assert here == (
        f"0 of {len(worst[0])} targets; 2 of {len(worst[1])}: NFCorpus and SciFact; {len(below[2])} of {len(worst[2])}"
    )
    significant = transfers(MATRIX)[transfers(MATRIX)["baseline_p_value"] < ALPHA]
    assert set(significant["target"]) == {"scifact"} and len(significant) == 3
    assert (transfers(CROSS)["baseline_p_value"] < ALPHA).all()
    assert verdict == "for SciFact and a new head (p < .01)"


def test_transfer_between_dissimilar_and_similar_collections():
    paper, here, verdict = claim("From Yahoo! to DPR")
    assert (
        f"(table 1: {span(100 * (ZERO.loc[['DPR NQ', 'DPR SQuAD'], 'Yahoo! Answers'] / BM25 - 1).dropna())})" in paper
    )
    pairs = transfers(LAPTOP)
    mixed = pairs[pairs["source"].isin(INSURANCE) != pairs["target"].isin(INSURANCE)]
    assert here == (
        f"between insurance and PolitiFact {span(mixed['gain'])}; between any two {span(transfers(MATRIX)['gain'])}; "
        f"{span(transfers(CROSS)['gain'])}"
    )
    for found in (mixed, transfers(MATRIX), transfers(CROSS)):
        assert not ((found["gain"] > 0) & (found["baseline_p_value"] < ALPHA)).any()
    assert verdict == "for: none significantly above BM25"

    paper, here, verdict = claim("Between the similar collections")
    passages, documents = "MS MARCO pass", "MS MARCO doc"
    gains = [100 * (ZERO.loc[to, of] / BM25[to] - 1) for to, of in ((passages, documents), (documents, passages))]
    assert f"(table 1: {span(gains)})" in paper
    similar = pairs[pairs["source"].isin(INSURANCE) & pairs["target"].isin(INSURANCE)]
    assert here == f"between insurance domains {span(similar['gain'])}" and len(similar) == 6
    assert (similar["baseline_p_value"] < ALPHA).sum() == 2 and verdict.startswith("for two of six pairs")


def test_transfer_or_pseudo_labels():
    paper, here, verdict = claim("Transfer is typically better")
    gains = ZERO.drop(columns="pseudo-labelling").sub(ZERO["pseudo-labelling"], axis=0).stack().dropna()
    assert f"(table 1: in {(gains > 0).sum()} of {len(gains)} pairs, worse in {(gains < 0).sum()})" in paper
    better = [transfers(table)["pseudo-labels_difference"] > 0 for table in (LAPTOP, MATRIX, CROSS)]
    assert here == "; ".join(f"in {one.sum()} of {len(one)}" for one in better) and verdict.startswith("against")


def test_few_judgements_after_pseudo_labels():
    _, here, verdict = claim("100 to 200 judged queries")
    gains = AFTER[AFTER["queries"] == "128"]
    significant = (gains["start_p_value"] < ALPHA).sum()
    heads = HEADS_AFTER[HEADS_AFTER["queries"] == 128]
    of_heads = ((heads["start_p_value"] < ALPHA) & (heads["start_difference"] > 0)).sum()
    assert here == (
        f"128: {span(gains['start_difference'], '')}, with p < .01 on {significant} of {len(gains)} targets; "
        f"{span(heads['start_difference'], '')}, on {of_heads} of {len(heads)}"
    )
    assert verdict == "for three of nine" and (significant + of_heads, len(gains) + len(heads)) == (3, 9)
    _, here, verdict = claim("A few judged queries")
    few = AFTER[AFTER["queries"] != "all"]
    lower = few[few["start_difference"] < 0]
    value = f"{lower['start_difference'].iloc[0]:.3f}".replace("0.", ".", 1)
    heads = HEADS_AFTER[HEADS_AFTER["queries"] < 600]
    worse = heads[heads["start_difference"] < 0]
    (once,) = worse[worse["start_p_value"] < ALPHA].itertuples()
    assert (once.target, once.queries) == ("nfcorpus", 128)
    assert here == (
        f"after pseudo-labels, {len(lower)} of {len(few)} points is lower ({value}); "
        f"{len(worse)} of {len(heads)}, one with p < .01: 128 on NFCorpus ({once.start_difference:.3f})".replace(
            "0.", "."
        )
    )
    assert verdict == "shown once" and lower["start_p_value"].min() > ALPHA


def test_with_all_judgements():
    paper, here, verdict = claim("With all judgements")
    spread = (FULL.max(axis=1) - FULL.min(axis=1)).max()
    assert f"(table 1: at most {spread:.2f})".replace("0.", ".") in paper
    of_all = CURVES[CURVES["queries"] == "all"].pivot(index="target", columns="start", values="mean")
    heads = HEADS[HEADS["queries"] == 600].pivot(index="target", columns="start", values="mean")
    assert here == (
        f"pseudo-labels minus published weights: {span(of_all['pseudo-labels'] - of_all['scratch'], '')}; minus a new "
        f"head, both 600: {span(heads['pseudo-labels (600 queries)'] - heads['scratch'], '')}"
    )
    gains = heads["pseudo-labels (600 queries)"] - heads["scratch"]
    assert verdict == f"for, except on SciFact ({gains.max():.3f})".replace("0.", ".") and gains.idxmax() == "scifact"
