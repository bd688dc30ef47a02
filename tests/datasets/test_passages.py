"""Splitting texts into passages: sentences, the limit, texts of every odd kind, and real articles."""

import json
import random

import pytest

from ranktrial.ir.collection import Document, passages_of, write_corpus, write_queries
from ranktrial.ir.languages import ANALYSED, WITH_SENTENCES
from scripts.datasets.passages import grouped, sentences
from scripts.datasets.passages import split as passages
from tests.support.calling import call


def test_abbreviations_and_numbers_end_no_sentence():
    text = "Dr. Smith of the U.S. Senate paid $3.5 million. He was tired! Was he? Sen. J. Doe said no."
    assert sentences(text, "en") == [
        *("Dr. Smith of the U.S. Senate paid $3.5 million.", "He was tired!", "Was he?", "Sen. J. Doe said no.")
    ]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["abcd", "efgh", "i"], ["abcd efgh", "i"]),  # 9 characters with the space; 11 would be too many
        (["abcde", "efghi"], ["abcde", "efghi"]),
        (["a" * 30, "b", "c"], ["a" * 30, "b c"]),  # longer than a passage: whole, and alone
        (["b", "a" * 30], ["b", "a" * 30]),
        ([], [""]),
    ],
)
def test_sentences_are_grouped_up_to_the_limit(parts, expected):
    assert grouped(parts, 10) == expected


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_a_text_without_content_is_one_empty_passage(text):
    assert grouped(sentences(text, "en"), 150) == [""]


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_lost_and_no_group_is_too_long(seed):
    rng = random.Random(seed)
    ends = [". ", "! ", "? ", " ", "\n", ".) ", '." ', " e.g. ", "... "]
    words = ["He", "said", "No", "3.5", "Mr", "x" * 70, "(a", '"b']
    text = "".join(rng.choice(words) + rng.choice(ends) for _ in range(200))
    made = grouped(sentences(text, "en"), 60)
    assert "".join("".join(made).split()) == "".join(text.split())
    alone = {" ".join(one.split()) for one in sentences(text, "en")}
    assert all(len(passage) <= 60 or passage in alone for passage in made)


def test_a_corpus_and_queries_are_split_by_the_script(tmp_path):
    documents = [
        Document("a", "Title here.", "One is short. " * 20),
        Document("b", "", ""),
        Document("c", "", "Two. Three."),
    ]
    write_corpus(tmp_path / "corpus.jsonl", documents)
    write_queries(tmp_path / "queries.jsonl", {"q": "Is it? It is.", "r": "No"})
    for name in ("corpus", "queries"):
        files = {"texts": tmp_path / f"{name}.jsonl", "passages": tmp_path / f"{name}.passages"}
        call(passages, {"length": 30, "language": "en"}, **files)
    made = passages_of(tmp_path / "corpus.passages")
    assert list(made) == ["a", "b", "c"]
    assert made["a"][:2] == ["Title here. One is short.", "One is short. One is short."]
    assert (made["b"], made["c"]) == ([""], ["Two. Three."])
    assert passages_of(tmp_path / "queries.passages") == {"q": ["Is it? It is."], "r": ["No"]}
    assert passages_of(tmp_path / "corpus.passages", {"c"}) == {"c": ["Two. Three."]}


def test_real_articles_lose_nothing(shared_data):
    source = shared_data / "emnlp2020-politifact" / "articles_content.json"
    if not source.is_file():
        pytest.skip(f"no file {source}")
    for article in list(json.loads(source.read_text()).values())[:20]:
        text = " ".join(article["body-text"])
        made = grouped(sentences(text, "en"), 150)
        assert "".join("".join(made).split()) == "".join(text.split())
        whole = {" ".join(one.split()) for one in sentences(text, "en")}
        assert len(whole) > len(made) > 5
        assert all(len(passage) <= 150 or passage in whole for passage in made)


def test_chinese_has_its_own_sentence_ends():
    assert sentences("保险是合同。它有期限。", "zh") == ["保险是合同。", "它有期限。"]


ENDS = {"bn": "।", "hi": "।", "ja": "。", "zh": "。"}


@pytest.mark.parametrize("language", WITH_SENTENCES)
def test_sentences_are_found_in_all_languages_that_are_said_to_have_them(language):
    texts = [f"{word}{ENDS.get(language, '.')}" for word in ("Bolo", "Rima")]
    assert sentences(" ".join(texts), language) == texts


def test_thai_has_no_ends_of_sentences():
    assert sentences("เขามาแล้ว เขาไปไหม", "th") == ["เขามาแล้ว เขาไปไหม"]
    assert set(ANALYSED) - set(WITH_SENTENCES) == {"th"}
