"""Figure 3 of the Ranger paper, to its printed digits, from the runs and qrels that come with it."""

import csv
from pathlib import Path

import numpy as np
import pytest

from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import read_qrels
from ranktrial.statistics.method import Method
from ranktrial.statistics.observed_tasks import effect_size
from ranktrial.statistics.synthesise import synthesise

SHARED = Path(__file__).parents[3] / "shared"
DATA, PUBLISHED = SHARED / "data" / "ranger-retrieval", SHARED / "published" / "ranger_fig3.tsv"
FILES = {
    "TREC Covid": "trec-covid",
    "TripClick": "tripclick",
    "NFCorpus": "nfcorpus",
    "DBPedia Entity": "dbpedia-entity",
    "Antique": "antique",
    "TREC Podcast": "trec_podcast",
    "TREC Robust 04": "robust04",
}


def ndcg(system: str, task: str) -> np.ndarray:
    """nDCG@10 of the queries of the qrels, from a run of four columns: query, document, rank, score."""
    qrels = read_qrels(DATA / "qrels" / f"{task}_qrels.txt")
    run: dict[str, dict[str, float]] = {}
    with open(DATA / system / f"{task}_top10.txt", encoding="utf-8") as file:
        for query, document, _, score in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            run.setdefault(query, {})[document] = float(score)
    return evaluate(run, qrels, ["nDCG@10"])["nDCG@10"].to_numpy()


@pytest.mark.skipif(not DATA.is_dir(), reason="the Ranger data is not in ../shared/data")
def test_figure_3_to_its_printed_digits():
    with open(PUBLISHED, encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t")]
    effects = {
        task: effect_size(ndcg("colberter_dim1_stopwords", name), ndcg("tasb_dim768_hf", name), "MD", ddof=0)
        for task, name in FILES.items()
    }
    synthesis = synthesise(effects, Method(estimator="DL", interval="normal"))
    ours = {}
    for task, effect in effects.items():
        low, high = effect.effect - 1.96 * effect.se, effect.effect + 1.96 * effect.se
        for name, value in (("effect", effect.effect), ("ci_low", low), ("ci_high", high)):
            ours[task, name] = f"{value:.2f}"
        ours[task, "weight"] = f"{100 * synthesis.weights[task]:.1f}"
        ours |= {(task, "control"): f"{effect.control_mean:.3f}", (task, "treatment"): f"{effect.treatment_mean:.3f}"}
    for name in ("effect", "ci_low", "ci_high"):
        ours["Summary Effect (RE)", name] = f"{getattr(synthesis.meta.summary, name):.2f}"
    published = {(row["task"], row["variant"] or row["measure"]): row["value"] for row in rows if row["measure"] != "J"}
    assert ours == published
