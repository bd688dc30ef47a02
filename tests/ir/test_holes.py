"""Best and worst cases of unjudged documents, against pytrec_eval itself and by hand."""

import math
import random
from itertools import combinations

import ir_measures
import numpy as np
import pytest
import pytrec_eval

from ranktrial.common.errors import UserError
from ranktrial.ir.holes import CASES, cut, extremes, has_holes, holes, values
from ranktrial.ir.measure_names import by_subtopic, follows_instructions
from ranktrial.ir.measures import evaluate

QRELS = {"q": {"r": 1, "n": 0, "hidden": -1}}
CONTROL = {"q": {"r": 9.0, "n": 8.0, "u": 7.0, "v": 6.0}}
TREATMENT = {"q": {"u": 9.0, "r": 8.0, "hidden": 7.0, "v": 6.0}}


def test_the_cases_by_hand():
    """RR: the control's first document is relevant; the treatment's first is a hole, then comes the relevant one."""
    found = holes([CONTROL], [TREATMENT], QRELS, "P@4")
    assert found.number.tolist() == [3] and found.documents.tolist() == [5]  # u, v and hidden; r and n as well
    as_judged = (1 - 1) / 4
    assert as_judged == 0
    assert found.cases["all"].difference[0] == pytest.approx((4 - 3) / 4)
    # u stands 1st and 3rd, hidden 3rd and nowhere: the treatment's; v stands 4th in both: nobody's
    assert found.cases["treatment"].difference[0] == pytest.approx((3 - 2) / 4)
    assert found.cases["control"].difference[0] == 0
    assert holes([CONTROL], [TREATMENT], QRELS, "RR@1").cases["all"].difference.tolist() == [0.0]


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
    first = {"nDCG@10": 10, "AP": None, "P@5": 5, "R@20": 20}[measure]
    highest = max(grade for grades in qrels.values() for grade in grades.values())
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
            filled[query] |= dict.fromkeys(chosen, highest)
        scorer = pytrec_eval.RelevanceEvaluator(
            filled, {theirs.replace("_cut_10", "_cut.10").replace("P_5", "P.5").replace("recall_20", "recall.20")}
        )
        value = lambda runs: np.mean([[scorer.evaluate(run)[query][theirs] for query in qrels] for run in runs], axis=0)  # noqa: E731, B023
        np.testing.assert_allclose(found.cases[case].difference, value(treatment) - value(control), atol=1e-9)


def test_a_measure_with_a_cut_off_needs_no_more_of_a_run():
    qrels, control, treatment = crafted(1)
    whole = holes(control, treatment, qrels, "nDCG@10")
    first = holes(*([cut(run, "nDCG@10", qrels) for run in runs] for runs in (control, treatment)), qrels, "nDCG@10")
    for case in CASES:
        np.testing.assert_array_equal(whole.cases[case].difference, first.cases[case].difference)
    assert cut(control[0], "AP", qrels) is control[0]


def test_the_residual_of_rank_biased_precision_holds_what_follows_the_run():
    """Moffat and Zobel (2008): a ranking of d documents has a residual of (1 - p) times p^(r - 1) of the unjudged at rank
    r, and p^d. Case by case, of rankings of four and of five documents.
    """
    longer = {"q": TREATMENT["q"] | {"r2": 5.0}}
    found = holes([CONTROL], [longer], {"q": QRELS["q"] | {"r2": 1}}, "RBP(rel=1,p=0.5)")
    weights = [0.5 * 0.5**rank for rank in range(5)]
    lower = {"control": weights[0], "treatment": weights[1] + weights[4]}
    upper = {"control": 1 - weights[1], "treatment": 1.0}  # n, judged and not relevant, stands 2nd in the control
    assert found.cases["all"].control[0, 0] == pytest.approx(upper["control"])
    assert found.cases["all"].treatment[0, 0] == pytest.approx(upper["treatment"])
    best = lower["treatment"] + weights[0] + weights[2] + 0.5**5 - (lower["control"] + weights[2])  # u 1st and 3rd
    assert found.cases["treatment"].difference[0] == pytest.approx(best)
    worst = lower["treatment"] - lower["control"] - 0.5**4  # v stands 4th in both: nobody's
    assert found.cases["control"].difference[0] == pytest.approx(worst)


@pytest.mark.parametrize(
    ("measure", "share"),
    [(name, 1.0) for name in ("P@5", "RBP(rel=1,p=0.8)@5", "nDCG@5", "RR@5", "Success@3", "RR")]
    + [("R@5", 0.99), ("AP", 0.99), ("Rprec", 0.95)],
)
def test_the_extremes_bound_every_way_to_judge_the_holes(measure, share):
    """With one seed each: exactly, or at least this share of the range of the mean difference."""
    rng = random.Random(7)
    documents = [f"d{n}" for n in range(8)]
    qrels = {f"q{n}": {one: rng.randrange(2) for one in rng.sample(documents, 3)} for n in range(12)}
    qrels |= {f"all{n}": {one: 1 for one in rng.sample(documents, 3)} for n in range(4)}
    run, other = ({query: {one: rng.random() for one in documents} for query in qrels} for _ in range(2))
    low, high = (case.difference for case in extremes([run], [other], qrels, measure))
    tail = 0.8**5 if measure.startswith("RBP") else 0.0
    true = np.zeros((2, len(qrels)))
    for place, (query, grades) in enumerate(qrels.items()):
        free = [one for one in documents if one not in grades]
        ways = [dict.fromkeys(chosen, 1) for size in range(len(free) + 1) for chosen in combinations(free, size)]
        judged = {f"{query}-{way}": grades | chosen for way, chosen in enumerate(ways)}
        of_all = difference([dict.fromkeys(judged, run[query])], [dict.fromkeys(judged, other[query])], judged, measure)
        true[:, place] = of_all.min() - tail, of_all.max() + tail
    assert (low >= true[0] - 1e-9).all() and (high <= true[1] + 1e-9).all(), "these judgements are possible"
    assert (high - low).mean() >= share * (true[1] - true[0]).mean() - 1e-9
    fewer = [holes([run], [other], qrels, measure).cases[case].difference for case in CASES]
    assert (high >= np.max(fewer, axis=0) - 1e-12).all() and (low <= np.min(fewer, axis=0) + 1e-12).all()


def test_fewer_ways_are_tried_where_there_is_much_to_read(monkeypatch):
    qrels, control, treatment = crafted(3)
    whole = extremes(control, treatment, qrels, "nDCG@10")
    monkeypatch.setattr("ranktrial.ir.holes.EFFORT", 0)
    few = extremes(control, treatment, qrels, "nDCG@10")
    assert (whole[0].difference <= few[0].difference + 1e-12).all()
    assert 0 < few[1].difference.mean() <= whole[1].difference.mean() < few[1].difference.mean() + 0.02


def difference(control, treatment, qrels, measure):
    return (values(treatment, qrels, measure) - values(control, qrels, measure))[:, 0]


def computed_measures():
    """Every measure of the library with and without its parameters, as far as it can be computed here."""
    for name in sorted({one.NAME for one in ir_measures.measures.registry.values()}):
        for given in ("", "@5", "(judged_only=True)", "(judged_only=True)@5", "(T=2.0,max_rel=3)", "(rel=1)@5",
                      "(judged_only=True,rel=1)@5", "@0.1", "(judged_only=True)@0.1"):  # fmt: skip
            try:
                if not (by_subtopic(name + given) or follows_instructions(name + given)):
                    evaluate({"q": {"d": 1.0}}, {"q": {"d": 1}}, [name + given])
                    yield name + given
            except UserError:
                continue


def test_a_measure_has_holes_exactly_where_unjudged_documents_count_as_judged_not_relevant():
    """Its values are then the same if they are judged so; those that skip unjudged documents have others. infAP takes
    documents outside the pool as not relevant, but estimates those of the pool that lack a judgement, graded below 0.
    """
    known, (run,), _ = crafted("holes")
    pooled = {query: dict.fromkeys(list(run[query])[:5], -1) for query in run}
    qrels = {query: pooled[query] | grades for query, grades in known.items()}
    filled = {query: dict.fromkeys(run[query], 0) | grades for query, grades in known.items()}
    measures = list(computed_measures())
    counts = {}
    for measure in measures:
        one, two = (evaluate(run, grades, [measure])[measure].to_numpy() for grades in (qrels, filled))
        counts[measure] = np.allclose(one, two, atol=1e-9)
    assert {measure for measure in measures if has_holes(measure)} == {one for one in measures if counts[one]}
    assert {"nDCG@5", "AP", "R@5", "SetF", "RBP(rel=1)@5"} <= {one for one in measures if counts[one]}
    assert {"nDCG(judged_only=True)@5", "Bpref", "infAP", "Judged@5"} <= {one for one in measures if not counts[one]}
