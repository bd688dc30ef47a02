"""Datasets of ir_datasets: the library itself fetches and reads, on data put into a home of it, without a network.

Files that lie where the library keeps its own are taken by it without a download, so tiny collections in the layouts
of ANTIQUE, MS MARCO and DPR take the ways of the real ones. What only a download shows (its MD5 check) is not tried.
"""

import gzip
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ranktrial.ir.collection import read_corpus, read_queries
from ranktrial.ir.trec import read_qrels

REPOSITORY = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("warm_processes")
SCIFACT = REPOSITORY.parent / "shared/data/beir/scifact.zip"

ANTIQUE = {
    "antique/collection.tsv": "a1\tsalt melts ice\na2\tsand does not\na3\tice is cold\n",
    "antique/train/queries.txt": "t1\twhat melts ice\nt2\tis ice cold\nt3\twhy sand\n",
    "antique/train/qrels": "t1 U0 a1 4\nt1 Q0 a2 1\nt2 U0 a3 3\n",
    "antique/test/queries.txt": "s1\tcold ice\n",
    "antique/test/qrels": "s1 U0 a3 4\ns1 Q0 a1 2\n",
}
MARCO = {
    "msmarco-passage/collection.tsv": "0\tfirst passage\n1\tsecond passage\n",
    "msmarco-passage/irds_version.txt": "v2",
    "msmarco-passage/train/queries.tsv": "10\tone\n11\ttwo\n12\tthree\n",
    "msmarco-passage/train/qrels": "10\t0\t1\t1\n",
    "msmarco-passage/dev/small/queries.tsv": "20\tfour\n",
    "msmarco-passage/dev/small/qrels": "20\t0\t0\t1\n",
}


@pytest.fixture
def home(tmp_path):
    """A function that puts files into a home of the library."""

    def put(files):
        for name, text in files.items():
            path = tmp_path / "home" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return tmp_path / "home"

    return put


TOUCHE = {
    "touche/2022/task-2/passages.jsonl": '{"id": "c-1___1", "contents": "Tea is better.", "chatNoirUrl": "u"}\n'
    '{"id": "c-1___2", "contents": "Coffee keeps awake.", "chatNoirUrl": "u"}\n',
    "touche/2022/task-2/queries.xml": "<topics><topic><number>2</number><title>Tea or coffee?</title>"
    "<objects>tea, coffee</objects><description>d</description><narrative>n</narrative></topic></topics>",
    "touche/2022/task-2/qrels-relevance.qrels": "2 0 c-1___1 2\n2 0 c-1___2 1\n",
    "touche/2022/task-2/qrels-quality.qrels": "2 0 c-1___1 0\n2 0 c-1___2 2\n",
    "touche/2022/task-2/qrels-stance.qrels": "2 0 c-1___1 FIRST\n2 0 c-1___2 NO\n",
}


def call(script, home, proxy="http://127.0.0.1:9", **options):
    """A script as a job calls it, with no way out to a server; what it said, which is one line where it failed."""
    words = [f"--{name}={value if isinstance(value, Path) else json.dumps(value)}" for name, value in options.items()]
    ways = {"IR_DATASETS_HOME": str(home), "http_proxy": proxy, "https_proxy": proxy, "no_proxy": "", "PYTHONPATH": "."}
    command = [sys.executable, f"scripts/datasets/{script}.py", *words]
    return subprocess.run(command, cwd=REPOSITORY, env=os.environ | ways, capture_output=True, text=True, timeout=120)


def fetch(tmp_path, home, location, *ids):
    record = tmp_path / "downloads" / "record"
    return record, call("fetch", home, download=record, settings={"location": location, "ids": list(ids)})


def prepare(tmp_path, home, record, ids, **others):
    options = {"ids": ids} | {key: others.pop(key) for key in ("fields", "query_field", "grade_field") if key in others}
    settings = {"source": str(record), "format": "ir_datasets", "seed": 1, "options": options} | others
    out = tmp_path / "out"
    return out, call("prepare", home, statistics=out / "statistics.json", settings=settings)


def both(tmp_path, home, location, ids, **others):
    record, done = fetch(tmp_path, home, location, *sorted(set(ids.values())))
    assert done.returncode == 0, done.stderr
    out, done = prepare(tmp_path, home, record, ids, **others)
    assert done.returncode == 0, done.stderr
    return out


def refusal(done):
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert "Traceback" not in done.stderr
    return line


def test_grades_stay_and_what_no_split_has_is_empty(tmp_path, home):
    ids = {"train": "antique/train", "test": "antique/test"}
    out = both(tmp_path, home(ANTIQUE), "ir_datasets:antique", ids)
    assert [document.contents for document in read_corpus(out / "corpus.jsonl")] == [
        "salt melts ice", "sand does not", "ice is cold",
    ]  # fmt: skip
    assert read_qrels(out / "qrels/test.qrels") == {"s1": {"a3": 4, "a1": 2}}
    assert read_qrels(out / "qrels/train.qrels") == {"t1": {"a1": 4, "a2": 1}, "t2": {"a3": 3}}
    assert read_queries(out / "queries/train.jsonl") == {"t1": "what melts ice", "t2": "is ice cold"}
    assert read_queries(out / "queries/dev.jsonl") == {} and read_qrels(out / "qrels/dev.qrels") == {}


def test_queries_that_nobody_judged_can_be_training_queries(tmp_path, home):
    ids = {"train": "msmarco-passage/train", "test": "msmarco-passage/dev/small"}
    out = both(tmp_path, home(MARCO), "ir_datasets:msmarco-passage", ids, unjudged="train")
    assert list(read_queries(out / "queries/train.jsonl")) == ["10", "11", "12"]
    assert read_qrels(out / "qrels/train.qrels") == {"10": {"1": 1}}
    train = json.loads((out / "statistics.json").read_text())["splits"]["train"]
    assert (train["queries"], train["unjudged"]) == (1, 2)


def test_queries_of_test_that_nobody_judged_can_be_judged_by_a_model(tmp_path, home):
    ids = {"train": "msmarco-passage/train", "test": "msmarco-passage/dev/small"}
    files = MARCO | {"msmarco-passage/dev/small/queries.tsv": "20\tfour\n21\tfive\n"}
    out = both(tmp_path, home(files), "ir_datasets:msmarco-passage", ids, unjudged="test")
    assert list(read_queries(out / "queries/test.jsonl")) == ["20", "21"]
    assert list(read_queries(out / "queries/train.jsonl")) == ["10"]


def test_the_record_says_what_came_and_what_the_library_documents_of_it(tmp_path, home):
    record, done = fetch(tmp_path, home(ANTIQUE), "ir_datasets:antique", "antique/test", "antique/train")
    reported = json.loads(record.read_text())
    assert reported["documents"] == "antique" and reported["ids"] == ["antique/test", "antique/train"]
    assert reported["library"].startswith("ir_datasets 0.5.")
    assert reported["counts"]["antique"] == {"documents": 3}
    assert reported["counts"]["antique/train"] == {"queries": 3, "judgements": 3}
    files = {file["path"]: file for file in reported["files"]}
    assert files.keys() == ANTIQUE.keys()
    collection = files["antique/collection.tsv"]
    assert collection["documented_md5"] == "684f7015aff377062a758e478476aac8" != collection["md5"]
    assert collection["bytes"] == len(ANTIQUE["antique/collection.tsv"])
    assert "antique/collection.tsv: has the MD5" in done.stderr and "it is not the published file" in done.stderr


def test_a_file_that_is_linked_into_the_home_is_in_the_record(tmp_path, home):
    collection = home(ANTIQUE) / "antique/collection.tsv"
    collection.rename(tmp_path / "elsewhere.tsv")
    collection.symlink_to(tmp_path / "elsewhere.tsv")
    record, _ = fetch(tmp_path, tmp_path / "home", "ir_datasets:antique", "antique/test")
    assert "antique/collection.tsv" in [file.get("path") for file in json.loads(record.read_text())["files"]]


def test_the_record_is_the_same_wherever_it_is_fetched(tmp_path, home):
    record, _ = fetch(tmp_path, home(ANTIQUE), "ir_datasets:antique", "antique/test")
    shutil.copytree(tmp_path / "home", tmp_path / "elsewhere")
    other, _ = fetch(tmp_path / "other", tmp_path / "elsewhere", "ir_datasets:antique", "antique/test")
    assert record.read_bytes() == other.read_bytes()


def test_wikipedia_passages_of_dpr_with_title_and_answers(tmp_path, home):
    contexts = {"positive_ctxs": [{"passage_id": "2", "score": 1000}, {"passage_id": "3", "score": 7}],
                "hard_negative_ctxs": [{"passage_id": "1", "score": 1}], "negative_ctxs": []}  # fmt: skip
    files = {
        "dpr-w100/docs.tsv.gz": 'id\ttext\ttitle\n1\t"One ""quoted"" text"\tA\n2\ttwo\tB\n3\tthree\tB\n',
        "dpr-w100/nq-dev.json.gz": json.dumps([{"question": "who", "answers": ["B"], **contexts}]),
    }
    ids = {"test": "dpr-w100/natural-questions/dev"}
    out = both(tmp_path, home(files), "ir_datasets:dpr-w100", ids)
    first, second, _ = read_corpus(out / "corpus.jsonl")
    assert (second.title, second.text) == ("B", "two") and first.title == "A"
    assert read_qrels(out / "qrels/test.qrels") == {"0": {"2": 2, "3": 1, "1": 0}}


@pytest.mark.parametrize(("fields", "expected"), [(["text"], ("", "two")), (["title"], ("", "B")),
                                                 (["text", "title"], ("B", "two"))])  # fmt: skip
def test_the_configuration_chooses_the_fields(tmp_path, home, fields, expected):
    question = {"question": "who", "answers": ["B"], "positive_ctxs": [{"passage_id": "2", "score": 1}],
                "hard_negative_ctxs": [], "negative_ctxs": []}  # fmt: skip
    files = {"dpr-w100/docs.tsv.gz": "id\ttext\ttitle\n1\tone\tA\n2\ttwo\tB\n",
             "dpr-w100/nq-dev.json.gz": json.dumps([question])}  # fmt: skip
    ids = {"test": "dpr-w100/natural-questions/dev"}
    out = both(tmp_path, home(files), "ir_datasets:dpr-w100", ids, fields=fields)
    document = list(read_corpus(out / "corpus.jsonl"))[1]
    assert (document.title, document.text) == expected


@pytest.mark.parametrize(("keys", "said"), [
    ({}, "what the library takes for a text, unless fields name others"),
    ({"fields": ["title", "text"]}, "text in fields: text"),
])  # fmt: skip
def test_a_corpus_of_titles_is_refused(tmp_path, home, keys, said):
    question = {"question": "who", "answers": ["B"], "positive_ctxs": [{"passage_id": "2", "score": 1}],
                "hard_negative_ctxs": [], "negative_ctxs": []}  # fmt: skip
    files = {"dpr-w100/docs.tsv.gz": "id\ttext\ttitle\n1\t\tA\n2\t\tB\n3\tthree\tB\n",
             "dpr-w100/nq-dev.json.gz": json.dumps([question])}  # fmt: skip
    record, _ = fetch(tmp_path, home(files), "ir_datasets:dpr-w100", "dpr-w100/natural-questions/dev")
    _, done = prepare(tmp_path, tmp_path / "home", record, {"test": "dpr-w100/natural-questions/dev"}, **keys)
    line = refusal(done)
    assert "ir_datasets:dpr-w100: 2 of 3 documents have no text; expected " + said in line
    assert line.endswith("found doc_id, title")


@pytest.mark.skipif(not SCIFACT.is_file(), reason="SciFact's archive does not lie beside the clone")
def test_scifact_through_the_library_is_scifact_as_beirs_archive(tmp_path, home):
    """The library reads the archive where it would have put its download; both ways give the same collection."""
    (home({}) or tmp_path / "home").joinpath("beir/scifact").mkdir(parents=True)
    shutil.copyfile(SCIFACT, tmp_path / "home/beir/scifact/source.zip")
    ids = {"train": "beir/scifact/train", "test": "beir/scifact/test"}
    out = both(tmp_path, tmp_path / "home", "ir_datasets:beir/scifact", ids, splits={"dev": 0.2}, test_queries=100)
    settings = {"source": str(SCIFACT), "format": "beir", "seed": 1, "splits": {"dev": 0.2}, "test_queries": 100}
    done = call("prepare", tmp_path / "home", statistics=tmp_path / "beir/statistics.json", settings=settings)
    assert done.returncode == 0, done.stderr
    strip = [(d.id, d.title.strip(), d.text.strip()) for d in read_corpus(tmp_path / "beir/corpus.jsonl")]
    assert [(d.id, d.title.strip(), d.text.strip()) for d in read_corpus(out / "corpus.jsonl")] == strip
    for split in ("train", "dev", "test"):
        assert read_qrels(out / f"qrels/{split}.qrels") == read_qrels(tmp_path / f"beir/qrels/{split}.qrels")
        queries = [read_queries(folder / f"queries/{split}.jsonl") for folder in (out, tmp_path / "beir")]
        assert queries[0] == queries[1]
    assert len(read_qrels(out / "qrels/test.qrels")) == 100


FETCHED = {  # what is wrong: location, ids and what is said
    "an unknown id": ("ir_datasets:antiqe", ["antique/test"], "ir_datasets:antiqe: ir_datasets 0.5.", "near are antique"),
    "an unknown split": ("ir_datasets:antique", ["antique/valid"], "antique/valid: ir_datasets 0.5.", "near are antique"),
    "nothing like it": ("ir_datasets:qqqqqqqq", ["antique/test"], "knows no such id", "see ir-datasets.com"),
    "documents of none": ("ir_datasets:antique", ["beir"], "ir_datasets:beir: has no queries; below it are beir/"),
    "a home without data": ("ir_datasets:antique", ["antique/test"], "ir_datasets:antique: ir_datasets cannot give it: "
                            "https://ciir.cs.umass.edu/downloads/Antique/antique-collection.txt: the server does not"),
    "data by hand alone": ("ir_datasets:aquaint", ["aquaint/trec-robust-2005"], "ir_datasets:aquaint: cannot be fetched:"),
}  # fmt: skip


@pytest.mark.parametrize("case", FETCHED)
def test_what_cannot_be_fetched_is_one_line(tmp_path, home, case):
    location, ids, *said = FETCHED[case]
    record, done = fetch(tmp_path, home({}) or tmp_path / "home", location, *ids)
    line = refusal(done)
    assert all(words in line for words in said), line
    assert not record.exists()


class Refusing(http.server.BaseHTTPRequestHandler):
    """A server that has nothing but a page for people."""

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.server.asked.append(self.path)
        self.send_response(403)
        self.end_headers()
        self.wfile.write(b"<html>agree to the terms first</html>")


def test_a_refused_download_is_one_line_and_nothing_of_it_stays(tmp_path, home):
    """Cranfield's server speaks http, so that one here can stand in for it."""
    record = tmp_path / "downloads" / "record"
    settings = {"location": "ir_datasets:cranfield", "ids": ["cranfield"]}
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        server.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = call("fetch", home({}), f"http://127.0.0.1:{server.server_port}", download=record, settings=settings)
        server.shutdown()
    line = refusal(done)
    assert server.asked and set(server.asked) == {"http://ir.dcs.gla.ac.uk/resources/test_collections/cran/cran.tar.gz"}
    assert "ir_datasets:cranfield: ir_datasets cannot give it: the server gave another file than is documented" in line
    assert line.endswith(f"; still to be fetched: {server.asked[0]}")
    assert not record.exists() and not list(tmp_path.rglob("cran.tar.gz*"))


PREPARED = {  # what is wrong: changes of the home after the fetch, keys, and what is said
    "an unknown field": ({}, {"fields": ["body"]}, "ir_datasets:antique: fields: its documents have no 'body'; expected some of text"),
    "an unknown field of queries": ({}, {"query_field": "title"}, "query_field: its queries have no 'title'; expected some of text"),
    "a file that changed": ({"antique/collection.tsv": "a1\tother\n"}, {}, "collection.tsv: is not what was fetched (MD5 differs)"),
    "a file that is gone": ({"antique/test/qrels": None}, {}, "test/qrels: is missing, and was there when"),
    "too few queries": ({}, {"test_queries": 5}, "test_queries: 5, but test has 1 judged queries"),
    "an id that was not fetched": ({}, {"ids": {"test": "antique/train"}}, "ir_datasets:antique/train: ir_datasets cannot give it: https://ciir.cs.umass.edu/downloads/Antique/antique-train-queries.txt would be fetched, but only the job fetch asks the network"),
}  # fmt: skip


@pytest.mark.parametrize("case", PREPARED)
def test_what_cannot_be_prepared_is_one_line(tmp_path, home, case):
    changes, keys, said = PREPARED[case]
    lies = home({name: text for name, text in ANTIQUE.items() if "train" not in name})
    record, done = fetch(tmp_path, lies, "ir_datasets:antique", "antique/test")
    assert done.returncode == 0, done.stderr
    for name, text in changes.items():
        lies.joinpath(name).unlink()
        home({name: text} if text is not None else {})
    keys = {"ids": {"test": "antique/test"}} | keys
    _, done = prepare(tmp_path, lies, record, keys.pop("ids"), **keys)
    assert said in refusal(done), done.stderr


def test_data_that_breaks_off_is_one_line(tmp_path, home):
    lies = home(ANTIQUE | {"antique/test/qrels": "s1 U0 a3\n"})
    _, done = fetch(tmp_path, lies, "ir_datasets:antique", "antique/test")
    assert "ir_datasets:antique/test: ir_datasets cannot give it" in refusal(done)


def test_no_record_is_refused(tmp_path, home):
    (tmp_path / "downloads").mkdir()
    (tmp_path / "downloads/record").write_text('{"files": [3]}')
    _, done = prepare(tmp_path, home(ANTIQUE), tmp_path / "downloads/record", {"test": "antique/test"})
    assert "this is not a record of what ir_datasets fetched" in refusal(done)


def check(tmp_path, home, location, ids, **fields):
    source = {"name": "datasets.d", "location": location, "ids": ids, "download": str(tmp_path / "none"), **fields}
    return call("check", home, settings={"mirrors": [], "sources": [source]})


def test_a_check_finds_what_lies_here_and_writes_nothing(tmp_path, home):
    done = check(tmp_path, home(ANTIQUE), "ir_datasets:antique", ["antique/test"])
    assert done.returncode == 0 and "knows it, its files are here" in done.stdout
    assert not (tmp_path / "none").exists()


def test_a_check_tells_unknown_ids_and_fields_and_what_only_the_user_can_get(tmp_path, home):
    lies = home(ANTIQUE)
    for location, ids, fields, said in [
        ("ir_datasets:antique", ["antique/tst"], {}, "knows no such id; near are antique/test"),
        ("ir_datasets:antique", ["antique/test"], {"fields": ["url"]}, "its documents have no 'url'"),
        ("ir_datasets:aquaint", ["aquaint/trec-robust-2005"], {}, "ir_datasets:aquaint: cannot be fetched:"),
        ("ir_datasets:beir/nfcorpus", ["beir/nfcorpus/test"], {}, "public.ukp.informatik.tu-darmstadt.de"),
    ]:
        assert said in refusal(check(tmp_path, lies, location, ids, **fields))


def test_relevance_quality_and_stance_are_the_grades_that_a_dataset_asks_for(tmp_path, home):
    place, name = home(TOUCHE), "clueweb12/touche-2022-task-2"
    record, done = fetch(tmp_path, place, f"ir_datasets:{name}", name)
    assert done.returncode == 0, done.stderr
    for field, grades in (("relevance", (2, 1)), ("quality", (0, 2)), ("stance", (1, 0))):
        out, done = prepare(tmp_path, place, record, {"test": name}, grade_field=field)
        assert done.returncode == 0, done.stderr
        assert read_qrels(out / "qrels/test.qrels") == {"2": dict(zip(("c-1___1", "c-1___2"), grades, strict=True))}
    _, done = prepare(tmp_path, place, record, {"test": name}, grade_field="rank")
    assert "judgements have no field 'rank'; they have query_id, doc_id, relevance, quality, stance" in done.stderr
