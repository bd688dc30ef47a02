"""Queries that a model writes for documents: by a causal model here and behind an endpoint, and what is left out."""

import json

import pytest

from ranktrial.datasets.formats.generated import PROMPT
from ranktrial.ir.collection import Document, read_queries, write_corpus
from ranktrial.ir.trec import read_qrels
from ranktrial.models.endpoint_models import write_address
from scripts.datasets import generate
from tests.support import tiny_language_model
from tests.support.answering import answering, error, said
from tests.support.calling import call
from tests.support.one_line import refused

WORDS = ["ash", "elm", "fig", "oak", "yew", "fir", "box", "bay"]
TEXTS = {f"d{n}": " ".join(WORDS[n : n + 3]) for n in range(6)} | {"empty": ""}
HOW = {"batch_size": 4, "seed": 5, "sampled_documents": "all", "queries_per_document": 2}


@pytest.fixture
def folder(tmp_path):
    write_corpus(tmp_path / "corpus.jsonl", [Document(name, "", text) for name, text in TEXTS.items()])
    return tmp_path


def written(folder, into="made", **settings):
    """Run the script; gives the queries of train, the judgements and the counts."""
    made = folder / into
    paths = {"checkpoint": folder / "model", "corpus": folder / "corpus.jsonl"}
    outputs = {"statistics": made / "statistics.json", "generation": made / "generation.json"}
    call(generate.generate_queries, HOW | settings, **paths, **outputs)
    assert read_queries(made / "queries/test.jsonl") == {} == read_qrels(made / "qrels/dev.qrels")
    counts = json.loads((made / "generation.json").read_text())
    return read_queries(made / "queries/train.jsonl"), read_qrels(made / "qrels/train.qrels"), counts


def test_a_causal_model_writes_the_same_queries_again(folder, monkeypatch):
    tiny_language_model.build(folder / "model", [*WORDS, "for", "Query"], seed=1, template=None)
    how = {"type": "query-generator", "max_length": 12, "prompt": "for {document} Query"}
    monkeypatch.setattr("ranktrial.models.types.query_generator.NEW", 4)
    queries, qrels, counts = written(folder, **how)
    assert queries and set(qrels) == set(queries) and counts["documents"] == 6  # one has no text
    assert all(qrels[query] == {query.rpartition("-")[0]: 1} for query in queries)
    assert counts["queries"] + counts["empty"] + counts["repeated"] == 12
    assert len({text.casefold() for text in queries.values()}) == len(queries) == counts["queries"]
    assert written(folder, **how) == (queries, qrels, counts)
    assert written(folder, **how, seed=6)[0] != queries
    with refused("max_length leaves no room for a document beside the prompt; raise it by 5"):
        written(folder, **how | {"max_length": 2})


def writing(request):
    """The first two words of the document, as a chat may say them; the second draw repeats the first of one."""
    text = request["messages"][0]["content"].rpartition("Document: ")[2].partition("\n")[0]
    first, second, third = text.split()
    query = f"{first} {second}" if request["seed"] == 5 or first == "ash" else f"{third}"
    return said(f'\n"{query.title()}"\nas asked', prompt_tokens=10, completion_tokens=2)


def test_an_endpoint_writes_each_query_once_and_what_is_kept_is_not_asked(folder):
    how = {"type": "query-generator-endpoint", "max_length": 10**6, "prompt": PROMPT}
    (folder / "model").mkdir()
    with answering(writing) as asked:
        write_address(folder / "model", {"url": asked.url, "model": "m", "price": 3})
        queries, qrels, counts = written(folder, **how)
        assert queries["d1-1"] == "Elm Fig" and queries["d1-2"] == "Oak" and qrels["d1-2"] == {"d1": 1}
        assert "d0-2" not in queries and counts["repeated"] == 1 and counts["queries"] == 11
        assert counts["calls"] == len(asked.requests) == 12 and counts["cost"] == pytest.approx(12 * 12 * 3 / 1e6)
        assert asked.requests[0]["temperature"] == 1 and asked.requests[0]["max_tokens"] == 64
        assert written(folder, **how)[0] == queries and len(asked.requests) == 12
        few, _, counts = written(folder, **how, sampled_documents=2)
        assert counts["documents"] == 2 and few.items() <= queries.items() and len(asked.requests) == 12


@pytest.mark.parametrize("left_out", [["seed"], ["max_tokens", "temperature"], ["max_tokens", "seed", "temperature"]])
def test_parameters_that_a_model_refuses_are_not_sent_and_each_draw_is_asked(folder, left_out):
    """Without a seed, the requests of both draws are the same; each has an answer of its own, also when kept."""
    number = iter(range(99))

    def refusing(request):
        refused = sorted(request.keys() & set(left_out))
        return error(400, f"Unsupported parameter: {refused[0]!r}") if refused else said(f"query {next(number)}")

    how = {"type": "query-generator-endpoint", "max_length": 10**6, "prompt": PROMPT}
    (folder / "model").mkdir()
    with answering(refusing) as asked:
        write_address(folder / "model", {"url": asked.url, "model": "m"})
        with refused(asked.url, f"refuses the request (400): Unsupported parameter: {left_out[0]!r}"):
            written(folder, **how)
        asked.requests.clear()
        write_address(folder / "model", {"url": asked.url, "model": "m", "leave_out": left_out})
        queries, _, counts = written(folder, **how)
        assert len(queries) == counts["calls"] == len(asked.requests) == 12 and counts["repeated"] == 0
        sent = {"model", "messages", "temperature", "max_tokens", "seed"} - set(left_out)
        assert all(request.keys() == sent for request in asked.requests)
        assert written(folder, **how)[0] == queries and len(asked.requests) == 12


def test_a_model_that_says_nothing_is_refused(folder):
    (folder / "model").mkdir()
    with answering(lambda request: said(' \n"" ')) as asked:
        write_address(folder / "model", {"url": asked.url, "model": "m"})
        with refused("no query was written for 6 documents"):
            written(folder, type="query-generator-endpoint", max_length=9, prompt=PROMPT)
        assert not (folder / "made").exists()


@pytest.mark.parametrize(
    ("answer", "query"),
    [("a\x00b\x1b[31m c\n", "ab[31m c"), ("\x1b\n\u2028 what is \u202eash?\n", "what is ash?"), ("\x07", ""),
     ("<think>\nIt is about ash.\n</think>\n\n\"what is ash?\"", "what is ash?"), ("<think>\nIt is about ash", "")],
)  # fmt: skip
def test_a_query_has_no_control_characters_and_no_reasoning(answer, query):
    assert generate.cleaned(answer) == query


@pytest.mark.parametrize(("length", "each"), [(3999, 1), (3998, 10)])
def test_a_document_whose_queries_would_have_too_long_ids_is_refused_before_anything_is_written(length, each):
    generate.check_ids(["d" * (length - 1)], each, "corpus.jsonl")
    with refused("corpus.jsonl: the id 'ddd"):
        generate.check_ids(["d", "d" * length], each, "corpus.jsonl")
