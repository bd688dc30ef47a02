"""The parts of the page's data hold what the stages wrote, and no more than the budget allows."""

import json
import re

import pytest

from ranktrial.explorer import rankings as packed
from ranktrial.ir.collection import Document, read_corpus
from ranktrial.ir.trec import ranking, read_qrels, read_run
from tests.explorer.crafted_experiment import EVIL, MEASURE, SEEDS, settings, unpacked, write_explorer


@pytest.fixture
def data(explored):
    return explored / "explorer" / "data"


def parts(folder, kind):
    files = sorted(folder.glob(f"{kind}-*.js"), key=lambda path: int(re.search(r"\d+", path.stem)[0]))
    return [record for file in files for record in unpacked(file)]


def test_rankings_grades_and_ranks_are_those_of_runs_and_judgements(explored, data):
    table, documents, rankings = (
        unpacked(data / "storms/queries.js"),
        parts(data / "storms", "documents"),
        parts(data / "storms", "rankings"),
    )
    qrels = read_qrels(explored / "results/e/data/storms/qrels/test.qrels")
    assert table["ids"] == list(qrels) and len(rankings) == len(qrels)
    for system, seeds in SEEDS.items():
        for seed in seeds:
            run = read_run(explored / f"results/e/runs/storms/{system}/seed-{seed}.trec.gz")
            for query, record in zip(table["ids"], rankings, strict=True):
                places, scores, ranks = record["runs"][f"{system} {seed}"]
                order = ranking(run[query])
                shown = [documents[record["documents"][place]][0] for place in places]
                assert shown == order[:20]
                assert scores == [float(f"{run[query][one]:.5g}") for one in shown]
                assert [record["grades"][place] for place in places] == [qrels[query].get(one) for one in shown]
                relevant = [documents[number][0] for number in record["documents"][: record["relevant"]]]
                assert {one: qrels[query][one] for one in relevant} == {
                    one: grade for one, grade in qrels[query].items() if grade > 0
                }
                assert ranks == [order.index(one) + 1 if one in order else 0 for one in relevant]


def test_texts_stand_there_once(explored, data):
    of_corpus = {one.id: one for one in read_corpus(explored / "results/e/data/storms/corpus.jsonl")}
    documents = parts(data / "storms", "documents")
    assert len({one[0] for one in documents}) == len(documents)
    for id_, *rest in documents:
        assert rest == ([of_corpus[id_].title, of_corpus[id_].text] if id_ in of_corpus else [])


def test_no_text_can_end_a_script(data):
    for file in data.rglob("*.js"):
        assert re.fullmatch(r'explorer\.receive\("[A-Za-z0-9+/=]+"\);\n', file.read_text("ascii"))
    assert ["d0", EVIL, EVIL] in parts(data / "storms", "documents")


def test_half_a_character_is_replaced(tmp_path):
    packed.write(tmp_path, "a/b", ["\ud83d"])
    assert unpacked(tmp_path / "a/b.js") == ["?"]


def test_without_texts_there_is_not_one(explored):
    for file in (explored / "explorer-ids/data").rglob("*.js"):
        held = json.dumps(unpacked(file))
        assert "roof" not in held and "Title" not in held


def test_the_page_stays_within_its_megabytes(explored, tmp_path, monkeypatch):
    monkeypatch.chdir(explored)
    write_explorer(tmp_path / "small", settings(megabytes=1))
    assert sum(file.stat().st_size for file in (tmp_path / "small/data").rglob("*")) < 1e6


def test_only_the_wanted_texts_are_kept_and_cut():
    documents = [Document("a", "T", "x" * 50), Document("b", "", "y"), Document("a", "", "again")]
    assert packed.beginnings(documents, {"a"}, 10) == {"a": packed.Shown("T", "x" * 10, 50)}


def test_where_values_are_given_there_are_queries_and_no_rankings(explored):
    overview, table = (
        unpacked(explored / "explorer-values/data" / name) for name in ("experiment.js", "given/queries.js")
    )
    summary = overview["comparisons"][0]["tasks"]["given"]
    assert overview["tasks"]["given"]["left_out"] == ["The values are external, so there are no rankings to show."]
    found = [b - a for a, b in zip(*(table["values"][MEASURE][name] for name in ("bm25", "tuned")), strict=True)]
    assert summary["wins"] == sum(one < -1e-12 for one in found) and summary["n"] == 30 and table["holes"] == {}
