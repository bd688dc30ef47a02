"""`make new` for tables of scores: which axis is which, long tables of other tools, and leaderboards."""

import json

import pytest
import yaml

from ranktrial.common.errors import UserError
from ranktrial.experiment.resolution import resolve
from ranktrial.ir.scores import read_scores
from ranktrial.new import front
from ranktrial.new.folder import read_folder
from tests.new import folders

IDS = ["q1", "q2", "q3"]
LONG = "system,task,query_id,measure,value\n" + "".join(
    f"{system},{task},{query},{measure},0.{number}\n"
    for system in ("bm25", "e5")
    for task in ("news", "covid 19")
    for number, query in enumerate(IDS, 1)
    for measure in ("AP", "nDCG@10")
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "config").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def drafted(files, **given):
    folders.write(front.Path("data"), files)
    folder = read_folder("data")
    text = front.text_of(front.draft(front.look(folder, **given)), folder, front.CONFIGURATIONS / "mine.yaml")
    config = yaml.safe_load(text)
    resolve(yaml.safe_load(text), "c.yaml")
    files_of = {
        name: {"column": entry.get("column"), **{task: str(file) for task, file in entry["scores"].items()}}
        for name, entry in config["systems"].items()
    }
    return " ".join(line.lstrip("# ") for line in text.splitlines() if line.startswith("#")), config, files_of


def wide(*names):
    return "query_id," + ",".join(names) + "\n" + "".join(f"{q},{','.join('0.5' for _ in names)}\n" for q in IDS)


@pytest.mark.parametrize(
    ("files", "given", "columns"),
    [
        ({"bert.csv": wide("sst2", "rte"), "distilbert.csv": wide("sst2", "rte")}, {}, "tasks"),
        ({"ours.csv": wide("RTE", "CoLA"), "theirs.csv": wide("RTE", "CoLA")}, {}, "tasks"),
        ({"bm25.csv": wide("a", "b"), "x.csv": wide("a", "b")}, {}, "tasks"),
        ({"rte.csv": wide("bm25", "dense"), "cola.csv": wide("bm25", "dense")}, {}, "systems"),
        ({"one.csv": wide("a", "b"), "two.csv": wide("a", "b")}, {}, "systems"),
        ({"one.csv": wide("a", "b"), "two.csv": wide("a", "b")}, {"columns": "tasks"}, "tasks"),
        ({"bert.csv": wide("sst2", "rte"), "b.csv": wide("sst2", "rte")}, {"columns": "systems"}, "systems"),
    ],
)
def test_the_axes_of_wide_tables_are_found_or_said_or_given(files, given, columns):
    text, config, systems = drafted(files, **given)
    stems = [file.removesuffix(".csv") for file in sorted(files)]
    named = list(next(iter(files.values())).split("\n")[0].split(",")[1:])
    assert list(config["systems"]) == (stems if columns == "tasks" else named)
    assert list(config["tasks"]) == (named if columns == "tasks" else stems)
    assert f"is read as a {columns[:-1]}" in text and "COLUMNS=" in text
    for name, entry in systems.items():
        assert entry["column"] == (None if columns == "tasks" else name)


def test_columns_of_measures_are_no_systems():
    text, config, systems = drafted({"bm25.csv": wide("AP", "nDCG@10"), "e5.csv": wide("AP", "nDCG@10")})
    assert list(systems) == ["bm25", "e5"] and {entry["measure"] for entry in config["datasets"].values()} == {"AP"}
    assert "are read as measures, of which one is compared" in text
    _, config, _ = drafted({}, measure="nDCG@10")
    assert {entry["measure"] for entry in config["datasets"].values()} == {"nDCG@10"}


def test_a_long_table_names_systems_tasks_and_the_measure():
    text, config, systems = drafted({"all.csv": LONG})
    assert systems == {
        name: {"column": name, "news": "data/all.csv", "covid-19": "data/all.csv"} for name in ("bm25", "e5")
    }
    assert {entry["measure"] for entry in config["datasets"].values()} == {"nDCG@10"}
    assert "Of its measures (nDCG@10, AP), the first is compared; MEASURE=NAME chooses another." in text
    assert "Read as a long table" in text and "The control is bm25" in text


def trec_eval(measures):
    rows = [(measure, query) for query in [*IDS, "all"] for measure in measures]
    return "".join(f"{measure:22}\t{query}\t0.5000\n" for measure, query in rows)


@pytest.mark.parametrize(
    "files",
    [
        {f"{name}.txt": trec_eval(["map", "ndcg_cut_10", "P_5"]) for name in ("bm25", "e5")},
        {f"{name}.eval": "".join(f"{q}\tnDCG@10\t0.5\n{q}\tAP\t0.5\n" for q in IDS) for name in ("bm25", "e5")},
        {f"{name}.csv": "task,sample,nDCG@10\n" + "".join(f"t,{q},0.5\n" for q in IDS) for name in ("bm25", "e5")},
        {"all.csv": "name,qid,measure,value\n" + "".join(f"{n},{q},nDCG@10,1\n" for n in ("bm25", "e5") for q in IDS)},
        {"all.jsonl": "".join(json.dumps({"model": n, "qid": q, "nDCG@10": 0.5}) + "\n" for n in ("bm25", "e5") for q in IDS)},
        {
            f"{name}/samples_gsm8k_2024-06-25T10-00-00.1.jsonl": "".join(
                json.dumps({"doc_id": n, "doc": {"q": 1}, "target": "4", "metrics": ["nDCG@10"], "nDCG@10": 0.5}) + "\n"
                for n in range(3)
            )
            for name in ("bm25", "e5")
        },
    ],
)  # fmt: skip
def test_the_output_of_evaluation_tools_is_read_as_it_is(files):
    _, config, systems = drafted(files)
    assert list(systems) == ["bm25", "e5"] and len(config["tasks"]) == 1
    assert {entry["measure"] for entry in config["datasets"].values()} == {"nDCG@10"}
    assert config["comparisons"]["against-bm25"]["treatment"] == "e5"


def test_a_heading_of_tasks_is_a_leaderboard():
    board = "task\tbm25\te5\n" + "".join(f"t{n}\t0.{n}\t0.5\n" for n in range(1, 6)) + "Average\t0.3\t0.5\n"
    _, config, systems = drafted({"scores.tsv": board}, measure="nDCG@10")
    assert config["datasets"] == {"scores": {"format": "leaderboard", "measure": "nDCG@10"}}
    assert systems["bm25"] == {"column": "bm25", "scores": "data/scores.tsv"}


def result(task, *scores, split="test"):
    subsets = [{"main_score": score, "hf_subset": str(n), "languages": ["eng-Latn"]} for n, score in enumerate(scores)]
    return json.dumps({"task_name": task, "mteb_version": "1.14", "scores": {split: subsets}}, indent=1)


def mteb(shift=0.0):
    files = {
        "SciFact.json": result("SciFact", 0.5 + shift),
        "MSMARCO.json": result("MSMARCO", 0.25 + shift, split="dev"),
    }
    files |= {"MIRACL.json": result("MIRACL", 0.25 + shift, 0.75 + shift), "model_meta.json": '{"name": "m"}'}
    return {f"rev1/{name}": text for name, text in files.items()}


def test_mtebs_results_folder_is_a_leaderboard():
    files = {
        f"{model}/{name}": text for model, shift in (("bge", 0), ("e5", 0.125)) for name, text in mteb(shift).items()
    }
    _, config, systems = drafted(files)
    assert config["datasets"] == {"data": {"format": "leaderboard", "measure": "main score"}}
    assert systems == {model: {"column": None, "data": f"data/{model}"} for model in ("bge", "e5")}
    assert read_scores(front.Path("data/e5")) == {"MIRACL": 0.625, "MSMARCO": 0.375, "SciFact": 0.625}


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("rev2/SciFact.json", result("SciFact", 0.5), "SciFact is in .*rev1/SciFact.json too; keep one revision"),
        ("rev1/X.json", result("X"), "X.json: no main_score of each subset"),
        ("rev1/X.json", '{"task_name": "X", "scores": {"a": [], "b": []}}', "has the splits a, b; expected test, or one"),
    ],
)  # fmt: skip
def test_results_that_are_refused(file, text, said):
    folders.write(front.Path("data/m"), mteb() | {file: text})
    with pytest.raises(UserError, match=said):
        read_scores(front.Path("data/m"))


def test_another_word_for_columns_and_a_damaged_table_are_refused():
    with pytest.raises(UserError, match="COLUMNS=rows: expected one of systems, tasks, measures"):
        drafted({"a.csv": wide("x", "y")}, columns="rows")
    with pytest.raises(UserError, match=r"data/a\.csv:4: value '-' is not a number"):
        drafted({"a.csv": wide("x", "y").replace("q3,0.5", "q3,-")})
