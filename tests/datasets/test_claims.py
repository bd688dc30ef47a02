"""Claim retrieval: the readers of CheckThat! and of the EMNLP fact-checks, on small files, broken ones and the real ones."""

import csv
import io
import json
import zipfile

import pytest

from ranktrial.common.errors import UserError
from ranktrial.datasets.formats import checkthat, emnlp2020
from ranktrial.ir.collection import Document, read_corpus, read_queries
from ranktrial.ir.trec import read_qrels, relevant
from tests.support.broken import write
from tests.support.one_line import refused
from tests.support.prepared import prepare

PARTS = {"parts": {"train": "train", "test": "dev"}}
CHECKTHAT = {
    "v3/verified_claims.docs.tsv": '\tvclaim\ttitle\n0\t"A ""law"" of\ntwo lines."\tWas It?\n7\tplain\t\n',
    "v3/train/tweets.queries.tsv": '\ttweet_content\n1\t"one,\ntwo"\n2\tthree\n9\tnever paired\n',
    "v3/train/tweet-vclaim-pairs.qrels": "2\t0\t0\t1\n1\t0\t7\t1\n",
    "v3/dev/tweets.queries.tsv": "\ttweet_content\n0\tfour\n",
    "v3/dev/tweet-vclaim-pairs.qrels": "0\t0\t7\t1\n",
}


def test_checkthat(tmp_path):
    collection = checkthat.read(write(tmp_path, CHECKTHAT), checkthat.Options(**PARTS))
    assert collection.documents == [Document("0", "Was It?", 'A "law" of\ntwo lines.'), Document("7", "", "plain")]
    assert collection.queries == {"train": {"2": "three", "1": "one,\ntwo"}, "test": {"0": "four"}}
    assert collection.qrels == {"train": {"2": {"0": 1}, "1": {"7": 1}}, "test": {"0": {"7": 1}}}


def test_a_byte_order_mark_and_windows_line_ends_are_taken_off(tmp_path):
    plain = checkthat.read(write(tmp_path / "plain", CHECKTHAT), checkthat.Options(**PARTS))
    windows = {name: b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode() for name, text in CHECKTHAT.items()}
    collection = checkthat.read(write(tmp_path / "windows", windows), checkthat.Options(**PARTS))
    assert collection.qrels == plain.qrels
    assert [document.text.replace("\r\n", "\n") for document in collection.documents] == [
        document.text for document in plain.documents
    ]


CLAIMS, TWEETS, PAIRS = list(CHECKTHAT)[:3]


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        (CLAIMS, '\tvclaim\ttitle\n0\t"two\nlines"\tT\n\tno id\tT\n', "docs.tsv:4: the claim has no id"),
        (CLAIMS, "\tvclaim\ttitle\na b\tc\tT\n", "docs.tsv:2: the claim id 'a b' contains white space"),
        (CLAIMS, '\tvclaim\ttitle\n0\t"a\nb"\tT\n7\tc\tT\n0\td\tT\n', "docs.tsv:5: duplicate claim id 0, first in line 2"),
        (CLAIMS, "\tvclaim\ttitle\n0\t \tT\n", "docs.tsv:2: claim 0 has no text"),
        (CLAIMS, "\tvclaim\ttitle\n0\ta\tT\n7\tb\n", "docs.tsv:3: 2 columns, but the heading has 3"),
        (CLAIMS, "\tvclaim\theading\n0\ta\tT\n", "docs.tsv:1: no column 'title' after the id, only vclaim, heading"),
        (CLAIMS, '\tvclaim\ttitle\n0\ta\tT\n7\t"never\nclosed\tT\n', "docs.tsv:3: the record that begins here is not quoted TSV"),
        (CLAIMS, b"\tvclaim\ttitle\n0\t\xff\tT\n", "not UTF-8 text"),
        (TWEETS, "\ttweet_content\n1\ta\n1\tb\n", "train/tweets.queries.tsv:3: duplicate tweet id 1"),
        (TWEETS, "\ttweet_content\n1\t\n", "train/tweets.queries.tsv:2: tweet 1 has no text"),
        (TWEETS, "\ttweet_content\n1\ta\n", "pairs.qrels: query 2 is judged but has no text"),
        (PAIRS, "1\t0\t7\t1\n1\t0\t8\t1\n", "pairs.qrels:2: tweet 1 is paired with claim 8, which verified_claims.docs.tsv lacks"),
        (PAIRS, "1\t0\t7\n", "pairs.qrels:1: 3 columns, but qrels have 4"),
        (PAIRS, "1\t0\t7\tyes\n", "pairs.qrels:1: grade 'yes' is not an integer"),
        (PAIRS, "", "pairs.qrels: no judged query"),
    ],
)  # fmt: skip
def test_broken_checkthat_files_are_refused_with_file_and_line(tmp_path, file, content, said):
    write(tmp_path, CHECKTHAT | {file: content})
    with refused(said):
        checkthat.read(tmp_path, checkthat.Options(**PARTS))


@pytest.mark.parametrize("gone", [CLAIMS, TWEETS, PAIRS])
def test_a_missing_checkthat_file_is_named(tmp_path, gone):
    write(tmp_path, {name: text for name, text in CHECKTHAT.items() if name != gone})
    with pytest.raises(UserError, match=gone.rpartition("/")[2]):
        checkthat.read(tmp_path, checkthat.Options(**PARTS))


def test_a_part_that_the_release_lacks_is_named(tmp_path):
    with pytest.raises(UserError, match=r"test/tweet-vclaim-pairs.qrels: no such file"):
        checkthat.read(write(tmp_path, CHECKTHAT), checkthat.Options({"test": "test"}))


def tweet(text, *images):
    read_from = {f"http://{n}": {"code": "200", "text_for_the_image": image} for n, image in enumerate(images)}
    return {"OriginalTweetContent_Processed": text, "Images_in_tweet": read_from}


def article(title, *paragraphs, claim="c"):
    return {"headerTitle": title, "body-text": list(paragraphs), "claim": claim}


def emnlp_files(**changes):
    """The five files of a small half: a2 has two tweets, the tweet t3 two articles."""
    contents = {
        "articles_content": {"http://a1": article("A1", "p1", "p2"), "http://é": article("A2"), "http://a3": article("A3")},
        "queries_content": {"t1": tweet("one", "pic", " ", "more"), "t2": tweet("two"), "t3": tweet("three", "")},
        "article_mapped": {"http://a3": 2, "http://a1": 0, "http://é": 1},
        "query_mapped": {"t1": 0, "t2": 1, "t3": 2},
    } | changes  # fmt: skip
    files = {f"Politifact/{name}.json": json.dumps(one, indent=2) for name, one in contents.items()}
    return files | {"Politifact/query_article_interaction.csv": "0,1\n1,1\n2,0\n2,2\n"}


def test_emnlp(tmp_path):
    collection = emnlp2020.read(write(tmp_path, emnlp_files()), emnlp2020.Options("tweet"))
    assert collection.documents == [
        Document("0", "A1", "p1\np2\nc"),
        Document("1", "A2", "c"),
        Document("2", "A3", "c"),
    ]
    assert collection.queries == {"train": {"0": "one", "1": "two", "2": "three"}}
    assert collection.qrels == {"train": {"0": {"1": 1}, "1": {"1": 1}, "2": {"0": 1, "2": 1}}}
    with_images = emnlp2020.read(tmp_path, emnlp2020.Options("tweet+image"))
    assert with_images.queries == {"train": {"0": "one pic more", "1": "two", "2": "three"}}


def test_emnlp_files_from_windows(tmp_path):
    windows = {name: b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode() for name, text in emnlp_files().items()}
    collection = emnlp2020.read(write(tmp_path / "w", windows), emnlp2020.Options("tweet+image"))
    assert collection == emnlp2020.read(write(tmp_path / "p", emnlp_files()), emnlp2020.Options("tweet+image"))


EMNLP_PAIRS = "Politifact/query_article_interaction.csv"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({EMNLP_PAIRS: "0,1\n1,5\n"}, "interaction.csv:2: the pair names the unknown article '5'"),
        ({EMNLP_PAIRS: "0,1\n7,1\n"}, "interaction.csv:2: the pair names the unknown tweet '7'"),
        ({EMNLP_PAIRS: "0\t1\n"}, "interaction.csv:1: 1 columns, expected 2, separated by a comma"),
        ({EMNLP_PAIRS: "\n"}, "interaction.csv: no judged query"),
        ({"Politifact/article_mapped.json": '{\n"http://a1": 0,\n"http://a1x": 1}'},
         "article_mapped.json:3: http://a1x is not in articles_content.json"),
        ({"Politifact/article_mapped.json": '{"http://a1": 0,\n"http://a3": 1}'},
         "articles_content.json:10: http://é has no number in article_mapped.json, and so no id"),
        ({"Politifact/query_mapped.json": '{"t1": 0, "t2": 1,\n"t3": 1}'}, "query_mapped.json:2: duplicate number 1"),
        ({"Politifact/query_mapped.json": '{"t1": 0, "t2": null,\n"t3": 1}'}, "query_mapped.json:1: the record has no id"),
        ({"Politifact/query_mapped.json": '{"t1": -1, "t2": 1,\n"t3": 2}'}, "query_mapped.json:1: '-1' is not a number"),
        ({"Politifact/query_mapped.json": '{"t1": 0,\n'}, "query_mapped.json: not JSON (Expecting property name enclosed in double quotes at line 2"),
        ({"Politifact/query_mapped.json": "[]"}, "query_mapped.json:1: expected a JSON object, not list"),
        ({"Politifact/query_mapped.json": b"\xff"}, "query_mapped.json:1: not UTF-8 text"),
    ],
)  # fmt: skip
def test_broken_emnlp_files_are_refused_with_file_and_line(tmp_path, changes, said):
    write(tmp_path, emnlp_files() | changes)
    with refused(said):
        emnlp2020.read(tmp_path, emnlp2020.Options("tweet"))


@pytest.mark.parametrize(
    ("name", "record", "said"),
    [
        ("articles_content", {"headerTitle": "T", "body-text": "p", "claim": "c"}, ":2: http://a1 has no 'body-text', or it"),
        ("articles_content", {"headerTitle": "T", "body-text": [1], "claim": "c"}, ":2: http://a1: 'body-text' must be"),
        ("articles_content", {"headerTitle": "T", "body-text": []}, ":2: http://a1 has no 'claim', or it is not text"),
        ("queries_content", {"Images_in_tweet": {}}, ":2: t1 has no 'OriginalTweetContent_Processed'"),
        ("queries_content", tweet(" ", ""), ":2: tweet t1 has no text"),
        ("queries_content", {"OriginalTweetContent_Processed": "x"}, ":2: t1 has no 'Images_in_tweet'"),
        ("queries_content", {**tweet("x"), "Images_in_tweet": {"http://0": {}}}, ":2: t1: an image without"),
        ("queries_content", "text", ":2: t1 has no 'OriginalTweetContent_Processed', or it is not text"),
    ],
)  # fmt: skip
def test_broken_records_are_refused_with_file_and_line(tmp_path, name, record, said):
    first = "http://a1" if name == "articles_content" else "t1"
    whole = json.loads(emnlp_files()[f"Politifact/{name}.json"])
    write(tmp_path, emnlp_files(**{name: whole | {first: record}}))
    with refused(f"{name}.json{said}"):
        emnlp2020.read(tmp_path, emnlp2020.Options("tweet+image"))


@pytest.mark.parametrize("gone", [*emnlp_files()])
def test_a_missing_emnlp_file_is_named(tmp_path, gone):
    write(tmp_path, {name: text for name, text in emnlp_files().items() if name != gone})
    with pytest.raises(UserError, match=gone.rpartition("/")[2]):
        emnlp2020.read(tmp_path, emnlp2020.Options("tweet"))


def settings(**changes):
    fixed = {"splits": {}, "split_by": "queries", "drop_shared": False, "seed": 42, "strict": False}
    return fixed | changes


def splits(folder):
    return {split: read_qrels(folder / "qrels" / f"{split}.qrels") for split in ("train", "dev", "test")}


def golds(qrels):
    return {document for query in qrels for document in relevant(qrels, query)}


def assert_nothing_leaks(parts):
    for one, other in (("train", "dev"), ("train", "test"), ("dev", "test")):
        assert not golds(parts[one]) & golds(parts[other])


def test_clef_2020_as_the_thesis_takes_it(shared_data, tmp_path):
    """Table 4.2: 10,375 claims, 197 test and 800 training tweets, of which those with a gold claim of the test set go."""
    source = shared_data / "clef2020-checkthat-task2" / "v3.zip"
    prepare(source, tmp_path / "all", settings(format="checkthat", **PARTS))
    assert {split: len(qrels) for split, qrels in splits(tmp_path / "all").items()} == {
        "train": 800,
        "dev": 0,
        "test": 197,
    }
    kept = settings(format="checkthat", splits={"dev": 100}, drop_shared=True, **PARTS)
    prepare(source, tmp_path / "kept", kept)
    parts = splits(tmp_path / "kept")
    assert {split: len(qrels) for split, qrels in parts.items()} == {"train": 623, "dev": 100, "test": 197}
    assert_nothing_leaks(parts)
    counts = json.loads((tmp_path / "kept" / "statistics.json").read_text())
    assert counts["documents"] == 10375 and counts["splits"]["train"]["left_out"] == 77
    with zipfile.ZipFile(source) as archive:
        text = {
            name: archive.read(f"v3.0/{name}").decode()
            for name in ("verified_claims.docs.tsv", "dev/tweets.queries.tsv")
        }
    claims, tweets = (csv.DictReader(io.StringIO(one, newline=""), delimiter="\t") for one in text.values())
    corpus = [Document(row[""], row["title"], row["vclaim"]) for row in claims]
    assert list(read_corpus(tmp_path / "kept/corpus.jsonl")) == corpus
    texts = {row[""]: row["tweet_content"] for row in tweets}
    assert read_queries(tmp_path / "kept/queries/test.jsonl") == {query: texts[query] for query in parts["test"]}


def test_politifact_as_the_thesis_takes_it(shared_data, tmp_path):
    """Table 4.4: 467 articles, 2,026 tweets, 2,037 positive pairs; 15% of the articles are 70."""
    source = shared_data / "emnlp2020-politifact"
    cut = {"splits": {"test": 0.15, "dev": 0.15}, "split_by": "documents"}
    prepare(source, tmp_path / "tweet", settings(format="emnlp2020", text="tweet", **cut))
    prepare(source, tmp_path / "image", settings(format="emnlp2020", text="tweet+image", **cut),
            tmp_path / "tweet" / "corpus.jsonl")  # fmt: skip
    parts = splits(tmp_path / "tweet")
    assert parts == splits(tmp_path / "image")
    assert_nothing_leaks(parts)
    assert len(golds(parts["test"])) == len(golds(parts["dev"])) == round(0.15 * 467) == 70
    assert sum(len(documents) for part in parts.values() for documents in part.values()) == 2037
    assert sum(map(len, parts.values())) == 2026
    assert all(len(documents) == 1 for split in ("dev", "test") for documents in parts[split].values())
    counts = json.loads((tmp_path / "tweet" / "statistics.json").read_text())
    assert counts["documents"] == 467
    plain, images = (read_queries(tmp_path / name / "queries/test.jsonl") for name in ("tweet", "image"))
    assert all(images[query].startswith(text) for query, text in plain.items()) and plain != images
    assert not (tmp_path / "image" / "corpus.jsonl").exists()
