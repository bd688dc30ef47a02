"""Best and worst cases of unjudged documents, against pytrec_eval itself and by hand."""

import math
import random

import numpy as np
import pytest
import pytrec_eval

from scripts.explorer.holes import CASES, cut, holes

QRELS = {"q": {"r": 1, "n": 0, "hidden": -1}}
CONTROL = {"q": {"r": 9.0, "n": 8.0, "u": 7.0, "v": 6.0}}
TREATMENT = {"q": {"u": 9.0, "r": 8.0, "hidden": 7.0, "v": 6.0}}


def test_the_cases_by_hand():
    """RR: the control's first document is relevant; the treatment's first is a hole, then comes the relevant one."""
    found = holes([CONTROL], [TREATMENT], QRELS, "P@4")
    assert found.number.tolist() == [3]  # u, v and hidden
    as_judged = (1 - 1) / 4
    assert as_judged == 0
    assert found.differences["all"][0] == pytest.approx((4 - 3) / 4)
    # u stands 1st and 3rd, hidden 3rd and nowhere: the treatment's; v stands 4th in both: nobody's
    assert found.differences["treatment"][0] == pytest.approx((3 - 2) / 4)
    assert found.differences["control"][0] == 0
    assert holes([CONTROL], [TREATMENT], QRELS, "RR@1").differences["all"].tolist() == [0.0]


def crafted(seed):
    rng = random.Random(seed)
    documents = [f"d{n}" for n in range(30)]
    qrels = {f"q{n}": {one: rng.randrange(4) for one in rng.sample(documents, 6)} for n in range(25)}
    run = lambda: {query: {one: rng.random() for one in rng.sample(documents, 20)} for query in qrels}  # noqa: E731
    return qrels, [run()], [run(), run()]


@pytest.mark.parametrize(
    "measure, theirs", [("nDCG@10", "ndcg_cut_10"), ("AP", "map"), ("P@5", "P_5"), ("R@20", "recall_20")]
)
def test_the_cases_are_those_of_pytrec_eval(measure, theirs):
    qrels, control, treatment = crafted(measure)
    found = holes(control, treatment, qrels, measure)
    first = {"nDCG@10": 10, "AP": 10, "P@5": 5, "R@20": 20}[measure]
    order = lambda run, query: sorted(run[query], key=run[query].get, reverse=True)[:first]  # noqa: E731
    for case in CASES:
        filled = {query: dict(grades) for query, grades in qrels.items()}
        for query in qrels:
            gains = {}
            for sign, runs in ((1, treatment), (-1, control)):
                for run in runs:
                    for rank, one in enumerate(order(run, query), 1):
                        gains[one] = gains.get(one, 0) + sign / math.log2(1 + rank) / len(runs)
            chosen = [one for one, gain in gains.items() if one not in qrels[query]]
            if case != "all":
                chosen = [one for one in chosen if (gains[one] > 0) == (case == "treatment") and gains[one] != 0]
            filled[query] |= dict.fromkeys(chosen, 1)
        scorer = pytrec_eval.RelevanceEvaluator(
            filled, {theirs.replace("_cut_10", "_cut.10").replace("P_5", "P.5").replace("recall_20", "recall.20")}
        )
        value = lambda runs: np.mean([[scorer.evaluate(run)[query][theirs] for query in qrels] for run in runs], axis=0)  # noqa: E731, B023
        np.testing.assert_allclose(found.differences[case], value(treatment) - value(control), atol=1e-9)


def test_a_measure_with_a_cut_off_needs_no_more_of_a_run():
    qrels, control, treatment = crafted(1)
    whole = holes(control, treatment, qrels, "nDCG@10")
    first = holes(*([cut(run, "nDCG@10", qrels) for run in runs] for runs in (control, treatment)), qrels, "nDCG@10")
    for case in CASES:
        np.testing.assert_array_equal(whole.differences[case], first.differences[case])
    assert cut(control[0], "AP", qrels) is control[0]
