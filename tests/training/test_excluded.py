"""No document is a negative of a query for which it is excluded: drawn, ranked, mined, or met in a batch."""

import pytest

from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.trec import ranking
from ranktrial.training.examples import Row, Table, joined, kept_apart, read_table
from ranktrial.training.labelled import Collection, labelled, lines_of
from ranktrial.training.mining import candidates
from scripts.training.mine import Settings as Mining
from scripts.training.negatives import Settings, examples, select

CORPUS = [f"d{n}" for n in range(8)]
RUN = {query: {name: float(len(CORPUS) - n) for n, name in enumerate(CORPUS)} for query in ("q", "r")}
EXCLUDED = {"q": {"d0", "d2", "d5"}, "elsewhere": {"d1"}}
COMMON = {"labels": "human", "queries": "all", "exclude_evaluation": True, "seed": 1}
READ = Collection(
    ["q", "r"], CORPUS, {"q": {"d1": 1}, "r": {"d1": 1}}, {"d7"}, {q: ranking(RUN[q]) for q in RUN}, EXCLUDED
)
FIT = {"q": ["d3", "d4", "d6"], "r": ["d0", "d2", "d3", "d4", "d5", "d6"]}


@pytest.mark.parametrize("source", ["bm25", "random"])
@pytest.mark.parametrize("strategy", ["top", "random"])
def test_of_bm25_and_of_chance(source, strategy):
    settings = Settings(**COMMON, from_=source, per_query=len(CORPUS), sampling_strategy=strategy)
    found = labelled(READ, settings)
    rows = list(examples(found.positives, found.unfit, READ.rankings, READ.pool, settings))
    chosen = {query: sorted(row.negative for row in rows if row.query == query) for query in FIT}
    assert chosen == FIT and {row.positive for row in rows} == {"d1"}


def test_of_systems():
    settings = Mining(**COMMON, from_=["near"], per_query=3)
    listed = candidates(READ, labelled(READ, settings), {"near": RUN}, 0, None)
    assert {query: [one.document for one in ones] for query, ones in listed.items()} == FIT


ROWS = [Row("q0", "d1", "d2"), Row("q1", "d0", "d3"), Row("q2", "d4", "d5")]


@pytest.fixture
def files(tmp_path):
    """q0 is d0, but for a title, and d0 is the positive of q1; d9 is in no row."""
    texts = {name: f"text of {name}" for name in [*CORPUS, "d9"]}
    write_corpus(tmp_path / "corpus", [Document(name, "title", text) for name, text in texts.items()])
    queries = {"q0": texts["d0"], "q1": "ask one", "q2": "ask two"}
    write_queries(tmp_path / "queries", queries, {"q0": {"d0", "d3", "d9"}, "q1": {"d1"}})
    return tmp_path / "corpus", tmp_path / "queries"


def test_texts_to_keep_apart_are_those_of_the_training_set(files):
    found = kept_apart(Table([ROWS], None), *files, cut=None, relevant=False)
    assert found == {"text of d0": ["title text of d0", "title text of d3"], "ask one": ["title text of d1"]}
    assert kept_apart(Table([ROWS[2:]], None), *files, cut=None, relevant=False) == {}
    shorter = kept_apart(
        Table([ROWS], None), *files, lambda texts, role: [f"{role}: {text[-2:]}" for text in texts], relevant=False
    )
    assert shorter == {"query: d0": ["document: d0", "document: d3"], "query: ne": ["document: d1"]}
    assert joined([found, {"ask one": ["more"]}])["ask one"] == ["title text of d1", "more"]


def test_relevant_documents_are_kept_apart_unless_asked_otherwise(files):
    """The positives of a query, and documents of others' rows that the file of examples lists for it."""
    table = Table([ROWS], None, (("q2", "d1"), ("q2", "d9")))
    found = kept_apart(table, *files, cut=None, relevant=True)
    assert found == {
        "text of d0": ["title text of d0", "title text of d1", "title text of d3"],
        "ask one": ["title text of d0", "title text of d1"],
        "ask two": ["title text of d1", "title text of d4"],
    }


def test_the_file_of_examples_lists_what_is_relevant_to_a_query_and_in_the_rows_of_others(tmp_path):
    """Of three relevant documents one is drawn; another is a row's of a different query, the third is in none."""
    qrels = {"q": {"d1": 1, "d3": 1, "d4": 1}, "r": {"d3": 1}}
    read = READ._replace(qrels=qrels, excluded={}, rankings={query: CORPUS for query in qrels})
    settings = Settings(**COMMON, from_="bm25", per_query=1, positives=1)
    rows, found, _ = select(read, settings)
    (tmp_path / "n.tsv").write_text("\n".join(lines_of(("source", "rank"), rows, [], found.unfit, False)) + "\n")
    table = read_table(tmp_path / "n.tsv")
    (of_q,) = {row.positive for row in rows if row.query == "q"}
    assert len(rows) == len(table.rows) == 2
    expected = {("q", "d3")} - {("q", of_q)} | ({("r", of_q)} & {("r", "d3")} - {("r", "d3")})
    assert set(table.unfit) == expected and expected
