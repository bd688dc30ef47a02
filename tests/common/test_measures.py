"""Measures against trec_eval's own binary (the one that Anserini's jar carries), on the awkward cases."""

import platform
import random
import subprocess
import zipfile
from importlib import resources
from pathlib import Path

import pytest

from scripts.common.errors import UserError
from scripts.common.measures import evaluate, parse
from scripts.common.trec import ranking, write_qrels, write_run

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

    def call(qrels, run, folder):
        write_qrels(folder / "qrels", qrels)
        with open(folder / "run", "w") as file:
            for query, documents in run.items():
                file.writelines(f"{query} Q0 {d} 1 {score!r} t\n" for d, score in documents.items())
        wanted = ["ndcg_cut.10", "map_cut.5", "map", "recip_rank", "P.1,5", "recall.5,100", "ndcg"]
        options = [option for name in wanted for option in ("-m", name)]
        command = [binary, "-c", "-q", *options, folder / "qrels", folder / "run"]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        rows = [line.split("\t") for line in out.splitlines()]
        return {(q, name.strip()): float(value) for name, q, value in rows if name.strip() in NAMES.values()}

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
    assert [line.split()[2:4] for line in (tmp_path / "r").read_text().splitlines()] == [["c", "1"], ["b", "2"], ["a", "3"]]


@pytest.mark.parametrize("name", ["nDGC@10", "nDCG@ten", "", "P@"])
def test_unknown_measures_are_refused_by_name(name):
    with pytest.raises(UserError, match="unknown measure"):
        parse(name)
