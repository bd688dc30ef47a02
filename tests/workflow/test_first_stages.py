"""First stages as a user gets them: BM25 and query likelihood with feedback, tuned, on documents in German."""

import json
import random

import pytest

from ranktrial.ir.trec import read_run
from tests.support.beir import write_beir
from tests.workflow.conftest import REPOSITORY, copy

pytestmark = pytest.mark.long

SYSTEMS = {
    "bm25": {"type": "bm25", "tune": True, "grid": {"k1": [0.9, 1.5], "b": [0.4]}},
    "english": {"type": "bm25", "analyzer": "english"},
    "likelihood": {"type": "query-likelihood", "tune": True, "grid": {"mu": [10, 100]}},
    "rm3": {"type": "bm25", "tune": True, "feedback": "rm3", "feedback_terms": 5,
            "grid": {"k1": [0.9, 1.5], "b": [0.4], "feedback_documents": [2, 5], "original_query_weight": [0.5]}},
    "further": {"type": "bm25", "texts": "appended", "tune": True, "grid": {"k1": [0.9, 1.5], "b": [0.4]}},
    "rocchio": {"type": "query-likelihood", "mu": 10, "feedback": "rocchio", "gamma": 0.1},
}  # fmt: skip
CONFIG = {
    "experiment": "f",
    "measures": ["nDCG@10"],
    "depth": 30,
    "datasets": {
        "haus": {"format": "beir", "location": "haus", "language": "de", "texts": {"append": "further.jsonl"}}
    },
    "tasks": ["haus"],
    "systems": SYSTEMS,
    "comparisons": {},
}
FOLDER = "results/f/bm25/haus"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    made = copy(REPOSITORY, tmp_path_factory.mktemp("first-stages") / "ranktrial")
    chance = random.Random(5)
    words = [[f"thema{chr(97 + topic)}{chr(97 + n)}" for n in range(8)] for topic in range(15)]
    texts = [" ".join(["Häuser" if n == 0 else "und", *chance.choices(words[n % 15], k=8)]) for n in range(90)]
    asked = {f"q{topic}": " ".join(words[topic][:2]) for topic in range(14)} | {"q14": "haus"}
    dev, test = ([f"q{topic}\td{n}\t1" for topic in topics for n in range(topic, 90, 15)]
                 for topics in (range(7), range(7, 14)))  # fmt: skip
    documents = {f"d{n}": text for n, text in enumerate(texts)}
    write_beir(made.folder / "haus", documents, asked, {"dev": dev, "test": [*test, "q14\td0\t1"]})
    (made.folder / "further.jsonl").write_text('{"id": "d1", "predicted_queries": ["wo steht ein haus"]}\n')
    made.write_config(CONFIG)
    made.run("--cores", "2", *(f"results/f/runs/haus/{name}/seed-0.trec.gz" for name in SYSTEMS))
    return made


def test_each_system_searches_an_index_of_its_language(finished):
    indices = sorted(path.name for path in (finished.folder / FOLDER).glob("index*"))
    assert indices == ["index", "index-de-together", "index-de-together-appended", "index-de-together-vectors"]
    runs = {name: read_run(finished.folder / f"results/f/runs/haus/{name}/seed-0.trec.gz") for name in SYSTEMS}
    assert "q14" not in runs["english"]
    assert all("d0" in runs[name]["q14"] for name in SYSTEMS if name != "english")
    assert all(len(runs["rm3"][query]) >= len(runs["bm25"][query]) for query in runs["bm25"])


def test_tables_and_choices_lie_beside_the_index(finished):
    tables = {
        path.name.split(".")[0]: path.read_text().splitlines() for path in (finished.folder / FOLDER).glob("*.tsv")
    }
    assert {name: (lines[0].split("\t"), len(lines) - 1) for name, lines in tables.items()} == {
        "bm25": (["k1", "b", "nDCG@10"], 2),
        "further": (["k1", "b", "nDCG@10"], 2),
        "likelihood": (["mu", "nDCG@10"], 2),
        "rm3": (["k1", "b", "feedback_documents", "feedback_terms", "original_query_weight", "nDCG@10"], 4),
    }
    chosen = json.loads((finished.folder / FOLDER / "rm3.parameters.json").read_text())
    timing = json.loads((finished.folder / "results/f/runs/haus/rm3/seed-0.timing.json").read_text())
    assert timing["feedback"] == chosen["feedback"] and timing["k1"] == chosen["k1"]
    assert set(chosen["feedback"]["rm3"]) == {"feedback_documents", "feedback_terms", "original_query_weight"}


def test_further_texts_are_found_by_the_system_that_indexes_them_and_indexed_again_where_they_change(finished):
    found = {name: set(read_run(finished.folder / f"results/f/runs/haus/{name}/seed-0.trec.gz")["q14"])
             for name in ("bm25", "further")}  # fmt: skip
    assert "d1" in found["further"] - found["bm25"] and found["bm25"] <= found["further"]
    (finished.folder / "further.jsonl").write_text('{"id": "d2", "text": "wo steht ein haus"}\n')
    runs = [f"results/f/runs/haus/{name}/seed-0.trec.gz" for name in SYSTEMS]
    assert finished.planned("tiny.yaml", *runs) == {
        "append_texts haus", "index haus-de-together-appended", "tune haus further", "search haus further",
    }  # fmt: skip


def test_another_system_with_feedback_indexes_nothing_anew(finished):
    config = json.loads(json.dumps(CONFIG))
    config["systems"]["more"] = {"type": "bm25", "feedback": "rm3"}
    finished.write_config(config, "more.yaml")
    run = "results/f/runs/haus/more/seed-0.trec.gz"
    assert finished.planned("more.yaml", run) == {"search haus more"}
