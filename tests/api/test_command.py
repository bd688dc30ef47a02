"""The command `ranktrial`: files of other tools, its folder, exit codes and messages."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import ranktrial as rt
from ranktrial.api.command import as_options, main
from tests.api.test_compare import frame
from tests.new import folders
from tests.support.one_line import refused

REPOSITORY = Path(__file__).parents[2]
ROWS = [("t0", f"q{query}", system, (query * (3 + place) % 7) / 7) for query in range(12) for place, system in
        enumerate(("bm25", "dense"))]  # fmt: skip


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, *words):
    """Exit code, standard output and standard error."""
    code = 0
    try:
        main([str(word) for word in words])
    except SystemExit as error:
        code = error.code
    said = capsys.readouterr()
    return code, said.out, said.err


def test_scores_become_a_sentence_numbers_and_a_folder(here, capsys):
    frame().to_csv("scores.csv", index=False)
    code, out, err = run(capsys, "compare", "scores.csv", "--out", "page", "--measure", "accuracy")
    assert code == 0 and out.startswith("On these two tasks, ") and "written: page/report.html" in err
    assert {path.name for path in (here / "page").iterdir()} >= {"report.html", "figures", "tables", "effects", "meta"}
    code, out, _ = run(capsys, "compare", "scores.csv", "--json")
    assert code == 0 and list(json.loads(out)["comparisons"]) == ["better-against-base"]


@pytest.mark.parametrize("name", ["all", "Total", "overall", "Average"])
@pytest.mark.parametrize("form", ["wide", "long", "wide, first"])
def test_what_is_left_out_of_files_is_said_by_the_command_its_numbers_and_the_library(here, capsys, name, form):
    values = pd.DataFrame(ROWS, columns=["task", "query", "system", "value"])
    mean = values.drop_duplicates("system").assign(query=name)
    values = pd.concat([mean, values] if form == "wide, first" else [values, mean])
    if form != "long":
        values = values.pivot_table("value", "query", "system", sort=False).reset_index()
    values.to_csv("a.csv", index=False)
    said = [f"a.csv: the row {name} is taken for a mean of the others and is left out"]
    code, out, err = run(capsys, "compare", "a.csv", "--json")
    assert code == 0 and json.loads(out)["warnings"] == said and err.count(f"note: {said[0]}\n") == 1, err
    with pytest.warns(UserWarning) as warned:
        assert len(rt.read("a.csv")) == len(ROWS)
    assert [(str(one.message), one.filename) for one in warned] == [(said[0], __file__)]


@pytest.mark.parametrize("fact", ["fold", "Length", "num_tokens"])
@pytest.mark.parametrize("ids", ["query_id", "task"])
def test_which_columns_are_systems_is_said_and_those_of_facts_are_none(here, capsys, fact, ids):
    values = {ids: [f"q{query}" for query in range(12)], fact: [query % 5 for query in range(12)]}
    values |= {name: [query * place % 7 / 7 for query in range(12)] for place, name in enumerate(("a", "b", "c"), 3)}
    pd.DataFrame(values).to_csv("a.csv", index=False)
    left = f"left out: the columns {fact}: no scores, by their names; "
    code, out, err = run(capsys, "compare", "a.csv")
    assert code == 0 and "note: Each column (a, b, c) is read as a system.\n" in err and fact not in out
    assert f"note: {left}--columns systems reads all\n" in err
    with pytest.warns(UserWarning, match=f'{left}columns="systems" reads all'):
        assert set(rt.read("a.csv")["system"]) == {"a", "b", "c"}
    _, out, err = run(capsys, "compare", "a.csv", "--columns", "systems")
    assert f"note: Each column ({fact}, a, b, c) is read as a system.\n" in err and fact in out
    pd.DataFrame(values).drop(columns=["b", "c"]).to_csv("a.csv", index=False)
    assert set(rt.read("a.csv")["system"]) == {fact, "a"}, "of two, both are meant"


def harness(path, system, shift):
    """Samples as lm-evaluation-harness logs them."""
    lines = [{"doc_id": n, "target": "x", "arguments": [["text"]], "metrics": ["acc", "acc_norm"], "acc": float((n * 7 + shift) % len(path.name) % 5 < 3),
              "acc_norm": float((n + shift) % 2)} for n in range(20)]  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_samples_of_lm_evaluation_harness(here, capsys):
    for place, model in enumerate(("llama", "gpt")):
        for task in ("rte", "boolq"):
            harness(here / f"results/{model}/samples_{task}_2026-01-01T10-00-00.jsonl", model, place)
    code, out, err = run(capsys, "compare", "results", "--measure", "acc", "--control", "gpt", "--json")
    assert code == 0, err
    assert "are read as measures, of which acc is compared." in err and "chooses another" not in err
    found = json.loads(out)["comparisons"]["llama-against-gpt"]
    assert [row["task"] for row in found["effects"]] == ["boolq", "rte"] and found["measure"] == "acc"
    assert found["effects"][0]["n"] == 20


def test_samples_of_one_model_are_one_system_whose_tasks_are_not_compared(here, capsys, monkeypatch):
    for task in ("arc_easy", "boolq", "rte"):
        harness(here / f"results/llama/samples_{task}_2026-01-01T10-00-00.jsonl", "llama", 0)
    files = sorted((here / "results/llama").iterdir())
    for folder, given in (
        (here, ["results/llama"]),
        (files[0].parent, ["."]),
        (here, files[:2]),
        (files[0].parent, [file.name for file in files]),
    ):
        monkeypatch.chdir(folder)
        code, _, err = run(capsys, "compare", *given, "--measure", "acc")
        errors = [line for line in err.splitlines() if line.startswith("error: ")]
        assert code == 2 and errors == ["error: only the system llama; expected at least two"], err


def test_samples_of_several_measures_need_one_to_be_named(here, capsys):
    for model in ("llama", "gpt"):
        harness(here / f"results/{model}/samples_rte_2026-01-01T10-00-00.jsonl", model, 0)
    code, _, err = run(capsys, "compare", "results")
    assert code == 2 and "several measures, acc, acc_norm; name one: --measure acc" in err, err
    with pytest.raises(rt.UserError, match='name one: measure="acc"'):
        rt.read("results")


def test_a_measure_that_samples_lack_is_named_with_those_that_they_have(here, capsys):
    for model in ("llama", "gpt"):
        path = here / f"results/{model}/samples_rte_2026-01-01T10-00-00.jsonl"
        harness(path, model, 0)
        path.write_text(path.read_text().replace('"metrics"', '"doc_hash": "00000000", "metrics"'))
    for wanted, said in (
        ("em", "no measure 'em'; there are acc, acc_norm"),
        ("acc_nrm", "'acc_nrm' (did you mean 'acc_norm'?); there are"),
    ):
        code, _, err = run(capsys, "compare", "results", "--measure", wanted)
        assert code == 2 and said in err and err.count("\n") == 1 and "hash" not in err, err


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize(
    "columns",
    [
        ["name", "topicno", "measure", "value"],  # the id could be the name
        ["system", "topicno", "measure", "value"],
        ["task", "topicno", "system", "value"],  # or the task
        ["a", "b", "c", "value"],
        ["a", "b", "c", "d"],
    ],
)
@pytest.mark.parametrize("prefix", ["q", ""])
def test_a_table_without_a_known_name_for_queries_lists_its_columns(here, capsys, columns, ending, prefix):
    values = {"topicno": [f"{prefix}{query}" for query in (1, 2, 1, 2)], "b": ["x"] * 4, "measure": ["AP"] * 4}
    values |= {name: ["x", "x", "y", "y"] for name in ("name", "system", "a")} | {"task": ["t"] * 4, "c": ["z"] * 4}
    table = pd.DataFrame({column: values.get(column, [0.1, 0.2, 0.3, 0.4]) for column in columns})
    if ending == "jsonl":
        table.to_json("a.jsonl", orient="records", lines=True)
    else:
        table.to_csv(f"a.{ending}", index=False, sep="," if ending == "csv" else "\t")
    said = f"no column of queries; the columns are {', '.join(columns)}; expected query, qid, "
    code, _, err = run(capsys, "compare", f"a.{ending}")
    errors = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert code == 2 and len(errors) == 1 and said in errors[0] and f"a.{ending}" in errors[0], err
    with refused(said):
        rt.compare(table)


def test_a_folder_whose_names_of_files_are_the_axes_says_how_it_is_read(here, capsys):
    for model in ("llama", "gpt"):
        for task in ("rte", "boolq"):
            harness(here / f"results/{model}/samples_{task}_2026-01-01T10-00-00.jsonl", model, 0)
    _, _, err = run(capsys, "compare", "results", "--measure", "acc")
    assert "systems: gpt, llama; tasks: boolq, rte" in err
    folders.scores(here / "data")  # whose columns are the systems
    assert "systems: " not in run(capsys, "compare", "data")[2]


def test_the_table_per_query_of_pyterrier(here, capsys):
    rows = [{"name": system, "qid": query, "measure": measure, "value": value} for _, query, system, value in ROWS
            for measure, value in (("nDCG@10", value), ("AP", value / 2))]  # fmt: skip
    pd.DataFrame(rows).to_csv("perquery.csv", index=False)
    code, _, err = run(capsys, "compare", "perquery.csv")
    assert code == 2 and "several measures, nDCG@10, AP; name one: --measure nDCG@10" in err, err
    with pytest.raises(rt.UserError, match='several measures, nDCG@10, AP; name one: measure="nDCG@10"'):
        rt.compare(pd.read_csv("perquery.csv"))
    code, out, err = run(capsys, "compare", "perquery.csv", "--measure", "AP", "--json")
    assert code == 0, err
    (found,) = json.loads(out)["comparisons"].values()
    means = pd.DataFrame(ROWS).groupby(2)[3].mean() / 2
    assert found["measure"] == "AP" and found["effects"][0]["effect"] == pytest.approx(means["dense"] - means["bm25"])


def test_names_of_systems_and_tasks_are_those_of_the_file_and_those_of_written_files_are_plain(here, capsys):
    values = pd.DataFrame(ROWS, columns=["task", "query", "system", "value"])
    values["task"] = "covid 19"
    several = [
        values,
        values[values["system"] == "dense"].assign(system="TerrierRetr(BM25)", value=lambda of: of["value"] / 3),
    ]
    pd.concat([*several, values[values["system"] == "bm25"].assign(system="bm25+", value=0.5)]).to_csv(
        "a.csv", index=False
    )
    assert set(rt.read("a.csv")["system"]) == {"bm25", "dense", "TerrierRetr(BM25)", "bm25+"}
    code, out, err = run(
        capsys, "compare", "a.csv", "--control", "TerrierRetr(BM25)", "--treatment", "bm25+", "--out", "page"
    )
    assert code == 0 and "bm25+ exceeds that of TerrierRetr(BM25)" in out, (out, err)
    assert (here / "page/effects/bm25--against-TerrierRetr-BM25.tsv").read_text().count("covid 19") == 1
    assert "TerrierRetr(BM25)" in (here / "page/report.html").read_text()
    (here / "data").mkdir()
    (here / "a.csv").rename("data/a.csv")
    code, _, err = run(capsys, "new", "data", "--out", "new.yaml")
    assert code == 2 and "bm25 and bm25+ would both be called bm25; rename one" in err


def test_runs_with_their_judgements(here, capsys):
    folders.write(here, {"qrels.txt": folders.qrels(), "a.run": folders.run("a", 2), "bm25.run": folders.run("b", 3)})
    code, out, err = run(capsys, "compare", "qrels.txt", "a.run", "bm25.run", "--measure", "RR", "--json")
    assert code == 0, err
    assert list(json.loads(out)["comparisons"]) == ["a-against-bm25"] and json.loads(out)["measure"] == "RR"
    code, out, err = run(capsys, "compare", "a.run", "bm25.run")
    assert code == 2 and "give their qrels as well" in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "of_compare", "of_new"),
    [
        ("q1 0 d1 0.5", "{}:1: grade '0.5' is not an integer", "{}:1: grade '0.5' is not an integer"),
        ("q1 0 d1 relevant", "give their qrels as well; not recognised: {}", "of 3 files: run (2); not recognised: {}"),
    ],
)
def test_qrels_that_cannot_be_read_are_named_and_not_called_missing(here, capsys, line, of_compare, of_new):
    files = {"a.run": folders.run("a", 2), "bm25.run": folders.run("b", 3)}
    folders.write(here, {f"data/{name}": text for name, text in files.items()})
    (here / "data/judged.txt").write_text(f"{line}\n{folders.qrels()}")
    code, _, err = run(capsys, "compare", *sorted((here / "data").iterdir()))
    assert code == 2 and err.count("\n") == 1 and of_compare.format("judged.txt") in err
    code, _, err = run(capsys, "new", "data")
    assert code == 2 and err.count("\n") == 1 and of_new.format("judged.txt") in err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["compare", "no.csv"], "no.csv: no such file"),
        (["compare", "text.txt"], "text.txt: neither scores nor runs; expected numbers"),
        (
            ["compare", "several.csv", "--measure", "accc"],
            "several.csv:1: no column 'accc'; the columns of values are acc, acc_norm (did you mean 'acc'?)",
        ),
        (["compare", "scores.csv", "--queries", "q.jsonl"], "expected --out FOLDER as well"),
        (["check-gpu", "--fast"], "unrecognized arguments: --fast; ranktrial check-gpu --help"),
        (["compare", "scores.csv", "--control", "BM52"], "no system 'BM52'"),
        (["compare", "scores.csv", "--alpha", "2"], "alpha: 2"),
        (["compare", "scores.csv", "--effect", "D"], "effect: unknown 'D'"),
        (["compare", "scores.csv", "--out", "scores.csv"], "a file; expected a folder"),
        (["compare"], "required: FILE"),
        (["compared", "x"], "invalid choice"),
        (["new", "nowhere"], "no such folder"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(here, capsys, words, expected):
    frame().to_csv("scores.csv", index=False)
    frame().rename(columns={"value": "acc"}).assign(acc_norm=0.5).to_csv("several.csv", index=False)
    (here / "text.txt").write_text("some words\nand more of them\n")
    code, _, err = run(capsys, *words)
    lines = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert code == 2 and len(lines) == 1 and lines[0].startswith("error: ") and expected in lines[0], err


def test_messages_name_the_options_of_this_command(here, capsys):
    folders.scores(here / "data")
    code, _, err = run(capsys, "compare", "data")
    assert code == 0 and "if it is the other way round: --columns tasks." in err
    with refused('columns="rows": expected one of'):
        rt.read("data", columns="rows")


def test_a_table_that_is_left_out_is_named_with_its_columns(here, capsys):
    folders.scores(here / "data")
    (here / "data/other.csv").write_text("topicno,b,value\nx,u,0.1\ny,v,0.2\n")
    _, _, err = run(capsys, "compare", "data")
    assert "left out: other.csv (no column of queries; the columns are topicno, b, value; expected query" in err


def test_new_writes_what_make_new_writes(here, capsys):
    from ranktrial.new.front import write_configuration

    folders.scores(here / "data")
    said = write_configuration("data", out=Path("a.yaml"))
    code, out, _ = run(capsys, "new", "data", "--out", "b.yaml")
    assert code == 0 and out.splitlines()[1:-1] == list(map(as_options, said[1:-1]))
    texts = [(here / name).read_text() for name in ("a.yaml", "b.yaml")]
    assert texts[0].replace("a.yaml", "b.yaml").replace("experiment: a", "experiment: b") == texts[1]
    code, _, err = run(capsys, "new", "data", "--out", "b.yaml")
    assert code == 2 and "exists already; choose another place by --out config/NAME.yaml" in err


def test_messages_of_the_workflows_commands_name_their_options_unless_make_runs_them(capsys, monkeypatch):
    code, _, err = run(capsys, "archive", "--experiment", "mine")
    assert code == 2 and "; or give --config" in err and "CONFIG" not in err
    text = "make run CONFIG=a.yaml; make resume FILL=1 makes data again, SEND=1 (--send-variables), or without FULL=1"
    options = "ranktrial resume --fill makes data again, --send-variables, or without --extent full"
    assert as_options(text) == f"snakemake --configfile a.yaml; {options}"
    monkeypatch.setenv("RANKTRIAL_MAKE", "1")
    assert as_options(text) == text


def test_help_has_examples_and_exit_codes():
    done = subprocess.run(
        [sys.executable, "-m", "ranktrial.api.command", "compare", "--help"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(REPOSITORY)},
    )
    assert done.returncode == 0 and "ranktrial compare qrels.txt a.run b.run" in done.stdout
    assert "exit codes: 0, or 2" in done.stdout
