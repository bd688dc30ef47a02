"""Datasets of the hub: the layouts of MTEB, BEIR and BRIGHT, from a hub on this machine, a mirror and folders."""

import json
import zipfile
from itertools import pairwise
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from huggingface_hub import constants

from ranktrial.common.errors import UserError
from ranktrial.configuration.reading import complete, configuration
from ranktrial.datasets.from_hub import fetch_dataset
from ranktrial.engine.downloads import names, place_of, sources
from ranktrial.ir.collection import read_corpus, read_excluded, read_queries
from ranktrial.ir.trec import read_qrels
from scripts.datasets import check
from tests.support.hub import serving
from tests.support.located import refusal, with_dataset
from tests.support.prepared import prepare

COMMIT, OTHER = "a" * 40, "b" * 40
CORPUS = [{"_id": "d1", "title": "Ice", "text": "salt melts it"}, {"_id": "d2", "title": None, "text": "sand"}]
QUERIES = [{"_id": "q1", "text": "what melts ice"}, {"_id": "q2", "text": "is sand cold"}]
JUDGED = [{"query-id": "q1", "corpus-id": "d1", "score": 2}, {"query-id": "q1", "corpus-id": "d2", "score": 0}]
TRAINED = [{"query-id": "q2", "corpus-id": "d2", "score": 1}]
CARD = """---
license: cc-by-4.0
configs:
- config_name: default
  data_files:
  - {split: test, path: qrels/test.jsonl}
  - {split: train, path: [qrels/train.jsonl]}
- config_name: corpus
  data_files: [{split: corpus, path: corpus.*}]
- config_name: queries
  data_files: queries.jsonl
---
# A collection
"""


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def table(records):
    """The bytes of a parquet file."""
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(records), sink)
    return sink.getvalue().to_pybytes()


def tsv(records):
    return "".join("\t".join(map(str, record.values())) + "\n" for record in records).encode()


MTEB = {
    "README.md": CARD.encode(),
    "corpus.jsonl": lines(CORPUS),
    "queries.jsonl": lines(QUERIES),
    "qrels/test.jsonl": lines(JUDGED),
    "qrels/train.jsonl": lines(TRAINED),
    "qrels/test.tsv": b"not read\n",
    "more/vectors.parquet": b"not fetched",
}
SHARDED = {
    "corpus/corpus-00000-of-00002.parquet": table(CORPUS[:1]),
    "corpus/corpus-00001-of-00002.parquet": table(CORPUS[1:]),
    "queries/queries-00000-of-00001.parquet": table(QUERIES),
}
APART = {"README.md": b"# Judgements of a collection\n", "test.tsv": tsv(JUDGED), "train.tsv": tsv(TRAINED)}
WHOLE = SHARDED | {f"qrels/{name}": content for name, content in APART.items() if name != "README.md"}
LANGUAGES = {
    f"{part}-{split}.parquet" if split == "x" else f"{language}-{part}/{split}-00000-of-00001.parquet": table(records)
    for language in ("sw", "yo")
    for part, split, records in (("corpus", "dev", CORPUS), ("queries", "dev", QUERIES), ("qrels", "dev", JUDGED))
}
PROBLEMS = [
    {"query": "what melts ice", "id": "q1", "excluded_ids": ["d2"], "gold_ids": ["d1"]},
    {"query": "is sand cold", "id": "q2", "excluded_ids": ["N/A"], "gold_ids": ["d2"]},
]
DOCUMENTS = [{"id": one["_id"], "content": one["text"]} for one in CORPUS]
BRIGHT = {
    f"{folder}/{domain}-00000-of-00001.parquet": table(records)
    for domain in ("biology", "pony")
    for folder, records in (("documents", DOCUMENTS), ("examples", PROBLEMS))
}


def laid_out(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def prepared(folder, target, **entry):
    prepare(folder, target, {"format": "hub", "seed": 1} | entry)
    splits = [split for split in ("train", "dev", "test") if (target / f"qrels/{split}.qrels").read_text()]
    return list(read_corpus(target / "corpus.jsonl")), {
        split: (read_queries(target / f"queries/{split}.jsonl"), read_qrels(target / f"qrels/{split}.qrels"))
        for split in splits
    }


TEST = ({"q1": "what melts ice"}, {"q1": {"d1": 2, "d2": 0}})
TRAIN = ({"q2": "is sand cold"}, {"q2": {"d2": 1}})


@pytest.mark.parametrize("files", [MTEB, WHOLE], ids=["a card and JSON lines", "parquet by names"])
def test_corpus_queries_and_judgements_are_found_by_a_card_or_by_names(tmp_path, files):
    documents, splits = prepared(laid_out(tmp_path / "in", files), tmp_path / "out")
    assert [tuple(document) for document in documents] == [("d1", "Ice", "salt melts it"), ("d2", "", "sand")]
    assert splits == {"train": TRAIN, "test": TEST}


def test_an_archive_in_the_layout_is_read_too(tmp_path):
    with zipfile.ZipFile(tmp_path / "whole.zip", "w") as archive:
        for name, content in WHOLE.items():
            archive.writestr(f"scifact-main/{name}", content)
    assert prepared(tmp_path / "whole.zip", tmp_path / "out")[1] == {"train": TRAIN, "test": TEST}


def test_a_subset_is_the_beginning_of_a_configurations_name_or_a_split(tmp_path):
    folder = laid_out(tmp_path / "languages", LANGUAGES)
    assert prepared(folder, tmp_path / "sw", subset="sw")[1] == {"dev": TEST}
    folder = laid_out(tmp_path / "bright", BRIGHT)
    documents, splits = prepared(folder, tmp_path / "biology", subset="biology")
    assert [document.text for document in documents] == ["salt melts it", "sand"]
    assert splits == {"test": ({"q1": "what melts ice", "q2": "is sand cold"}, {"q1": {"d1": 1}, "q2": {"d2": 1}})}


def test_documents_that_the_data_exclude_for_a_query_are_excluded(tmp_path):
    folder = laid_out(tmp_path / "bright", BRIGHT)
    prepared(folder, tmp_path / "biology", subset="biology")
    assert read_excluded(tmp_path / "biology/queries/test.jsonl") == {"q1": {"d2"}}
    (tmp_path / "pairs.tsv").write_text("q2\td1\n")
    prepare(folder, tmp_path / "both", {"format": "hub", "seed": 1, "subset": "pony"}, excluded=tmp_path / "pairs.tsv")
    assert read_excluded(tmp_path / "both/queries/test.jsonl") == {"q1": {"d2"}, "q2": {"d1"}}


def changed(**files):
    """BEIR's layout with other files, by the beginning of their names; None leaves one out."""
    kept = {name: content for name, content in WHOLE.items() if not name.startswith(tuple(files))}
    return kept | {
        next(name for name in WHOLE if name.startswith(start)): content
        for start, content in files.items()
        if content is not None
    }


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{one}'] * 10)}]\n" for one, name in pairwise("abcdefghi")
)
BAD = {
    "columns of documents": (
        changed(corpus=table([{"key": 1, "body_html": "x"}])) | {"corpus/corpus-00001-of-00002.parquet": b""},
        r"corpus-00000-of-00002\.parquet: has the columns key, body_html; documents need id as _id or id or docno",
    ),
    "columns of queries": (changed(queries=table([{"_id": "q1", "words": "x"}])), r"queries-00000-of-00001\.parquet: has the columns _id, words; queries need text as text or query"),
    "columns of judgements": (changed(qrels=None) | {"qrels/test.jsonl": lines([{"q": "q1", "d": "d1"}])}, r"qrels/test\.jsonl: has the columns q, d; judgements need query as query-id"),
    "no judgements": (changed(qrels=None), r"there are neither judgements \(default or qrels\) nor a column gold_ids"),
    "a missing shard": (
        {name: content for name, content in WHOLE.items() if "00001-of" not in name},
        r"corpus/corpus-00001-of-00002\.parquet is missing: the file beside it says that there are 2",
    ),
    "no queries": (changed(queries=None), r"no configuration with the queries: expected queries or query or ex"),
    "a damaged table": (changed(queries=b"PAR1 and no more"), r"queries-00000-of-00001\.parquet: not a parquet file, or"),
    "a damaged card": (WHOLE | {"README.md": b"---\nconfigs: [{config_name: x}]\n---\n"}, r"README\.md: its head can"),
    "aliases in a card": (
        WHOLE | {"README.md": f"---\n{LAUGHS}configs: [{{config_name: *i, data_files: x}}]\n---\n".encode()},
        r"README\.md:6: contains more than 100,000 values, with its aliases expanded",
    ),
    "a list as a name in a card": (WHOLE | {"README.md": b"---\nconfigs: [{config_name: [a], data_files: x}]\n---\n"}, r"README\.md: its head cannot be read; expected under configs"),
    "a mapping as a pattern in a card": (
        WHOLE | {"README.md": b"---\nconfigs: [{config_name: a, data_files: {split: test, path: {a: b}}}]\n---\n"},
        r"README\.md: its head cannot be read; expected under configs",
    ),
    "an invisible character in a card": (
        WHOLE | {"README.md": b'---\nconfigs: [{config_name: "a\\u202eb", data_files: x}]\n---\n'},
        r"README\.md: its head cannot be read; expected under configs",
    ),
    "two texts": (changed(queries=table([*QUERIES, {"_id": "q1", "text": "no"}])), "row 3: query q1 has another text"),
    "another split": (
        changed(qrels=None) | {f"qrels/{split}.jsonl": lines(JUDGED) for split in ("test", "heldout")},
        "judgements have the split heldout; expected train, dev, validation, test",
    ),
    "a grade": (changed(qrels=None) | {"qrels/test.jsonl": lines([JUDGED[0] | {"score": None}])}, r"qrels/test\.jsonl:1: grade 'None' is not an integer"),
}  # fmt: skip


@pytest.mark.parametrize(("files", "said"), BAD.values(), ids=BAD)
def test_what_is_not_understood_is_one_line(tmp_path, files, said):
    with pytest.raises(UserError, match=said) as error:
        prepared(laid_out(tmp_path / "in", files), tmp_path / "out")
    assert "\n" not in str(error.value) and not (tmp_path / "out").exists()


def test_several_corpora_need_a_subset(tmp_path):
    folder = laid_out(tmp_path / "in", BRIGHT)
    with pytest.raises(UserError, match="the corpus has the splits biology, pony; expected one: choose it by `sub"):
        prepared(folder, tmp_path / "out")
    with pytest.raises(UserError, match="expected art-corpus, or the split art of corpus or documents; there are d"):
        prepared(folder, tmp_path / "out", subset="art")


@pytest.fixture
def hub(monkeypatch):
    repositories = {
        "mteb/tiny": {COMMIT: MTEB},
        "BeIR/tiny": {COMMIT: SHARDED},
        "BeIR/tiny-qrels": {OTHER: APART},
        "xlangai/tiny": {COMMIT: BRIGHT},
    }
    with serving(repositories) as made:
        monkeypatch.setenv("HF_ENDPOINT", made.url)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        yield made


def fetched(target, location, revision=COMMIT, subset=None, judgements=None, mirrors=()):
    fetch_dataset(target, location, revision, subset, judgements, mirrors)
    return {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}


def test_only_the_files_of_the_collection_are_fetched(hub, tmp_path):
    whole = {name for name in MTEB if name not in ("qrels/test.tsv", "more/vectors.parquet")}
    assert fetched(tmp_path / "mteb", "hub:mteb/tiny") == whole == set(hub.given)
    assert prepared(tmp_path / "mteb", tmp_path / "out")[1] == {"train": TRAIN, "test": TEST}
    pony = {name for name in BRIGHT if "pony" in name}
    assert fetched(tmp_path / "bright", "hub:xlangai/tiny", subset="pony") == pony


def test_judgements_may_lie_in_a_repository_of_their_own(hub, tmp_path):
    apart = {"location": "hub:BeIR/tiny-qrels", "revision": OTHER}
    assert fetched(tmp_path / "beir", "hub:BeIR/tiny", judgements=apart) == set(WHOLE)
    assert prepared(tmp_path / "beir", tmp_path / "out")[1] == {"train": TRAIN, "test": TEST}


def test_a_mirror_with_the_commit_comes_first(hub, tmp_path):
    laid_out(tmp_path / f"mirror/deep/datasets--mteb--tiny/snapshots/{COMMIT}", MTEB)
    names_of_files = fetched(tmp_path / "got", "hub:mteb/tiny", mirrors=[tmp_path / "none", tmp_path / "mirror"])
    assert "corpus.jsonl" in names_of_files and "more/vectors.parquet" not in names_of_files and not hub.given


MOVED = rf"the hub does not have this commit, or no longer; give {COMMIT}, the current commit, or a mirror that has"


@pytest.mark.parametrize(
    ("location", "said"), [("hub:mteb/tiny", MOVED), ("hub:mteb/none", "cannot be fetched from the hub: 404")]
)
def test_a_commit_that_is_not_there_is_one_line_when_it_is_checked_and_when_it_is_fetched(
    hub, tmp_path, location, said
):
    with pytest.raises(UserError, match=rf"^{location} \(b{{12}}\): {said}[^\n]*$"):
        fetched(tmp_path / "got", location, OTHER)
    found = check.look(check.Source("d", location, str(tmp_path / "n"), revision=OTHER), [])
    assert found.missing and "\n" not in found.state and not list(tmp_path.iterdir())


def test_the_check_asks_for_both_repositories_and_for_mirrors_first(hub, tmp_path):
    def asked(commit):
        apart = {"location": "hub:BeIR/tiny-qrels", "revision": commit}
        return check.look(
            check.Source("d", "hub:BeIR/tiny", str(tmp_path / "n"), revision=COMMIT, judgements=apart), []
        )

    assert asked(OTHER).state == "the hub has the commit, 3 files"
    assert asked(COMMIT).missing and asked(COMMIT).state.startswith("hub:BeIR/tiny-qrels (aaaaaaaaaaaa): the hub does")
    laid_out(tmp_path / f"mirror/datasets--mteb--tiny/snapshots/{COMMIT}", MTEB)
    source = check.Source("d", "hub:mteb/tiny", str(tmp_path / "n"), revision=COMMIT)
    assert check.look(source, [tmp_path / "mirror"]).state.startswith("in a mirror: ")


HERE = {"format": "hub", "location": "hub:mteb/tiny", "revision": COMMIT}
REFUSED = {
    "no revision": ({"revision": ...}, "revision: is missing; expected a commit, 40 digits"),
    "a branch": ({"revision": "main"}, "revision: 'main' can move; expected a commit"),
    "no id": ({"location": "hub:scifact"}, "location: 'hub:scifact' does not have the form hub:ORGANISATION/NAME"),
    "a sum": ({"sha256": "0" * 64}, "sha256: hub has a commit, which says what each file is; leave it out"),
    "judgements": (
        {"judgements": {"location": "hub:a/b", "revision": "v1"}},
        "judgements.revision: 'v1' can move; expected a commit",
    ),
    "another format": ({"format": "beir", "revision": ...}, "location: 'hub:mteb/tiny' is for the format hub, and"),
    "a folder": ({"location": "tests"}, "revision: only valid with hub:ID; 'tests' are the files themselves"),
    "no collection": ({"location": "docs", "revision": ...}, "location: docs: no configuration with the corpus"),
}


@pytest.mark.parametrize(("entry", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_pinned_is_refused_before_work_begins(entry, said, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[2])
    kept = {key: value for key, value in (HERE | entry).items() if value is not ...}
    assert said in refusal(with_dataset(**kept))


def test_subsets_of_one_repository_are_downloads_of_their_own():
    entries = {name: HERE | {"subset": name} for name in ("biology", "pony")}
    config = {"experiment": "e", "datasets": entries, "systems": {"bm25": {"type": "bm25"}}, "tasks": ["biology"]}
    datasets = configuration(complete(config, "c.yaml")[0], "c.yaml").datasets
    wanted = sources(datasets, {}, "c.yaml")
    expected = {"location": "hub:mteb/tiny", "revision": COMMIT, "subset": "pony"}
    assert wanted[place_of(datasets["pony"])] == expected
    assert len(set(names(wanted.values(), {}))) == 2


@pytest.mark.parametrize("name", ["scifact", "nfcorpus"])
def test_real_collections_in_the_hubs_layout_are_those_of_their_folders(tmp_path, shared_data, name):
    """Parquet in shards, as the hub holds them, against BEIR's archive: the prepared files are equal byte for byte."""
    entry = {"seed": 1, "format": "beir"}
    prepare(shared_data / f"beir/{name}.zip", tmp_path / "beir", entry)
    laid_out(tmp_path / "hub", as_on_the_hub(shared_data / f"beir/{name}.zip", name))
    prepare(tmp_path / "hub", tmp_path / "out", entry | {"format": "hub"})
    written = {path.relative_to(tmp_path / "beir") for path in (tmp_path / "beir").rglob("*") if path.is_file()}
    assert len(written) == 8
    assert {
        file for file in written if (tmp_path / "beir" / file).read_bytes() != (tmp_path / "out" / file).read_bytes()
    } == set()


def as_on_the_hub(archive, name):
    """The files of a collection in BEIR's layout as the hub has them."""
    with zipfile.ZipFile(archive) as packed:
        content = {entry.removeprefix(f"{name}/"): packed.read(entry).decode() for entry in packed.namelist()}
    documents = [json.loads(line) for line in content["corpus.jsonl"].splitlines()]
    documents = [{key: document[key] for key in ("_id", "title", "text")} for document in documents]
    queries = [json.loads(line) for line in content["queries.jsonl"].splitlines()]
    half = len(documents) // 2
    files = {
        "corpus/corpus-00000-of-00002.parquet": table(documents[:half]),
        "corpus/corpus-00001-of-00002.parquet": table(documents[half:]),
        "queries/queries-00000-of-00001.parquet": table(
            [{key: query[key] for key in ("_id", "text")} for query in queries]
        ),
    }
    for entry, text in content.items():
        if entry.endswith(".tsv"):
            columns = [line.split("\t") for line in text.splitlines()[1:]]
            judged = [
                {"query-id": query, "corpus-id": document, "score": int(grade)} for query, document, grade in columns
            ]
            files[f"qrels/{Path(entry).stem}-00000-of-00001.parquet"] = table(judged)
    return files
