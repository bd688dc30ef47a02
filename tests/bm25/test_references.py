"""Anserini's reference scores: which of its files are meant, whether the texts are the same, and ours beside them."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from ranktrial.common.tables import read_texts, write_table
from ranktrial.experiment.resolution import resolve
from ranktrial.reports.published import FAULT, counts
from ranktrial.reports.published import published as section
from ranktrial.reports.writing import html_page
from scripts.bm25 import index as index_script
from scripts.bm25 import planning
from scripts.bm25 import references as script
from scripts.bm25 import search as search_script
from scripts.evaluation.score import write_scores
from scripts.reports.published import Results, Settings, read_all, versus, write_published
from tests.support.calling import call
from tests.support.located import refusal, with_dataset
from tests.support.prepared import prepare

MEASURES = ["nDCG@10", "R@100", "R@1000"]


@pytest.fixture(scope="module")
def jar():
    return script.Jar()


def test_the_jar_holds_scores_and_sizes_of_the_collections_that_are_known(jar):
    """Held for the next Pyserini, whose jar may have others."""
    scifact, nfcorpus = (jar.expected([name], "bm25", "test") for name in ("scifact", "nfcorpus"))
    assert list(scifact.sizes.values()) == [5183, 5183, 838128]
    assert scifact.scores == {"nDCG@10": "0.6789", "R@100": "0.9253", "R@1000": "0.9767"}
    assert list(nfcorpus.sizes.values()) == [3633, 3633, 637485] and nfcorpus.scores["nDCG@10"] == "0.3218"
    assert jar.expected(["miracl-bn"], "bm25", "dev").scores["nDCG@10"] == "0.5079"
    assert jar.expected(["bright-biology"], "bm25", "test").sizes["documents"] == 57359


@pytest.mark.parametrize(
    ("model", "display"),
    [
        ("bge-base-en-v1.5", "BGE-base-en-v1.5"),
        ("splade-v3", "SPLADE-v3"),
        ("splade-cocondenser-ensembledistil", "SPLADE++ (CoCondenser-EnsembleDistil)"),
    ],
)
def test_models_of_the_hub_have_files_of_their_own(jar, model, display):
    assert jar.expected(["other", "scifact"], model, "test").display == display


def test_a_collection_a_split_or_a_model_that_is_not_there_has_nothing(jar):
    for asked in (("mine", "bm25", "test"), ("nfcorpus", "bm25", "dev"), ("scifact", "e5-small", "test")):
        assert jar.expected([asked[0]], *asked[1:]) is None


THEIRS = {"documents": 100, "documents (non-empty)": 99, "total terms": 5000}


@pytest.mark.parametrize(
    ("ours", "same", "said"),
    [
        (THEIRS, True, "the same texts by their sizes: 100 documents, 99 non-empty, 5,000 terms"),
        (THEIRS | {"total terms": 4999}, False, "the texts differ: 4,999 of 5,000 terms"),
        ({"documents": 98}, False, "the texts differ: 98 of 100 documents"),
        ({"documents": 100}, False, "as many documents; terms are not compared, since no BM25 here is set up as An"),
    ],
)
def test_the_texts_are_the_same_where_documents_and_terms_are(ours, same, said):
    found, text = script.compared(ours, THEIRS)
    assert found == same and text.startswith(said)


def test_measures_that_look_at_more_documents_than_a_run_has_are_not_compared():
    assert script.within(["nDCG@10", "R@1000", "AP"], 100) == ["nDCG@10", "AP"]


def test_further_documents_that_are_excluded_are_said():
    assert script.left_out({"excluded": 3, "own_documents": 3}) == script.left_out({}) == ""
    assert script.left_out({"excluded": 30}) == "; 30 documents are excluded for a query here, 0 by Anserini"


def rows(jar, tmp_path, ours, excluded=""):
    task = script.ReferenceTask("scifact", "scifact", "test", "scifact", ["scifact"], {"b": "bm25"})
    lines = [script.COLUMNS, *script.rows_of(jar, task, ["nDCG@10"], ours, excluded)]
    (tmp_path / "references.tsv").write_text("# Source\n" + "".join("\t".join(line) + "\n" for line in lines))
    return read_all([tmp_path / "references.tsv"])


SCIFACT = dict(zip(script.SIZES, (5183, 5183, 838128), strict=True))
RESULTS = Results({}, {}, pd.DataFrame(), pd.DataFrame({"documents": [5183]}, index=["scifact/test"]))


def means(value):
    return pd.DataFrame({"task": ["scifact"], "system": ["b"], "nDCG@10": [value]}).set_index(["task", "system"])


def test_with_the_same_texts_another_score_is_a_fault_and_with_others_it_is_not(jar, tmp_path):
    of_same, of_others = rows(jar, tmp_path, SCIFACT), rows(jar, tmp_path, SCIFACT | {"total terms": 838000})
    for value, published, note in (
        (0.67894, of_same, ""),
        (0.6799, of_same, FAULT),
        (0.6799, of_others, "the texts differ: 838,000 of 838,128 terms"),
        (0.6799, rows(jar, tmp_path, SCIFACT, "; 1 document"), "the same texts by their sizes: 5,183 documents, "),
    ):
        table = versus(published, replace(RESULTS, means=means(value)), {})
        assert table["column"].tolist() == ["documents", "nDCG@10"] and table["equal"][0] == "yes"
        assert table["note"][1].startswith(note) and (table["note"][1] == FAULT) == (note == FAULT)
    table = versus(of_same, replace(RESULTS, means=means(0.6799)), {})
    assert "1 differ although the texts are the same: scifact, BM25 nDCG@10" in counts(table)


def test_without_a_collection_that_is_known_both_pages_say_so(tmp_path):
    """A table without rows has no columns to show, and the report is made all the same."""
    files = {name: tmp_path / f"versus.{name}" for name in ("table", "page", "html")}
    (tmp_path / "references.tsv").write_text("# Source\n" + "\t".join(script.COLUMNS) + "\n")
    write_table(tmp_path / "means.tsv", pd.DataFrame(columns=["task", "system"]))
    write_table(
        tmp_path / "datasets.tsv", pd.DataFrame({"dataset": ["scifact"], "split": ["test"], "documents": [5183]})
    )
    none = dict.fromkeys(
        ("published", "mapping", "ascending", "times", "importances", "effects", "meta", "matrices"), ()
    )
    inputs = {"means": tmp_path / "means.tsv", "datasets": tmp_path / "datasets.tsv"}
    inputs["references"] = [tmp_path / "references.tsv"]
    write_published(**none, **inputs, **files | {"html": [files["html"]]}, settings=Settings())
    said = "No published number belongs to a task of this experiment"
    assert files["page"].read_text().endswith(f"\n{said}. There are none in {tmp_path / 'references.tsv'}.\n")
    report = html_page.document("t", [section(read_texts(files["table"]))], {})
    assert all(f"<p>{said}." in page for page in (files["html"].read_text(), report))


SYSTEMS = {
    "bm25": {"type": "bm25"},
    "tuned": {"type": "bm25", "tune": True},
    "other": {"type": "bm25", "k1": 1.2},
    "standard": {"type": "bm25", "analyzer": "standard"},
    "bge": {"model": "m"},
    "half": {"model": "m", "embeddings": {"precision": "float16"}},
    "again": {"model": "m", "rerank": {"first_stage": "bm25"}},
}
CONFIG = with_dataset() | {
    "references": "anserini",
    "models": {"m": {"type": "bi-encoder", "weights": "BAAI/bge-base-en-v1.5"}},
    "systems": SYSTEMS,
    "measures": ["nDCG@10", "R@1000"],
    "depth": 100,
}


def test_only_systems_that_are_set_up_as_anserinis_are_set_beside_it():
    experiment = resolve(CONFIG, "c.yaml")
    settings = planning.references_settings(experiment)
    assert settings["measures"] == ["nDCG@10", "R@1000"] and settings["depth"] == 100
    assert settings["tasks"][0]["systems"] == {"bm25": "bm25", "bge": "bge-base-en-v1.5"}
    assert settings["tasks"][0]["names"] == ["d", "tests"]
    assert planning.reference_indices(experiment) == ["results/e/bm25/d/index"]
    without = resolve({key: value for key, value in CONFIG.items() if key != "references"}, "c.yaml")
    assert (
        planning.references(without)
        == planning.reference_indices(without)
        == planning.reference_statistics(without)
        == []
    )


def test_a_mapping_of_a_paper_excludes_references():
    mapped = {"file": "pyproject.toml", "mapping": "config/published/factcheck.yaml", "part": True}
    assert "c.yaml: references: not together with published.mapping" in refusal(CONFIG | {"published": mapped})


EXPECTED = {
    "scifact": (
        "0.6799",
        "the texts differ: 841,442 of 838,128 terms",
        {"nDCG@10": "no", "R@100": "yes", "R@1000": "yes"},
    ),
    "nfcorpus": (
        "0.3320",
        "the texts differ: 3,395 of 3,633 documents, 3,395 of 3,633 non-empty, 512,980 of 637,485 terms",
        {"nDCG@10": "no"},
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_real_collections_stand_beside_anserinis(tmp_path, shared_data, name):
    """The whole way: prepared, indexed, searched, scored, compared. The page says that the texts differ."""
    data, index = tmp_path / "data" / name, tmp_path / "bm25" / name / "index"
    prepare(shared_data / f"beir/{name}.zip", data, {"format": "beir", "seed": 1})
    index_script.build(data / "corpus.jsonl", index)
    search = {"depth": 1000, "tag": "bm25", "k1": 0.9, "b": 0.4}
    files = {"run": tmp_path / "run.trec.gz", "timing": tmp_path / "timing.json"}
    call(search_script.search, index=index, queries=data / "queries/test.jsonl", **files, settings=search)
    write_scores(files["run"], data / "qrels/test.qrels", tmp_path / "metrics.tsv", MEASURES)
    task = {
        "task": name,
        "dataset": name,
        "split": "test",
        "corpus": name,
        "names": [name],
        "systems": {"bm25": "bm25"},
    }
    settings = {"tasks": [task], "measures": MEASURES, "depth": 1000}
    files = {"indices": [index], "statistics": [data / "statistics.json"], "references": tmp_path / "references.tsv"}
    call(script.references, **files, settings=settings)

    found = pd.read_csv(tmp_path / "metrics.tsv", sep="\t")[MEASURES].mean()
    our_means = found.to_frame().T.assign(task=name, system="bm25").set_index(["task", "system"])
    documents = json.loads((data / "statistics.json").read_text())["documents"]
    datasets = pd.DataFrame({"documents": [documents]}, index=[f"{name}/test"])
    table = versus(read_all([tmp_path / "references.tsv"]), Results({}, {}, our_means, datasets), {})
    ndcg, said, equal = EXPECTED[name]
    by_column = table.set_index("column")
    assert by_column.loc["nDCG@10", "ours"] == ndcg
    assert by_column.loc["documents", "note"].startswith(said)
    assert {column: by_column.loc[column, "equal"] for column in equal} == equal and FAULT not in set(table["note"])
