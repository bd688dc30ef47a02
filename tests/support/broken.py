"""Small datasets of every format to break, and how they are read."""

import gzip
import json

import pytest

from ranktrial.common.errors import UserError
from ranktrial.datasets.formats import beir, checkthat, emnlp2020, insuranceqa, qrels, touche, trec


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def packed(content):
    return gzip.compress(json.dumps(content, ensure_ascii=False, indent=1).encode(), mtime=0)


BEIR = {
    "x/corpus.jsonl": '{"_id": "d1", "title": "T", "text": "one"}\n{"_id": 2, "text": "two"}\n',
    "x/queries.jsonl": '{"_id": "q1", "text": "first"}\n{"_id": "q2", "text": "second"}\n',
    "x/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq2\td1\t2\nq1\t2\t0\n",
}


SGML = "<DOC>\n<DOCNO> F1 </DOCNO>\n<TITLE>Fish &amp; chips</TITLE>\n<TEXT>Cod.</TEXT>\n</DOC>\n<DOC>\n<DOCNO>F2</DOCNO>\nPlaice.\n</DOC>\n"


TOPICS = "<top>\n<num> Number: 1\n<title> crime\n<desc> Description:\nFind crime.\n</top>\n<top>\n<num> 2\n<title> polio\n</top>\n"


TREC = {
    "docs/a": SGML,
    "docs/b.jsonl": '{"id": "j1", "contents": "json text"}\n',
    "topics": TOPICS,
    "qrels": "1 0 F1 1\n2 0 j1 0\n",
}


CHECKTHAT = {
    "v3/verified_claims.docs.tsv": '\tvclaim\ttitle\n0\t"A ""law"" of\ntwo lines."\tWas It?\n7\tplain\t\n',
    "v3/train/tweets.queries.tsv": '\ttweet_content\n1\t"one,\ntwo"\n2\tthree\n',
    "v3/train/tweet-vclaim-pairs.qrels": "2\t0\t0\t1\n1\t0\t7\t1\n",
}


EMNLP = {
    "P/articles_content.json": json.dumps({"a1": {"headerTitle": "A", "body-text": ["p", "q"], "claim": "c"}}),
    "P/queries_content.json": json.dumps({"t1": {"OriginalTweetContent_Processed": "one", "Images_in_tweet": {"u": {"text_for_the_image": "pic"}}}}),
    "P/article_mapped.json": '{"a1": 0}',
    "P/query_mapped.json": '{"t1": 0}',
    "P/query_article_interaction.csv": "0,0\n",
}  # fmt: skip


QUESTION = {"domain": "home", "en": "What now?", "zh": "x", "answers": ["1", "2"]}


INSURANCE = {
    "answers.json.gz": packed({str(n): {"en": f"answer {n}", "zh": "x"} for n in range(4)}),
    "train.json.gz": packed({"0": QUESTION, "1": QUESTION | {"en": "Why?", "answers": ["0"]}}),
    "valid.json.gz": packed({"0": QUESTION | {"en": "Who?"}}),
    "test.json.gz": packed({"0": QUESTION | {"en": "Where?", "answers": ["3"]}}),
}


TOUCHE = {
    "docs.jsonl": '{"id": "c1___1", "contents": "Tea calms.", "chatNoirUrl": "x"}\n{"id": "c2___7", "contents": "Coffee wakes."}\n',
    "topics.xml": "<topics>\n<topic>\n<number>1</number>\n<title>Which is better, tea &amp; milk or coffee?</title>\n"
    "<objects>tea, coffee</objects>\n<description>A\n choice.</description>\n<narrative>Both.</narrative>\n</topic>\n"
    "<topic><number>2</number><title>Cats or dogs?</title></topic>\n</topics>\n",
    "relevance.qrels": "1 0 c1___1 2\n1 0 c2___7 0\n",
}


FORMATS = {
    "beir": (beir, BEIR, {}),
    "trec": (trec, TREC, {"documents": ["docs/*"], "topics": {"test": "topics"}, "qrels": {"test": "qrels"}, "topic_field": "title"}),
    "touche": (touche, TOUCHE, {"documents": ["docs.jsonl"], "topics": {"test": "topics.xml"}, "qrels": {"test": "relevance.qrels"}, "topic_field": "title"}),
    "checkthat": (checkthat, CHECKTHAT, {"parts": {"train": "train"}}),
    "emnlp2020": (emnlp2020, EMNLP, {"text": "tweet+image"}),
    "insuranceqa": (insuranceqa, INSURANCE, {"language": "en", "domain": "home"}),
    "qrels": (qrels, {"a": "q1 0 d1 1\nq2 0 d2 0\n"}, {"qrels": {"test": "a"}}),
}  # fmt: skip


def read_all(name, root, **settings):
    reader, _, fixed = FORMATS[name]
    collection = reader.read(root, reader.Options(**fixed | settings))
    return None if collection.documents is None else list(collection.documents), collection.queries, collection.qrels


def refusal(name, folder, files, **settings):
    write(folder, FORMATS[name][1] | files)
    with pytest.raises(UserError) as error:
        read_all(name, folder, **settings)
    assert "\n" not in str(error.value) and len(str(error.value)) < 600
    return str(error.value)
