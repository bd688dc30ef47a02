"""The report's section on data: means, datasets, choices, and notes on the queries behind them."""

from dataclasses import replace

import pandas as pd

from ranktrial.ir.means import means_rows
from ranktrial.records.facts import Facts, Labels
from ranktrial.reports.contents import data
from ranktrial.reports.writing.content import Span, plain, spans

NAMES = Labels({}, {})


def test_test_queries_near_training_queries_are_noted_where_a_system_learnt_from_these():
    counts = {
        "dataset": ["d", "d", "e"],
        "split": ["test", "dev", "test"],
        "queries": [40, 9, 40],
        "near_duplicates": [5, 9, 4],
    }
    trained = {"s": ["d", "e"], "t": ["d"], "u": []}
    (note,) = data.learnt_near(trained, pd.DataFrame(counts), Labels({}, {"s": "System S"}))
    assert note.text.startswith(
        "d: 5 of 40 test queries are near a training query, and System S and t learnt from these"
    )
    assert data.learnt_near({"u": []}, pd.DataFrame(counts), NAMES) == []


def test_means_mark_the_best_and_what_was_learnt():
    means = pd.DataFrame(
        {
            "task": ["a", "a"],
            "system": ["s", "t"],
            "queries": [5, 5],
            "seeds": [1, 2],
            "RR": [9.25, 10.5],
            "RR sd": [None, 0.01],
        }
    )
    facts = Facts(NAMES, ["RR"], marks={"trained": {"t": ["a"]}})
    ((row,),) = data.means_table(means_rows(means), "RR", facts).blocks
    assert [cell.text for cell in row[2:]] == [Span("9.250"), Span("10.500 ± 0.010*", "strong")]
    assert [cell.source for cell in row[2:]] == ["metrics/a/s/", "metrics/a/t/"] and row[:2] == ["a", "5"]
    lower = replace(facts, lower_is_better=["RR"])
    ((row,),) = data.means_table(means_rows(means), "RR", lower).blocks
    assert [cell.text for cell in row[2:]] == [Span("9.250", "strong"), Span("10.500 ± 0.010*")]
    ((row,),) = data.means_table(
        means_rows(means.rename(columns=lambda name: name.replace("RR", "Judged@5"))), "Judged@5", facts
    ).blocks
    assert not any(cell.text.look for cell in row[2:])  # more judged documents are no better


def test_systems_with_values_of_other_numbers_of_queries_are_reported():
    means = pd.DataFrame(
        {
            "task": ["a", "a"],
            "system": ["s", "t"],
            "queries": [1200, 5],
            "seeds": [1, 1],
            "RR": [0.5, 0.25],
            "RR sd": [None, None],
        }
    )
    facts = Facts(NAMES, ["RR"])
    section = data.means(means_rows(means), facts, {}, data.Beside([], of_runs=False))
    assert "A judged query" not in plain(section.blocks[0].text)
    assert plain(section.blocks[1].text).startswith("a: numbers of queries differ: s 1,200, t 5; each mean")
    ((row,),) = data.means_table(means_rows(means), "RR", facts).blocks
    assert row[1] == "5 to 1,200"


def test_selected_seeds_say_which_was_kept_and_where_a_test_set_chose():
    same = {"system": "s", "task": "d", "formula": "RR"}
    seeds = [{"seed": 1, "chosen": "no", "score": 0.25}, {"seed": 4, "chosen": "yes", "score": 0.5}]
    for split, warned in (("dev", False), ("test", True)):
        table = pd.DataFrame([same | {"split": split} | one for one in seeds])
        (line,) = data.selected(table, Labels({}, {"s": "System S"}))
        assert plain(line).startswith("System S: seed 4, by RR on d (1: 0.2500, 4: 0.5000).")
        assert (Span(data.ON_TEST, "strong") in spans(line)) == warned


def test_datasets_of_one_source_stand_together():
    sources = [data.Source(*row.split()) for row in ("b x.zip MIT", "c x.zip ?", "a x.zip MIT")]
    assert data.grouped(sources) == {": x.zip (licence: MIT)": ["b", "a"], ": x.zip (licence: ?)": ["c"]}


def test_a_note_says_where_few_queries_tuned_a_system():
    counts = {"dataset": ["d", "d", "e"], "split": ["test", "dev", "dev"], "queries": [9, 12, 12],
              "queries_without_relevant": [0, 3, 2]}  # fmt: skip
    notes = data.tuned_on_few({"d": ["s", "t"], "e": ["s"]}, pd.DataFrame(counts), Labels({}, {"s": "System S"}))
    assert [plain(note.text) for note in notes] == [
        "System S and t on d: tuned on 9 dev queries: with fewer than 10, the choice may be "
        "due to chance; use a larger dev split."
    ]
