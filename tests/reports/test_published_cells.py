"""Printed cells beside ours: each verdict, where ours stands, why there is none, and the message about a wrong mapping."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml

from ranktrial.common.errors import UserError
from ranktrial.common.tables import read_texts
from ranktrial.experiment.printed_cells import CELL, read_mapping
from ranktrial.reports.published import (
    DIFFERENT,
    EQUAL,
    MACHINE,
    NOT_RUN,
    SPREAD,
    VERDICTS,
    Ours,
    content,
    counts_table,
    read_cells,
    rounded,
    verdict,
    versus,
)
from ranktrial.reports.writing import html_page, printed
from tests.support.one_line import refused

PUBLISHED = Path(__file__).parents[2] / "config" / "published"
HEADING = ("table", "variant", "system", "training", "measure", "cutoff", "value", "std")


@pytest.mark.parametrize(
    ("value", "sd", "printed", "printed_sd", "said"),
    [
        (0.6504, None, "0.650", "", EQUAL),
        (0.6505, None, "0.651", "", EQUAL),  # a half goes up, though the binary fraction lies below it
        (0.6505, None, "0.650", "", DIFFERENT),
        (0.3655 - 1e-16, None, "0.366", "", EQUAL),  # the half of a mean with rounding errors
        (0.0004, None, "0.000", "", EQUAL),
        (0.658, 0.0001, "0.650", "0.004", SPREAD),  # two of theirs, the end belongs to it; ours do not count
        (0.65801, 0.1, "0.650", "0.004", DIFFERENT),
        (0.642, 0.0, "0.650", "0.004", SPREAD),
        (0.655, 0.0025, "0.650", "", SPREAD),  # none printed: ours
        (0.6551, 0.0025, "0.650", "", DIFFERENT),
        (0.655, None, "0.650", "", DIFFERENT),  # nothing is known of the spread
        (0.651, None, "0.650", "0.000", DIFFERENT),
    ],
)
def test_each_verdict(value, sd, printed, printed_sd, said):
    assert verdict(value, sd, printed, printed_sd) == said


def test_rounding_keeps_the_printed_decimals():
    assert [rounded(value, "16.93") for value in (1.005, 2.0, 12345.678)] == ["1.01", "2.00", "12345.68"]
    assert rounded(0.5, "1") == "1" and rounded(-0.0004, "0.000") == "-0.000"


SIZES = pd.DataFrame(
    [
        ("clef", "train", 10375, 623, 600, 77),
        ("clef", "dev", 10375, 100, 110, None),
        ("clef", "test", 10375, 197, 199, None),
    ],
    columns=["dataset", "split", "documents", "queries", "relevant", "left_out"],
).set_index(["dataset", "split"])
MAPPING = {
    "models": {"printed-mini": "mini"},
    "tasks": {"one": "clef", "two": "other"},
    "measures": {"MAP": {"at": "AP", "all": "AP"}, "P": {"at": "P"}},
    "seconds": {"T.2": "inference", "T.3": "fine-tuning"},
    "systems": [
        {"system": "Lucene", "ours": "bm25"},
        {"training": "*/split", "why": "not split here"},
        {"training": "base", "ours": ["base", "cross"]},
        {"training": "clef/*", "ours": "tuned"},
    ],
    "remarks": [{"measure": "MAP", "cutoff": ["1", "3"], "said": "a quirk"}],
}
CELLS = [
    ("T.1", "one", "Lucene", "", "MAP", "1", "0.50", ""),
    ("T.1", "one", "Lucene", "", "MAP", "all", "0.61", ""),
    ("T.1", "one", "printed-mini", "base", "MAP", "3", "0.70", ""),
    ("T.1", "one", "printed-mini", "clef/best", "MAP", "1", "0.70", "0.01"),
    ("T.1", "one", "printed-mini", "clef/split", "MAP", "1", "0.70", ""),
    ("T.1", "one", "printed-mini", "base", "P", "5", "0.70", ""),
    ("T.1", "two", "printed-mini", "base", "MAP", "1", "0.70", ""),
    ("T.1", "one", "big", "base", "MAP", "1", "0.70", ""),
    ("T.2", "one", "printed-mini", "base", "seconds", "", "2.00", ""),
    ("T.3", "two", "printed-mini", "clef/best", "seconds", "", "10.0", "0.5"),
]
MINI = {"weights": "mini", "model": "mini", "recipe": ""}
OURS = Ours(
    entries={
        "bm25": [{"system": "bm25", "weights": "", "model": "BM25", "recipe": ""}],
        "base": [MINI | {"system": "base-mini"}, MINI | {"system": "base-other", "weights": "other"}],
        "tuned": [MINI | {"system": "tuned-mini", "recipe": "hard"}],
    },
    tasks={"clef": "clef"},
    means=pd.DataFrame(
        {
            "task": "clef",
            "system": ["bm25", "base-mini", "tuned-mini"],
            "seeds": [1, 1, 3],
            "AP@1": [0.4951, 0.2, 0.72],
            "AP@1 sd": [None, None, 0.001],
            "AP@3": [0.5, 0.69, 0.7],
            "AP@3 sd": None,
            "AP": [0.6149, 0.7, 0.7],
            "AP sd": None,
        }
    ).set_index(["task", "system"]),
    inference=pd.DataFrame(
        {"task": ["clef"], "system": ["base-mini"], "mean": [5.0], "sd": [None], "runs": [1]}
    ).set_index(["task", "system"]),
    fine_tuning=pd.DataFrame(
        {"model": ["mini"], "recipe": ["hard"], "mean": [2.5], "sd": [0.25], "runs": [3]}
    ).set_index(["model", "recipe"]),
)


def write(folder, cells=CELLS, mapping=MAPPING):
    """The two files, read."""
    (folder / "m.yaml").write_text(yaml.safe_dump(mapping))
    (folder / "c.tsv").write_text("# a source\n" + "".join("\t".join(row) + "\n" for row in (HEADING, *cells)))
    return read_cells(folder / "c.tsv"), read_mapping(folder / "m.yaml")


def test_every_cell_has_one_verdict_and_a_reason_where_it_was_not_run(tmp_path):
    table = versus(*write(tmp_path), OURS)
    assert table["verdict"].tolist() == [
        EQUAL,
        EQUAL,
        DIFFERENT,
        SPREAD,
        NOT_RUN,
        NOT_RUN,
        NOT_RUN,
        NOT_RUN,
        MACHINE,
        MACHINE,
    ]
    assert table["ours"].fillna("").tolist() == ["0.50", "0.61", "0.69", "0.72", "", "", "", "", "5.00", "2.5"]
    assert table["reason"][4:8].tolist() == [
        "not split here",
        "P@5 is not among the measures of this experiment",
        "the task other is not in this experiment",
        "big is not among the models of base or cross in this experiment",
    ]
    assert ((table["verdict"] == NOT_RUN) == (table["reason"] != "")).all()
    assert table["ratio"].dropna().tolist() == [2.5, 0.25]
    assert table["difference"][3] == pytest.approx(0.02) and table["difference"][8:].isna().all()
    assert table["our_system"][:4].tolist() == ["bm25", "bm25", "base-mini", "tuned-mini"]
    assert table["remarks"].tolist() == [
        "a quirk",
        "",
        "a quirk",
        "a quirk",
        "a quirk",
        "",
        "a quirk",
        "a quirk",
        "",
        "",
    ]


def test_a_training_in_milliseconds_and_an_importance_are_set_beside_ours(tmp_path):
    """A feature's share of the gain, times what is printed for all features of that ranker together."""
    cells = [
        ("T", "one", "trees", "", "milliseconds", "", "125.0", ""),
        ("U", "Bm", "trees", "", "importance", "", "3.00", ""),
        ("U", "Len", "trees", "", "importance", "", "1", ""),
        ("U", "Odd", "trees", "", "importance", "", "0", ""),
    ]
    mapping = {
        "tasks": {"one": "clef"},
        "seconds": {"milliseconds": {"shown": "fine-tuning", "unit": 0.001}},
        "features": {"Bm": "BM25", "Len": "document_length", "Odd": "missing"},
        "systems": [{"system": "trees", "ours": "lightgbm"}],
    }
    seeds = [pd.DataFrame({"gain": [gain, 1 - gain]}, index=["BM25", "document_length"]) for gain in (0.75, 0.25)]
    trained = pd.DataFrame({"model": ["L"], "recipe": ["lightgbm"], "mean": [0.25], "sd": [0.125], "runs": [2]})
    ours = Ours(
        {"lightgbm": [{"system": "lightgbm", "weights": "", "model": "L", "recipe": "lightgbm"}]},
        OURS.tasks,
        OURS.means,
        OURS.inference,
        trained.set_index(["model", "recipe"]),
        {"lightgbm": seeds},
    )
    table = versus(*write(tmp_path, cells, mapping), ours)
    assert table["ours"].fillna("").tolist() == ["250.0", "2.00", "2", ""]
    assert table["ours_sd"].fillna("").tolist() == ["125.0", "1.41", "1", ""]  # of shares .75 and .25, times 4
    assert table["verdict"].tolist() == [MACHINE, SPREAD, SPREAD, NOT_RUN] and table["ratio"][0] == 2
    assert table["reason"][3] == "lightgbm has no gain by missing in this experiment"
    unreported = versus(
        *write(tmp_path, cells, mapping), Ours({}, OURS.tasks, OURS.means, OURS.inference, ours.fine_tuning)
    )
    assert (unreported["reason"] == "no system lightgbm in this experiment").all()


def test_a_part_of_the_experiment_says_what_it_lacks(tmp_path):
    part = Ours({"bm25": OURS.entries["bm25"]}, OURS.tasks, OURS.means, OURS.inference, OURS.fine_tuning)
    table = versus(*write(tmp_path), part)
    assert table["verdict"].tolist()[:3] == [EQUAL, EQUAL, NOT_RUN]
    assert table["reason"][2] == "no system base or cross in this experiment"
    assert table["reason"][9] == "no system tuned in this experiment"


def test_a_system_without_a_run_or_a_training_is_said(tmp_path):
    empty = Ours(OURS.entries, OURS.tasks, OURS.means.drop(("clef", "bm25")), OURS.inference[:0], OURS.fine_tuning[:0])
    table = versus(*write(tmp_path), empty)
    assert table["reason"][0] == "bm25 is not run on clef in this experiment"
    assert table["reason"][8] == "base or cross is not run on clef in this experiment"
    assert table["reason"][9] == "tuned was not trained in this experiment"


def test_cells_with_the_other_order_of_ties_are_held_to_means_with_that_order(tmp_path):
    """At a cut-off, and over all; cells of other measures are not."""
    mapping = MAPPING | {"measures": {"MAP": {"at": "AP", "all": "AP", "ties": "ascending"}, "P": {"at": "P"}}}
    other = OURS.means.assign(**{"AP@1": 0.7, "AP@3": 0.7, "AP": 0.7}).drop(("clef", "tuned-mini"))
    table = versus(*write(tmp_path, mapping=mapping), replace(OURS, ascending=other))
    assert table["ours"].fillna("").tolist()[:6] == ["0.70", "0.70", "0.70", "", "", ""]
    assert table["our_measure"][0] == "AP@1, ties ascending"
    assert table["reason"][3] == "tuned is not run on clef in this experiment"
    without = versus(*write(tmp_path, mapping=mapping), OURS)
    assert without["reason"][0] == "AP@1 is not among the measures of this experiment"


def test_sizes_of_datasets_are_set_beside_the_table_of_datasets(tmp_path):
    mapping = {
        "counts": {"docs": "documents", "queries": ["queries", "left_out"], "pairs": "relevant"},
        "datasets": [
            {"variant": "claims", "ours": "clef"},
            {"variant": "train", "ours": ["clef/train", "clef/dev"]},
            {"variant": "raw", "why": "not released"},
            {"ours": "other/test"},
        ],
    }
    sizes = [("claims", "docs", "10375"), ("claims", "queries", "997"), ("claims", "pairs", "910"),
             ("train", "queries", "800"), ("raw", "queries", "5"), ("else", "docs", "5")]  # fmt: skip
    cells = [("4.2", variant, "", "", measure, "", value, "") for variant, measure, value in sizes]
    table = versus(*write(tmp_path, cells, mapping), replace(OURS, datasets=SIZES))
    assert table["verdict"].tolist() == [EQUAL, EQUAL, DIFFERENT, EQUAL, NOT_RUN, NOT_RUN]
    assert table["ours"][2] == "909" and table["our_task"][3] == "clef/train, clef/dev"
    assert table["our_measure"][3] == "queries + left_out"
    assert table["reason"].tolist()[4:] == ["not released", "the dataset other/test is not in this experiment"]
    for part, said in (
        (
            {"counts": mapping["counts"] | {"docs": "pages"}},
            "m.yaml: counts: the table of datasets has no column 'pages'",
        ),
        ({"datasets": mapping["datasets"][:1]}, "m.yaml: datasets: no line matches 4.2, train"),
        ({"datasets": [*mapping["datasets"], {"ours": "x"}]}, "m.yaml: datasets, line 5: no cell matches it"),
    ):
        with pytest.raises(UserError, match=said):
            versus(*write(tmp_path, cells, mapping | part), replace(OURS, datasets=SIZES))


def changed(**parts):
    return MAPPING | parts


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        (changed(colour={}), "m.yaml: unknown key 'colour'; allowed are models, tasks"),
        (changed(tasks=["one"]), "m.yaml: tasks: expected a mapping"),
        (changed(tasks={"one": "clef"}), "m.yaml: tasks: no entry for the variant of T.1, two, printed-mini, base, MAP, 1"),
        (changed(measures={"MAP": {"at": "AP"}, "P": {"at": "P"}}), "m.yaml: measures: no entry for MAP (all) of T.1, one"),
        (changed(measures={"MAP": "AP"}), "m.yaml: measures.MAP: expected {at: OURS, all: OURS}"),
        (changed(measures={"MAP": {"ties": "ascending"}}), "m.yaml: measures.MAP: expected {at: OURS, all: OURS}"),
        (changed(measures={"MAP": {"at": "AP", "ties": "random"}}), "m.yaml: measures.MAP.ties: expected ascending"),
        (changed(seconds={"T.2": "waiting"}), "m.yaml: seconds.T.2: 'waiting' is not one of inference, fine-tuning"),
        (changed(seconds={"T.2": {"shown": "inference"}}), "m.yaml: seconds.T.2: expected a time, or {shown: TIME, unit: SECONDS}"),
        (changed(seconds={"T.2": {"shown": "inference", "unit": 0}}), "m.yaml: seconds.T.2: unit: 0 is not a number of seconds above 0"),
        (changed(systems=MAPPING["systems"][:3]), "m.yaml: systems: no line matches T.1, one, printed-mini, clef/best, MAP, 1"),
        (changed(systems=[*MAPPING["systems"], {"table": "T.9", "ours": "x"}]), "m.yaml: systems, line 5: no cell matches it"),
        (changed(systems=[{"ours": "base", "why": "x"}]), "m.yaml: systems, line 1: expected exactly one of ours and why"),
        (changed(systems=[{"sytem": "a", "ours": "b"}]), "m.yaml: systems, line 1: unknown key 'sytem'; allowed are table"),
        (changed(systems=["base"]), "m.yaml: systems, line 1: expected a mapping (key: value)"),
        (changed(remarks=[{"table": "T.9", "said": "x"}]), "m.yaml: remarks, line 1: no cell matches it"),
        (changed(models={"printed-mini": ["mini", "other"]}), "systems, line 3: T.1, one, printed-mini, base, MAP, 3 matches both"),
    ],
)  # fmt: skip
def test_a_wrong_mapping_is_one_line(tmp_path, mapping, said):
    with refused(said):
        versus(*write(tmp_path, mapping=mapping), OURS)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([CELLS[0], CELLS[1], CELLS[0]], "c.tsv:5: duplicate cell T.1, one, Lucene, MAP, 1, first in line 3"),
        ([(*CELLS[0][:6], "o.5", "")], "c.tsv:3: value 'o.5' or std '' is not a number"),
        ([(*CELLS[0][:7], "?")], "c.tsv:3: value '0.50' or std '?' is not a number"),
    ],
)
def test_a_wrong_cell_is_one_line(tmp_path, cells, said):
    with pytest.raises(UserError, match=said.replace("?", r"\?")):
        write(tmp_path, cells)
    (tmp_path / "c.tsv").write_text("table\tvalue\nT\t1\n")
    with pytest.raises(UserError, match="no column 'variant'"):
        read_cells(tmp_path / "c.tsv")


def test_the_pages_count_explain_and_mark(tmp_path):
    table = read_texts(io.StringIO(versus(*write(tmp_path), OURS).to_csv(sep="\t", index=False)))
    made = counts_table(table)
    assert [column.name for column in made.columns] == ["table", *VERDICTS, "cells"]
    assert made.foot == [["all", "2", "1", "1", "2", "4", "10"]]
    assert [row[-1] for row in made.blocks[0]] == ["8", "1", "1"]
    text = printed.markdown_document("p", content(table, together=False))
    assert "- 1: not split here" in text and "- [1] a quirk" in text
    assert "0.70 ± 0.01" in text and "+0.020" in text and "ratio 2.5" in text and "inside the seeds' spread [1]" in text
    assert sum(line.startswith("| one") or line.startswith("| two") for line in text.splitlines()) == len(CELLS)
    shown = html_page.document("c<.tsv", content(table, together=True), {})
    assert "c&lt;.tsv" in shown and shown.count("<tr>") == 2 + 4 + len(CELLS) and "http" not in shown


def test_the_thesis_is_there_whole(shared_data):
    """The committed cells are those of the transcription, none left out and none changed."""
    source = shared_data.parent / "published"
    if not (source / "factcheck_A.1.tsv").is_file():
        pytest.skip(f"no transcription in {source}")
    rows = []
    for name in ("4.2", "4.4", *(f"A.{number}" for number in range(1, 27))):
        with open(source / f"factcheck_{name}.tsv", encoding="utf-8") as file:
            rows += [tuple(row[key] for key in HEADING) for row in csv.DictReader(file, delimiter="\t")]
    cells = read_cells(PUBLISHED / "factcheck.tsv")
    assert [tuple(cell[key] for key in HEADING) for cell in cells] == rows and len(rows) == 2116


def test_the_five_tables_of_comparative_questions_are_there_whole(shared_data):
    source, variants = shared_data.parent / "published", {"1": "validation", "3": "validation"}
    if not (source / "touche_table1.tsv").is_file():
        pytest.skip(f"no transcription in {source}")
    rows = []
    for number in "12345":
        with open(source / f"touche_table{number}.tsv", encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                variant = variants.get(number, row["variant"].replace("/", ", "))
                rows.append((number, variant, *(row[key] for key in HEADING[2:])))
    cells = read_cells(PUBLISHED / "touche.tsv")
    of_tables = [cell for cell in cells if cell["table"] in "12345"]
    assert [tuple(cell[key] for key in HEADING) for cell in of_tables] == rows and len(rows) == 36
    with open(source / "touche_prose.tsv", encoding="utf-8") as file:  # what no table prints: ANTIQUE alone, and .579
        prose = [(row["system"], row["value"]) for row in csv.DictReader(file, delimiter="\t")]
    in_tables = {(cell["system"], cell["value"]) for cell in of_tables}
    others = [(cell["system"], cell["value"]) for cell in cells if cell["table"] not in "12345"]
    assert others == [printed for printed in prose if printed not in in_tables]


def test_bert_of_antique_alone_stands_beside_the_system_that_learns_from_antique_alone():
    cells, mapping = read_cells(PUBLISHED / "touche.tsv"), read_mapping(PUBLISHED / "touche.yaml")
    ours = {
        (cell["table"], cell["value"]): next(line.ours for line in mapping.systems if line.fits(cell))
        for cell in cells
        if cell["system"] == "Bert Ranker"
    }
    assert ours["section 5.2", "0.3362"] == ("bert-antique",) and ours["3", "0.412"] == ("bert",)


def test_the_mapping_of_comparative_questions_covers_every_cell():
    cells, mapping = read_cells(PUBLISHED / "touche.tsv"), read_mapping(PUBLISHED / "touche.yaml")
    nothing = Ours({}, {}, OURS.means[:0], OURS.inference[:0], OURS.fine_tuning[:0])
    table = versus(cells, mapping, nothing)  # a word or line too many or too few is an error
    assert (table["verdict"] == NOT_RUN).all() and (table["reason"] != "").all()
    assert set(table["table"]) == {*"12345", "section 4.2", "section 5.2"}
    assert table.loc[table["measure"] != "nDCG", "remarks"].str.len().all()


def test_the_mapping_of_the_thesis_covers_every_cell():
    cells, mapping = read_cells(PUBLISHED / "factcheck.tsv"), read_mapping(PUBLISHED / "factcheck.yaml")
    nothing = Ours({}, {}, OURS.means[:0], OURS.inference[:0], OURS.fine_tuning[:0], datasets=SIZES[:0])
    table = versus(cells, mapping, nothing)  # a word or line too many or too few is an error
    assert len(table) == len(cells) == 2116 and (table["verdict"] == NOT_RUN).all() and (table["reason"] != "").all()
    assert table.groupby(list(CELL)).size().max() == 1
    collapsed = table[table["table"].isin([f"A.{number}" for number in range(16, 22)])]
    assert len(collapsed) == 576 and collapsed["reason"].str.startswith("the task ").all()  # each has a system of ours
    quirk = table[table["measure"].isin(["nDCG", "R"])]
    assert quirk["remarks"].str.contains("scorer orders documents of equal score").all()
