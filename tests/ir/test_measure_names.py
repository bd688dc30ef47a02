"""Measures: other names of one, parameters that no provider may see, and values that are never a default."""

import re
import subprocess
import sys
from pathlib import Path

import ir_measures
import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.measure_names import BY_SUBTOPIC, OF_CWL, OF_JUDGEMENTS, RANGES, canonical, parse, same_measure
from ranktrial.ir.measures import check_computable, evaluate
from tests.support.one_line import refused

ROOT = Path(__file__).parents[2]
RUN = {
    "q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 1.0, "b": 2.0}, "q3": {"a": 2.0, "b": 1.0}, "barren": {"a": 1.0}, "extra": {"a": 1.0},
}  # fmt: skip
QRELS = {
    "q1": {"a": 0, "b": 1, "d": 2},
    "q2": {"a": 1, "b": 0},
    "q3": {"a": 1, "b": 0},
    "barren": {"a": 0},
    "missing": {"a": 1},
}

ALIASES = [
    ("RR@10", "MRR@10"), ("RR", "MRR"), ("AP", "MAP"), ("AP@5", "MAP@5"), ("nDCG@10", "NDCG@10"), ("P@5", "Precision@5"),
    ("R@5", "Recall@5"), ("Rprec", "RPrec"), ("Bpref", "BPref"), ("nDCG@10", "nDCG(cutoff=10)"), ("AP", "AP(rel=1)"),
    ("AP", "AP()"), ("AP@5", "AP(rel=1)@5"), ("SetP(relative=True)", "SetRelP"), ("NumRet(rel=1)", "NumRelRet"),
    ("RBP(rel=1)", "RBP(rel=1, p=0.8)"), ("RBP(p=0.5,rel=1)", "RBP(rel=1,p=0.5)"), ("ERR@5", "ERR(cutoff=5)"),
    ("nDCG@10", "nDCG @ 10"), ("nDCG(gains={0:0,1:1,2:3})@5", "nDCG(gains={2:3})@5"), ("SetF", "SetF(beta=1.0)"),
    ("nDCG@10", "nDCG(dcg='log2')@10"), ("Judged@10", "Judged(cutoff=10)"), ("IPrec@0.1", "IPrec(recall=0.10)"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), ALIASES, ids=[" = ".join(pair) for pair in ALIASES])
def test_two_names_of_one_measure_have_the_same_column(one, other):
    assert parse(one) == parse(other) and same_measure(other, ["P@1", one]) == one
    alone, both, turned = (evaluate(RUN, QRELS, names) for names in ([one], [one, other], [other, "P@1", one]))
    assert list(both.columns) == [one, other]
    assert both[one].tolist() == both[other].tolist() == turned[one].tolist() == alone[one].tolist()
    assert alone[one].any()


def test_measures_that_a_provider_mixes_up_have_their_own_values_beside_each_other():
    names = ["IPrec@0.1", "IPrec@0.11", "nDCG(gains={1:5})@3", "nDCG@3", "SetF(beta=0.5)", "SetF", "P(judged_only=True)@1",
             "NumRet", "AP(rel=2)", "nDCG(dcg='exp-log2')@3"]  # fmt: skip
    together = evaluate(RUN, QRELS, names)
    for name in names:
        assert together[name].tolist() == evaluate(RUN, QRELS, [name])[name].tolist()
    assert together["nDCG(gains={1:5})@3"].tolist() != together["nDCG@3"].tolist()


def test_a_query_that_the_run_lacks_scores_0_and_one_without_relevant_documents_what_trec_eval_gives():
    names = ["nDCG@10", "AP", "RR@10", "P@1", "R@5", "Judged@1", "Accuracy", "Bpref", "Compat"]
    values = evaluate(RUN, QRELS, names)
    assert list(values.index) == list(QRELS) and not values.loc["missing"].any()
    assert values.loc["barren"].to_dict() == dict.fromkeys(names, 0.0) | {"Judged@1": 1.0}


def test_a_value_that_a_provider_does_not_give_is_an_error_and_no_0(monkeypatch):
    import ranktrial.ir.measures as measures

    class Forgetful:
        def iter_calc(self, wanted, qrels, run):
            return [one for one in ir_measures.iter_calc(wanted, qrels, run) if one.query_id != "q2"]

    monkeypatch.setattr(measures, "PROVIDERS", Forgetful())
    with pytest.raises(UserError, match="measure Bpref has no value for query q2"):
        evaluate(RUN, QRELS, ["Bpref"])


@pytest.mark.parametrize("name", ["RR(cutoff=2)", "Accuracy@2", "Accuracy"])
def test_accuracy_and_cut_off_ranks_of_runs_with_relevant_documents_only(name):
    assert evaluate({"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1, "b": 1}}, [name]).loc["q", name] == 1.0


BAD = {
    "cut-off": ["P@0", "nDCG@0", "ERR@0", "Judged@0", "RR@0", "AP(cutoff=0)", "P@-1", "R@-10", "P@2147483648",
                "nDCG@99999999999999999999", "P@1e400", "P@2.5", "P@True", "P@'5'", "P@None", "nDCG@[5]", "P@", "P@10@5",
                "AP(cutoff=5)@10", "BPM(max_rel=1)@1001", "SDCG(max_rel=1)@2000", "Rprec@5", "Bpref@10", "P@1+1"],
    "missing": ["P", "R", "Success", "IPrec", "RBP", "RBP@10", "BPM@10", "INST", "INSQ", "NERR8(max_rel=1)", "SDCG@10"],
    "relevance": ["AP(rel=0)", "AP(rel=-1)", "P(rel=0)@5", "AP(rel=1.0)", "AP(rel=True)", "AP(rel='1')",
                  "AP(rel=1099511627776)", "RBP(rel=-1)", "nDCG(rel=1)@5", "NumRet(rel=0)", "Accuracy(rel=0)",
                  "SetF(rel=0)", "infAP(rel=0)", "Bpref(rel=-2)"],
    "persistence": ["RBP(rel=1,p=2.0)", "RBP(rel=1,p=1.0)", "RBP(rel=1,p=0.0)", "RBP(rel=1,p=-0.5)", "RBP(rel=1,p=2)",
                    "RBP(rel=1,p=1e400)", "Compat(p=1.5)", "Compat(p=0.0)", "NERR10(max_rel=1,p=1.0)"],
    "other parameters": ["IPrec@2.0", "IPrec@0.125", "IPrec@-0.1", "IPrec@1", "SetF(beta=0.0)", "SetF(beta=2)",
                         "SetF(beta=1e400)", "INST(max_rel=0)", "INST(max_rel=1,min_rel=1)", "INST(max_rel=1,T=0.0)",
                         "BPM(max_rel=2,min_rel=-1)@5", "nDCG(gains={})@5", "nDCG(gains={1:-1})@5",
                         "nDCG(gains={1:0.5})@5", "nDCG(gains={'a':1})@5", "nDCG(gains={1:9999999999})@5",
                         "nDCG(gains=3)@5", "nDCG(dcg='log')@5", "P(judged_only=1)@5", "AP(colour=1)", "AP(1)",
                         "AP(rel=1,rel=2)", "AP(**{})", "AP(*[1])", "Compat(normalize=1)",
                         "infAP(judged_only=True)", "Judged(judged_only=True)@10"],
    "not of a run": OF_JUDGEMENTS,
    "by subtopic": ["alpha_nDCG", "alpha_DCG@21", "ERR_IA", "nERR_IA(rel=0)@5", "NRBP(beta=1.5)", "nNRBP(alpha=2.0)",
                    "AP_IA@5", "P_IA", "StRecall@100", "alpha_nDCG(alpha=1.5)@5"],
    "no name": ["", " ", "nDGC@10", "colour", "ndcg@10", "nDCG@10\n", " nDCG@10", "nDCG@10 ", "nDCG@10#x", "nDCG@10;AP",
                "nDCG\t@10", "nDCG@10\0", "\uff4eDCG@10", "nDCG@\u0661\u0660", "import os", "__import__('os')", "(" * 150, "A" * 5000,
                "AP+RR", "AP,RR", "[AP]", "'AP'", "map", "recip_rank", "P_10", "\ud800", "lambda: AP", "x := AP"],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in BAD.items() for name in names])
def test_a_measure_that_makes_no_sense_is_refused_in_one_line(kind, name):
    with pytest.raises(UserError) as error:
        check_computable(name)
    said = str(error.value)
    assert "\n" not in said and len(said) < 6000
    wanted = {"cut-off": "cannot be computed: |unknown measure", "no name": "unknown measure"}.get(
        kind, "cannot be computed: "
    )
    if name not in ("AP(1)", "AP(**{})", "AP(*[1])", "IPrec@-0.1", "RBP(rel=1,p=-0.5)", "AP(rel=-1)", "RBP(rel=-1)",
                    "Bpref(rel=-2)", "BPM(max_rel=2,min_rel=-1)@5", "nDCG(gains={1:-1})@5"):  # fmt: skip
        assert re.search(wanted, said)


def test_every_measure_of_the_library_with_odd_parameters_is_computed_or_refused_and_ends_no_process():
    """In a process of its own, which a failed assertion of trec_eval would end."""
    script = """
import itertools, ir_measures
from ranktrial.common.errors import UserError
from ranktrial.ir.measures import check_computable, evaluate
ends = ["", "@0", "@1", "@3", "@-1", "@None", "@2147483647", "@2147483648", "@0.1", "@1.0", "@2.0"]
given = ["", "(rel=0)", "(rel=2)", "(p=0.5)", "(p=2.0)", "(T=0.0)", "(max_rel=1)", "(max_rel=0)", "(beta=0.5)",
         "(recall=0.5)", "(gains={1:2})", "(judged_only=True)", "(rel=1,p=0.5)", "(max_rel=2,T=0.5)"]
counts = {"computed": 0, "refused": 0}
runs = [{}, {"q": {"x": 1.0, "y": 1.0}}, {"q": {"a": 1.0}}, {"q": {"b": 2.0, "a": 1.0}}]
for name in map("".join, itertools.product(sorted(ir_measures.measures.registry), given, ends)):
    try:
        check_computable(name)
        for run in runs:
            values = evaluate(run, {"q": {"a": 1, "b": 0}, "e": {"z": 0}}, [name])[name]
            assert ((values >= 0) & ((values <= 1) | name.startswith("Num"))).all(), (name, run, values)
        counts["computed"] += 1
    except UserError as error:
        assert "\\n" not in str(error)
        counts["refused"] += 1
print(counts["computed"], counts["refused"])
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    computed, refused = map(int, done.stdout.split())
    assert computed > 150 and refused > 5000


def test_the_tables_of_names_and_parameters_are_those_of_the_library():
    measures = {one.NAME: one for one in ir_measures.measures.registry.values()}
    assert {*BY_SUBTOPIC, *OF_JUDGEMENTS, *OF_CWL} <= measures.keys()
    reported = {name for one in measures.values() for name in one.SUPPORTED_PARAMS}
    assert reported <= RANGES.keys()
    of_pyndeval = {one.NAME for one in ir_measures.pyndeval.SUPPORTED_MEASURES}
    assert set(BY_SUBTOPIC) <= of_pyndeval
    assert {one.NAME for one in ir_measures.cwl_eval.SUPPORTED_MEASURES} == {*OF_CWL, "P", "RR", "AP", "RBP"}


@pytest.mark.parametrize(
    ("name", "grade", "said"),
    [
        ("AP", 2**31, "measures are defined for grades up to 2147483647; the qrels hold 2147483648"),
        ("nDCG@10", 2**40, "the qrels hold 1099511627776"),
        ("RR", -(2**40), "grades below -2147483647; the qrels hold -1099511627776"),
        ("nDCG(dcg='exp-log2')@10", 40, "is defined for grades up to 31; the qrels hold 40"),
        ("ERR@10", 5, "is defined for grades up to 4; the qrels hold 5"),
        ("INST(max_rel=1)", 2, "measure INST(max_rel=1) is defined for grades up to 1; the qrels hold 2"),
    ],
)
def test_grades_that_a_provider_would_take_for_others_are_refused(name, grade, said):
    with refused(said):
        evaluate({"q": {"a": 1.0}}, {"q": {"a": grade}}, [name])


@pytest.mark.parametrize(
    ("name", "ours"),
    [("ndcg_cut_10", "nDCG@10"), ("map", "AP"), ("recip_rank", "RR"), ("P_5", "P@5"), ("recall_1000", "R@1000"),
     ("map_cut_100", "AP@100"), ("success_1", "Success@1"), ("iprec_at_recall_0.10", "IPrec@0.1")],
)  # fmt: skip
def test_trec_evals_names_lead_to_ours(name, ours):
    with pytest.raises(UserError, match=f"unknown measure '{name}' \\(trec_eval's name; did you mean '{ours}'"):
        parse(name)
    assert canonical(name) == str(parse(ours))
