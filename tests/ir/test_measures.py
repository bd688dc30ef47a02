"""Measures against trec_eval's own binary (the one that Anserini's jar carries), on the awkward cases."""

import math
import platform
import random
import shutil
import subprocess
import zipfile
from importlib import resources
from pathlib import Path

import ir_measures
import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.measures import check_computable, evaluate, parse
from ranktrial.ir.trec import ranking, write_qrels, write_run
from tests.support.one_line import refused

NAMES = {"nDCG@10": "ndcg_cut_10", "AP@5": "map_cut_5", "AP": "map", "RR": "recip_rank", "P@1": "P_1",
         "P@5": "P_5", "R@5": "recall_5", "R@100": "recall_100", "nDCG": "ndcg"}  # fmt: skip


@pytest.fixture(scope="session")
def trec_eval(tmp_path_factory):
    """Run trec_eval -c -q and give its per-query values and the means."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        pytest.skip("the jar's trec_eval for this platform is not tried")
    jar = next(Path(str(resources.files("pyserini.resources.jars"))).glob("anserini-*-fatjar.jar"))
    binary = tmp_path_factory.mktemp("trec_eval") / "trec_eval"
    binary.write_bytes(zipfile.ZipFile(jar).read("trec_eval/trec_eval-linux-amd64"))
    binary.chmod(0o755)

    def call(qrels, run, folder, *given):
        write_qrels(folder / "qrels", qrels)
        with open(folder / "run", "w") as file:
            for query, documents in run.items():
                file.writelines(f"{query} Q0 {d} 1 {score!r} t\n" for d, score in documents.items())
        wanted = ["ndcg_cut.10", "map_cut.5", "map", "recip_rank", "P.1,5", "recall.5,100", "ndcg", "num_ret"]
        options = [option for name in wanted for option in ("-m", name)]
        command = [binary, "-c", "-q", *given, *options, folder / "qrels", folder / "run"]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        rows = [line.split("\t") for line in out.splitlines()]
        return {(q, name.strip()): float(value) for name, q, value in rows}

    return call


def random_case(seed):
    """Graded and negative grades, ties, unjudged documents, a query without relevant documents, one not in the run,
    one not in the qrels."""
    rng = random.Random(seed)
    documents = [f"d{i}" for i in range(60)]
    qrels = {f"q{q}": {d: rng.choice([-1, 0, 0, 1, 2, 3]) for d in rng.sample(documents, 20)} for q in range(8)}
    qrels["barren"] = dict.fromkeys(documents[:5], 0)
    qrels["missing"] = {"d1": 2}
    run = {q: {d: round(rng.random(), 1) for d in rng.sample(documents, 40)} for q in qrels if q != "missing"}
    run["extra"] = {"d1": 1.0}
    return qrels, run


@pytest.mark.parametrize("seed", range(5))
def test_every_query_scores_as_in_trec_eval(trec_eval, tmp_path, seed):
    qrels, run = random_case(seed)
    expected = trec_eval(qrels, run, tmp_path)
    ours = evaluate(run, qrels, list(NAMES))
    assert list(ours.index) == list(qrels)
    for name, theirs in NAMES.items():
        for query in qrels:
            # trec_eval prints four decimals and, with -c, averages over queries that it does not list
            assert ours.loc[query, name] == pytest.approx(expected.get((query, theirs), 0.0), abs=5.001e-5), (
                query,
                name,
            )
        assert ours[name].mean() == pytest.approx(expected["all", theirs], abs=5.001e-5)


@pytest.mark.parametrize("seed", range(3))
def test_judged_and_judged_only_mean_the_same_documents_as_trec_eval_j(trec_eval, tmp_path, seed):
    """Those with a grade of 0 or more: -1 and -2, which random_case has, stand for documents that nobody judged."""
    qrels, run = random_case(seed)
    qrels = {query: judged | {"d1": -2} for query, judged in qrels.items()}
    cut = {query: {d: run[query][d] for d in ranking(run[query])[:7]} for query in qrels if query in run}
    kept = trec_eval(qrels, cut, tmp_path, "-J")
    ours = evaluate(run, qrels, ["Judged@7", "P(judged_only=True)@5"])
    only = trec_eval(qrels, run, tmp_path, "-J")
    lower = 0
    for query in cut:
        assert ours.loc[query, "Judged@7"] == kept.get((query, "num_ret"), 0.0) / 7, query
        assert ours.loc[query, "P(judged_only=True)@5"] == pytest.approx(only.get((query, "P_5"), 0.0), abs=5.001e-5)
        lower += any(qrels[query].get(document, 0) < 0 for document in cut[query])
    assert lower  # a grade below 0 is among the documents that count


@pytest.mark.parametrize("name", ["RR", "nDCG@10", "AP", "AP@5", "R@5"])
def test_condensed_lists_are_those_of_trec_eval_j(trec_eval, tmp_path, name):
    qrels, run = random_case(4)
    head, at, depth = name.partition("@")
    expected = trec_eval(qrels, run, tmp_path, "-J")
    ours = evaluate(run, qrels, [f"{head}(judged_only=True){at}{depth}", name])
    for query in qrels.keys() - {"missing"}:
        assert ours.iloc[:, 0][query] == pytest.approx(expected[query, NAMES[name]], abs=5.001e-5)
    assert not ours.iloc[:, 0].equals(ours.iloc[:, 1])


@pytest.mark.parametrize("name", ["ERR({})@5", "RBP(rel=1,{})", "nDCG(dcg='exp-log2',{})@5", "Success({})@2"])
def test_a_condensed_list_is_a_run_without_unjudged_documents(name):
    qrels, run = random_case(5)
    left = {query: {one: score for one, score in run[query].items() if qrels.get(query, {}).get(one, -1) >= 0}
            for query in run}  # fmt: skip
    plain = name.format("").replace(",)", ")").replace("()", "")
    ours, theirs = evaluate(run, qrels, [name.format("judged_only=True")]), evaluate(left, qrels, [plain])
    assert ours.iloc[:, 0].tolist() == theirs.iloc[:, 0].tolist() != evaluate(run, qrels, [plain]).iloc[:, 0].tolist()


def test_scores_equal_as_32_bit_floats_are_ties_by_descending_document_id(trec_eval, tmp_path):
    run = {"q": {"a": 0.30000001, "b": 0.3, "c": 0.2}}
    assert ranking(run["q"]) == ["b", "a", "c"]
    qrels = {"q": {"a": 1}}
    assert evaluate(run, qrels, ["RR"]).loc["q", "RR"] == trec_eval(qrels, run, tmp_path)["q", "recip_rank"] == 0.5


def test_cut_off_reciprocal_rank_and_judged_share_the_same_order_of_ties():
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
    scored = evaluate(run, {"q": {"a": 1, "x": 0}}, ["RR@2", "RR@3", "Judged@2", "Judged@3"]).loc["q"]
    assert scored.tolist() == [0.0, pytest.approx(1 / 3), 0.0, pytest.approx(1 / 3)]  # the order is c, b, a


def test_a_written_run_keeps_trec_evals_order(tmp_path):
    write_run(tmp_path / "r", {"q": {"a": 1.0, "b": 1.0, "c": 2.0}}, "t")
    assert [line.split()[2:4] for line in (tmp_path / "r").read_text().splitlines()] == [
        ["c", "1"],
        ["b", "2"],
        ["a", "3"],
    ]


# Grades by rank: 3, 0, 1, unjudged, 2; the query id is no number, and one judged document is not found.
BY_HAND = {"q": {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0}}
GRADES = {"q": {"a": 3, "b": 0, "c": 1, "e": 2, "f": 1}}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # R = (2^g - 1) / 16: 7/16, 0, 1/16, 0, 3/16
        ("ERR@1", 7 / 16),
        ("ERR@3", 7 / 16 + 9 / 16 * (1 / 16) / 3),
        ("ERR", 7 / 16 + 9 / 16 * (1 / 16) / 3 + 9 / 16 * 15 / 16 * (3 / 16) / 5),
        ("RBP(rel=1)", 0.2 * (1 + 0.8**2 + 0.8**4)),
        ("RBP(rel=2,p=0.5)", 0.5 * (1 + 0.5**4)),
        ("RBP(rel=1,p=0.5)@3", 0.5 * (1 + 0.5**2)),
        ("RBP(rel=0,p=0.5)", 0.5 * (1 + 0.5 + 0.25 + 0.5**4)),  # the unjudged document is not relevant
        # gains 7, 0, 1, 0, 3; ideal 7, 3, 1, 1
        ("nDCG(dcg='exp-log2')@5", (7 + 1 / 2 + 3 / math.log2(6)) / (7 + 3 / math.log2(3) + 1 / 2 + 1 / math.log2(5))),
        ("nDCG(dcg='exp-log2')@1", 1.0),
    ],
)
def test_measures_without_a_working_provider_by_hand(name, expected):
    assert evaluate(BY_HAND, GRADES, [name]).loc["q", name] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("name", ["ERR@5", "ERR@20", "nDCG(dcg='exp-log2')@10"])
def test_err_and_exponential_ndcg_are_those_of_gdeval_where_that_runs(name):
    """gdeval, which ir-measures runs, takes query ids that are numbers and prints five decimals."""
    if shutil.which("perl") is None:
        pytest.skip("gdeval needs perl")
    rng = random.Random(5)
    documents = [f"d{i}" for i in range(40)]
    qrels = {str(q): {d: rng.choice([0, 0, 1, 2, 3, 4]) for d in rng.sample(documents, 15)} for q in range(1, 9)}
    run = {q: {d: rng.random() for d in documents} for q in qrels}
    theirs = {one.query_id: one.value for one in ir_measures.gdeval.iter_calc([parse(name)], qrels, run)}
    assert evaluate(run, qrels, [name])[name].to_dict() == pytest.approx(theirs, abs=6e-6)


def test_rbp_is_that_of_cwl_eval():
    qrels, run = random_case(3)
    name = "RBP(rel=1,p=0.8)"
    strict = {q: {d: -float(rank) for rank, d in enumerate(ranking(documents))} for q, documents in run.items()}
    theirs = {one.query_id: one.value for one in ir_measures.cwl_eval.iter_calc([parse(name)], qrels, strict)}
    ours = evaluate(run, qrels, [name])[name]
    assert ours.to_dict() == pytest.approx({query: theirs.get(query, 0.0) for query in qrels}, rel=1e-12)


def test_negative_grades_are_not_relevant_and_grades_off_the_scale_are_refused():
    run = {"q": {"a": 2.0, "b": 1.0}}
    assert evaluate(run, {"q": {"a": -2, "b": 1}}, ["ERR"]).loc["q", "ERR"] == 1 / 16 / 2
    with pytest.raises(UserError, match="ERR is defined for grades up to 4; the qrels hold 5"):
        evaluate(run, {"q": {"a": 5}}, ["ERR"])


@pytest.mark.parametrize(
    "name",
    ["ERR@10", "RBP(rel=1)", "BPM(max_rel=3)@10", "INST(max_rel=3)", "SDCG(max_rel=3)@10", "infAP", "Compat", "Bpref",
     "IPrec@0.1", "Success@5", "Rprec", "Accuracy", "SetF", "P(judged_only=True)@5", "nDCG(gains={0:0,1:1,2:3})@5"],
)  # fmt: skip
def test_measures_that_can_be_computed(name):
    check_computable(name)
    assert evaluate({}, {"q": {"a": 1}}, [name]).loc["q", name] == 0  # a run without a query of the qrels


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("RBP", "'RBP' cannot be computed: state the lowest grade of a relevant document, such as RBP(rel=1)"),
        ("P", "'P' cannot be computed: a parameter is missing or wrong"),
        ("alpha_nDCG@30", "cannot be computed: cutoff is 30; expected a whole number from 1 to 20"),
        ("StRecall", "cannot be computed: a parameter is missing or wrong: it needs cutoff"),
        ("infAP(judged_only=True)", "judged_only is not one of infAP's (rel)"),
        ("colour", "unknown measure 'colour'"),
    ],
)
def test_a_measure_that_cannot_be_computed_is_said_in_one_line(name, said):
    with refused(said):
        check_computable(name)
