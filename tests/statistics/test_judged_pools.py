"""Prediction-powered effects on the runs of two systems with human judgements (../shared), which a simulated judge grades.

The judge sees the grade of a document of the pool with probability 0.6, and else one at random. A collection is drawn
with replacement from all queries, of which humans judge a sample; the mean over all queries is what intervals hold.
"""

import random
from pathlib import Path

import numpy as np
import pytest

from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import ranking, read_qrels, read_run
from ranktrial.statistics.task_results import interval_of
from tests.simulation.judges import powered_task
from tests.simulation.worlds import METHOD, one_task

DATA = Path(__file__).parents[3] / "shared/data/ranger-retrieval"
SYSTEMS = ("tasb_dim768_hf", "colberter_dim1_stopwords")
HUMANS, QUERIES, COLLECTIONS = 50, 200, 600

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the runs of ../shared/data/ranger-retrieval are not here")


def differences(name):
    """The difference in nDCG@10 of each query, by humans' judgements and by the judge's of the pool."""
    qrels = read_qrels(DATA / f"qrels/{name}_qrels.txt")
    runs = [read_run(DATA / system / f"{name}_top10.txt") for system in SYSTEMS]
    queries = [query for query in qrels if all(query in run for run in runs)]
    rng, grades = (
        random.Random(1),
        sorted({grade for query in queries for grade in qrels[query].values() if grade >= 0}),
    )
    judged = {
        query: {
            document: max(0, qrels[query].get(document, 0)) if rng.random() < 0.6 else rng.choice(grades)
            for document in dict.fromkeys(document for run in runs for document in ranking(run[query])[:10])
        }
        for query in queries
    }
    found = []
    for judgements in ({query: qrels[query] for query in queries}, judged):
        first, second = (evaluate(run, judgements, ["nDCG@10"])["nDCG@10"] for run in runs)
        found.append((second.loc[queries] - first.loc[queries]).to_numpy())
    return found


@pytest.mark.parametrize("name", ["dbpedia-entity", "antique"])
def test_intervals_hold_the_difference_by_humans_on_all_queries(name):
    human, model = differences(name)
    truth = human.mean()
    generator = np.random.default_rng(2)
    held = {"powered": [], "model": [], "narrower": []}
    for _ in range(COLLECTIONS):
        drawn = generator.integers(len(human), size=QUERIES)
        sample, further = drawn[:HUMANS], drawn[HUMANS:]
        powered = powered_task(human[sample], model[sample], model[further])
        widths = []
        for key, task in (("powered", powered), ("model", one_task(model[drawn])), (None, one_task(human[sample]))):
            interval, _ = interval_of(task, METHOD)
            widths.append(interval.ci_high - interval.ci_low)
            if key:
                held[key].append(interval.ci_low <= truth <= interval.ci_high)
        held["narrower"].append(widths[0] / widths[2])
    assert 0.925 <= np.mean(held["powered"]) <= 0.975
    assert np.mean(held["narrower"]) < 1
