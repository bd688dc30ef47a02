"""`make new`: what it makes of each layout, and what it refuses."""

import itertools
import json
import os
import re

import pytest
import yaml

from ranktrial.api.reading import gathered
from ranktrial.common.errors import UserError
from ranktrial.new import front
from ranktrial.new.draft import description, meaning
from ranktrial.new.folder import read_folder
from tests.new import folders
from tests.support.one_line import refused


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "config").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def drafted(place="data", measure=""):
    folder = read_folder(place)
    return front.text_of(front.draft(front.look(folder, measure)), folder, front.CONFIGURATIONS / "mine.yaml")


def configuration(place="data", measure=""):
    return yaml.safe_load(drafted(place, measure))


@pytest.mark.parametrize("layout", folders.LAYOUTS)
def test_each_layout_becomes_a_configuration_whose_keys_have_their_sentences(here, layout):
    folders.LAYOUTS[layout](here / "data")
    text = drafted()
    formats = {entry["format"] for entry in yaml.safe_load(text)["datasets"].values()}
    assert formats == {"qrels" if layout == "runs" else layout}
    assert text.startswith("# yaml-language-server: $schema=schema.editor.json\n# Written by `make new` from data: ")
    keys = [("experiment",), ("datasets",), ("comparisons", "x", "control")]
    comment = " ".join(line.strip().removeprefix("# ") for line in text.splitlines() if line.strip().startswith("#"))
    assert all(description(key) and description(key) in comment for key in keys)
    assert max(map(len, text.splitlines())) < 121


@pytest.mark.parametrize("layout", folders.LAYOUTS)
def test_what_is_said_of_a_key_is_for_the_entry_at_hand_and_begins_with_its_subject(here, layout):
    folders.LAYOUTS[layout](here / "data")
    lines = [line.strip() for line in drafted().splitlines()]
    starts = [line for before, line in itertools.pairwise(lines) if line[:1] == "#" != before[:1]]
    assert starts and not [line for line in starts if re.match(r"# (of|in|on|for|by|from|with|external:|trec:) ", line)]


def test_what_is_said_for_other_kinds_is_left_out():
    location = ("datasets", "x", "location")
    assert meaning(location, "qrels").endswith("ir_datasets:ID or hub:ID; or a single file") and "letor" in description(
        location
    )
    assert meaning(location, "beir").endswith("ir_datasets:ID or hub:ID")
    assert meaning(("models", "x", "type"), "bi-encoder").startswith("each text becomes a vector")
    assert meaning(("systems", "x", "scores"), "external").startswith("one file of values per task")
    assert meaning(("systems", "x", "scores"), "") == description(("systems", "x", "scores"))


def test_runs_have_the_sha256_of_their_judgements_and_each_task_is_found_by_content(here):
    folders.runs(here / "data")
    found = configuration()
    assert found["datasets"]["covid"]["sha256"] == os.popen("sha256sum data/covid_qrels.txt").read().split()[0]
    assert found["systems"]["dense"]["runs"] == {
        "covid": "data/dense/covid_top4.txt",
        "news": "data/dense/news_top4.txt",
    }
    assert found["comparisons"] == {"against-bm25": {"control": "bm25", "treatment": "dense"}}


def test_the_control_is_found_by_its_name_and_the_file_says_why(here):
    values = "id,alpha,my_baseline,zeta\nq1,0.1,0.2,0.3\nq2,0.2,0.1,0.4\n"
    folders.write(here / "data", {"accuracy.csv": values})
    (entry,) = configuration()["comparisons"].values()
    assert entry["control"].endswith("my_baseline")
    assert f"# The control is {entry['control']}, by its name." in drafted()
    folders.write(here / "others", {"accuracy.csv": values.replace("my_baseline", "beta")})
    (entry,) = configuration("others")["comparisons"].values()
    assert entry["control"].endswith("alpha")
    assert f"# The control is {entry['control']}, the first system, since no name contains" in drafted("others")


@pytest.mark.parametrize("layout", folders.LAYOUTS)
def test_measures_are_written_where_there_are_judgements(here, layout):
    folders.LAYOUTS[layout](here / "data")
    found = configuration()
    judged = layout != "scores"
    assert ("measures" in found) == judged and (not judged or found["measures"][:2] == ["nDCG@10", "RR@10"])


def test_measures_look_no_deeper_than_runs(here):
    files = {"qrels.txt": "".join(f"q{n} 0 d{n} 1\n" for n in range(9))}
    for system, depth in (("a", 120), ("b", 50)):
        lines = [f"q{n} Q0 d{rank} {rank} {1 / rank} x\n" for n in range(9) for rank in range(1, depth + 1)]
        files |= {f"{system}.run": "".join(lines)}
    folders.write(here / "data", files)
    assert configuration()["measures"] == ["nDCG@10", "RR@10", "AP@5", "Judged@10"]
    assert "# Not measured: R@100, since b.run has at most 50 documents per query." in drafted()


def with_more_queries(folder, **numbers):
    """A collection in BEIR's layout with as many judged queries of further splits."""
    folders.beir(folder)
    for split, number in numbers.items():
        judged = "".join(f"{split}{n}\td{n % 8 + 1}\t1\n" for n in range(number))
        texts = "".join(json.dumps({"_id": f"{split}{n}", "text": f"fire {n}"}) + "\n" for n in range(number))
        whole = (folder / "queries.jsonl").read_text() + texts
        folders.write(folder, {f"qrels/{split}.tsv": "query-id\tcorpus-id\tscore\n" + judged, "queries.jsonl": whole})


def test_bm25_is_tuned_where_each_collection_has_dev_queries_or_enough_to_split_off(here):
    for name, numbers in (("a", {"train": 120}), ("b", {"dev": 20})):
        with_more_queries(here / "data" / name, **numbers)
    found = configuration()
    assert found["systems"]["bm25"] == {"type": "bm25", "tune": True}
    assert [found["datasets"][name].get("splits") for name in "ab"] == [{"dev": 0.1}, None]
    folders.beir(here / "data/c")
    found = configuration()
    assert found["systems"]["bm25"] == {"type": "bm25"} and "splits" not in found["datasets"]["a"]


def test_a_collection_with_training_queries_has_a_fine_tuned_system(here):
    def collection(queries):
        with_more_queries(here / "data", train=queries)
        return configuration()

    found = collection(60)
    assert found["recipes"]["hard"]["train_on"] == "data" and "queries" not in found["recipes"]["hard"]
    assert found["systems"]["tuned"] == {"model": "minilm", "recipe": "hard", "seeds": 2}
    assert "splits" not in found["datasets"]["data"] and found["systems"]["bm25"] == {"type": "bm25"}
    larger = collection(120)
    assert larger["datasets"]["data"]["splits"] == {"dev": 0.1} and larger["systems"]["bm25"]["tune"] is True
    found = collection(60)
    assert found["comparisons"]["against-bm25"]["treatment"] == ["minilm", "tuned"]
    assert "learns from 60 training queries of data" in drafted()
    assert collection(2500)["recipes"]["hard"]["queries"] == 2000 and "2,000 of 2,500 training queries" in drafted()
    assert "recipes" not in collection(40)


def test_a_system_without_a_task_is_compared_on_those_that_it_has(here):
    folders.runs(here / "data")
    (here / "data/dense/news_top4.txt").unlink()
    compared = {"dense-against-bm25": {"control": "bm25", "treatment": "dense", "tasks": ["covid"]}}
    assert configuration()["comparisons"] == compared


def test_several_collections_are_several_tasks_and_splits_are_those_that_are_there(here):
    folders.beir(here / "data/a")
    folders.beir(here / "data/b", ("dev", "train"))
    folders.beir(here / "data/c", ("train",))
    found = configuration()
    assert found["tasks"] == ["a", "b/dev", "c"] and found["datasets"]["c"]["splits"] == {"test": 0.2}
    assert found["datasets"]["a"] == {"format": "beir", "location": "data/a"}


def test_a_query_that_may_be_a_document_is_treated(here):
    folders.write(
        folders.beir(here / "data"), {"corpus.jsonl": '{"_id": "q1", "text": "flood q1"}\n{"_id": "d1", "text": "x"}\n'}
    )
    assert configuration()["datasets"]["data"]["own_document"] == "drop"


def test_files_of_splits_and_many_files_of_documents(here):
    folders.trec(here / "data")
    document = '{"id": "d%s", "contents": "x"}\n'
    folders.write(
        here / "data", {f"docs/{n}.jsonl": document % n for n in range(6)} | {"train-qrels.txt": folders.qrels()}
    )
    (here / "data/docs/disk.sgml").unlink()
    entry = configuration()["datasets"]["data"]
    assert entry["documents"] == ["docs/*"] and entry["qrels"] == {"test": "qrels.txt", "train": "train-qrels.txt"}


@pytest.mark.parametrize("heading", ["", "id\tscore\n"])
def test_scores_in_a_file_per_system_and_in_a_folder_per_system(here, heading):
    values = heading + ("a\t1\nb\t0.5\nc\t0\n" if heading else "1\n0.5\n0\n")
    folders.write(here / "data", {"x.txt": values, "y.txt": values.replace("0.5", "0.6")})
    assert configuration()["systems"]["x"]["scores"] == {"data": "data/x.txt"}
    folders.write(here / "more", {f"{system}/{task}/eval.txt": values for system in "pq" for task in ("rte", "cola")})
    assert configuration("more")["systems"]["p"]["scores"] == {
        "cola": "more/p/cola/eval.txt",
        "rte": "more/p/rte/eval.txt",
    }


def test_scores_in_a_file_per_system_and_task_side_by_side(here):
    folders.write(
        here / "data", {f"{system}.{task}.tsv": "q1\t0.5\nq2\t1\n" for system in "pq" for task in ("rte", "cola")}
    )
    assert configuration()["systems"]["q"]["scores"] == {"cola": "data/q.cola.tsv", "rte": "data/q.rte.tsv"}


@pytest.mark.parametrize(
    ("files", "given", "measure"),
    [
        ({"a.txt": "1\n0\n", "b.txt": "0\n1\n"}, "", "score"),
        ({"a.txt": "1\n0\n", "b.txt": "0\n1\n"}, "exact match", "exact match"),
        ({"a/eval_rte_accuracy.txt": "1\n0\n", "b/eval_rte_accuracy.txt": "0\n1\n"}, "", "accuracy"),
        ({"a/eval_rte_accuracy.txt": "1\n0\n", "b/eval_rte_accuracy.txt": "0\n1\n"}, "F1", "F1"),
        ({"a.tsv": "id\tnDCG@10\nq\t1\nr\t0\n", "b.tsv": "id\tnDCG@10\nq\t0\nr\t1\n"}, "", "nDCG@10"),
        ({"a.tsv": "id\tvalue\nq\t1\nr\t0\n", "b.tsv": "id\tvalue\nq\t0\nr\t1\n"}, "", "score"),
        ({"rte_f1.csv": "id,a,b\nq,1,0\nr,0,1\n", "cola_mcc.csv": "id,a,b\nq,1,0\nr,0,1\n"}, "", "score"),
    ],
)
def test_scores_are_of_the_measure_that_is_given_or_that_all_files_name(here, files, given, measure):
    folders.write(here / "data", files)
    found = configuration(measure=given)
    assert {entry["measure"] for entry in found["datasets"].values()} == {measure}
    assert {entry["measure"] for entry in found["comparisons"].values()} == {measure}
    assert ("in place of `score`" in drafted(measure=given)) == (measure == "score")


def test_a_measure_is_refused_where_there_are_no_scores(here):
    folders.runs(here / "data")
    with pytest.raises(UserError, match="MEASURE=accuracy: names the values of files of scores, and these are none"):
        configuration(measure="accuracy")


@pytest.mark.parametrize("layout", folders.LAYOUTS)
def test_files_that_are_left_out_are_named(here, layout):
    folders.LAYOUTS[layout](here / "data")
    assert "Left out" not in drafted()
    folders.write(here / "data", {"notes.md": "# Data\n", "z/README": "See the paper, please.\n"})
    assert "\n# Left out: notes.md, z/README\n" in drafted()
    folders.write(here / "data", {f"p{number}.html": "<html>\n<body>\n" for number in range(10)})
    assert re.search(r"# Left out: notes.md, p0.html, .*p8.html and 2 more\n", drafted())


UNREAD = [
    ("q1,0.5,0.25\nq2,0.75,1.0\n", "scores in several columns need a heading"),
    ("", "empty"),
    ("query_id,a,b\n", "no rows below the heading"),
    ("query_id,1,2,nan\nq1,0.5,0.25,1\n", "columns cannot be called '1', '2', 'nan'; expected names with letters"),
    ("query_id;1\nq1;0,5\n", "columns cannot be called '1'; expected names with letters"),
    ("query_id\ta\tb\nq1\t1\t0\n".encode("utf-16"), "UTF-16 text; expected UTF-8"),
    ('query_id,query,a,b\nq1,x,1,0\nq2,"two\nlines",1,0\n', "a line break within quotes"),
    ('query_id;"a\n', "quotes that do not close"),
]


@pytest.mark.parametrize(("text", "reason"), UNREAD)
def test_a_table_that_is_left_out_has_its_own_reason_by_which_it_is_refused_alone(here, text, reason):
    folders.scores(here / "data")
    (here / "data/sst2.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    found = " ".join(drafted().replace("\n#", "").split())
    assert "Left out: sst2.csv (" in found and reason in found
    with refused(reason, start="data/sst2.csv"):
        gathered(["data/sst2.csv"])


LOOKED_FOR = (
    "looked for BEIR's layout (corpus.jsonl, queries.jsonl, qrels/test.tsv); TREC files (documents, topics and qrels); "
    "Ranger's config.yaml (eval_metrics, or qrels and available_rankings); MTEB's results (a folder per model, with a "
    "JSON file per task)"
)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"notes.md": "# Data\n"}, f"data: {LOOKED_FOR}; runs with their qrels; long tables (a value per row, with "
                                   "columns that name system, task, query, measure); scores (a CSV or TSV per task with a "
                                   "column per system, or SYSTEM/TASK.txt or SYSTEM.TASK.txt); of 1 files: none of these"),
        ({}, "of 0 files: none of these"),
        ({"a.run": "q1 Q0 d1 1 9.5 t\n"}, "of 1 files: run (1)"),
        ({"corpus.jsonl": "{}\n"}, "data: has a corpus, and no judgements in qrels/test.tsv, dev.tsv or train.tsv"),
        ({"corpus.jsonl": "{}\n", "qrels/test.tsv": "q\td\t1\n"}, "data/queries.jsonl: no such file"),
        ({"a.run": "q1 Q0 d1 1 9.5 t\n", "qrels.txt": "q7 0 d1 1\n"}, "data/a.run: none of its queries is in the qrels of data"),
        ({"x.csv": "id,a,b\nq,1,2\nr,1\n"}, "data/x.csv:3: 2 columns; expected 3"),
        ({"x{y}.csv": "id,a,b\nq,1,2\n"}, "the file 'x{y}.csv' is not a path without the characters"),
        ({"x\ny.csv": "id,a,b\nq,1,2\n"}, "the file 'x\\ny.csv' contains a control character"),
        ({"a.run": "q1 Q0 d1 1 9.5 t\n", "日.run": "q1 Q0 d1 1 9.5 t\n", "qrels.txt": "q1 0 d1 1\n"}, "have the same name but for signs"),
    ],
)  # fmt: skip
def test_a_folder_that_cannot_be_read_is_one_line(here, files, said):
    (here / "data").mkdir()
    folders.write(here / "data", files)
    with refused(said):
        drafted()


@pytest.mark.parametrize(
    ("given", "said"),
    [("", "no folder is given; expected FOLDER=path"), ("nowhere", "nowhere: no such folder"), (".", "of ranktrial itself"),
     ("a{b}", "rename it"), ("a\nb", "contains a character that cannot be printed"), ("http://x", "begins as an address does")],
)  # fmt: skip
def test_a_place_that_is_none_is_refused(given, said):
    front.Path("Snakefile").touch()
    with refused(said):
        read_folder(given)


def test_pipes_hidden_files_and_links_to_nowhere_are_passed_over(here):
    folders.scores(here / "data")
    os.mkfifo(here / "data/pipe")
    (here / "data/.hidden.csv").write_text("id,a\nx,1\n")
    (here / "data/gone.csv").symlink_to("nowhere")
    assert read_folder("data").files == ("cola.csv", "rte.csv")
    assert read_folder(str(here / "data")).place == "data"


def test_a_file_that_is_there_is_never_overwritten_and_nothing_half_written_stays(here):
    (here / "config/mine.yaml").symlink_to("elsewhere")
    for place in (front.CONFIGURATIONS / "mine.yaml", here / "no/mine.yaml"):
        with pytest.raises(UserError, match=r"exists already; choose another place|no folder"):
            front.write_new(place, "x")
    front.write_new(front.CONFIGURATIONS / "other.yaml", "x")
    assert sorted(path.name for path in (here / "config").iterdir()) == ["mine.yaml", "other.yaml"]


def entries_in(folder, files, folders, hidden):
    """Fill each of three folders with files, empty folders and hidden files."""
    for part in ("a", "b", "c"):
        (folder / part).mkdir(parents=True)
        for number in range(files):
            (folder / part / str(number)).touch()
        for number in range(folders):
            (folder / part / f"f{number}").mkdir()
        for number in range(hidden):
            (folder / part / f".{number}").touch()


@pytest.mark.parametrize("each", [(2, 0, 0), (0, 2, 0), (0, 0, 2), (1, 1, 0)])
def test_all_entries_of_a_folder_count_together(here, monkeypatch, each):
    entries_in(here / "data", *each)
    monkeypatch.setattr("ranktrial.new.folder.MOST_ENTRIES", 9)
    read_folder("data")
    monkeypatch.setattr("ranktrial.new.folder.MOST_ENTRIES", 8)
    with refused("data: more than 8 files and folders; expected the folder of a collection"):
        read_folder("data")


@pytest.mark.parametrize("character", "\u2028\u2029\x85\n\r\x00\u202e")
def test_a_measure_cannot_end_the_comment_that_names_it(here, character):
    folders.scores(here / "data")
    with refused("MEASURE=acc", "expected a name such as accuracy"):
        drafted(measure=f"acc{character}mirrors: [/etc]")


@pytest.mark.parametrize(
    "measure", ["# x", "a: b", "!!python/object:x y", "*a", "&a b", "{", "'", '"', "%TAG", "acc\\x85"]
)
def test_a_measure_is_a_text_whatever_it_contains_or_refused(here, measure):
    folders.scores(here / "data")
    try:
        found = configuration(measure=measure)
    except UserError as error:
        assert "\n" not in str(error)
    else:
        assert {entry["measure"] for entry in found["datasets"].values()} == {measure} and "mirrors" not in found
