"""The tables of means to print: best values, averages, letters, marks, and both formats, by hand."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from ranktrial.experiment.marks import MARKS
from ranktrial.ir.means import COLUMNS, means_rows
from ranktrial.records.comparison import Difference, FamilyRecord
from ranktrial.records.facts import Facts, Labels
from ranktrial.reports.comparison.families import FoundFamily, Scope, Standing, of_all_pairs, size_alone
from ranktrial.reports.contents.data import AVERAGE, by_system, means_to_print, notes_to_print, printed_means
from ranktrial.reports.writing.content import plain
from scripts.reports.tables import write_means

TABLE = pd.DataFrame(
    [
        ("a", "bm25", 10, 1, 0.25, None, 3.0, None),
        ("a", "tuned", 10, 2, 0.35, 0.01, 2.0, 0.5),
        ("b", "bm25", 20, 1, 0.45, None, 1.0, None),
        ("b", "tuned", 20, 2, 0.40, 0.02, 2.0, 0.5),
        ("a", "guest", 10, 1, 0.35, None, None, None),
    ],
    columns=["task", "system", "queries", "seeds", "nDCG@10", "nDCG@10 sd", "rank", "rank sd"],
)
MEANS = means_rows(TABLE)
FACTS = Facts(
    Labels({"a": "A"}, {"tuned": "Tuned"}), ["nDCG@10", "rank"], ["tuned"], ["rank"], {"trained": {"tuned": ["b"]}}
)
TRIED = {"bm25": 25}


def cells(table):
    return [[plain(cell) for cell in row] for row in table.blocks[0]]


def bold(table):
    return [[plain(cell) for cell in row if getattr(cell, "look", "") == "strong"] for row in table.blocks[0]]


def test_systems_by_tasks_with_the_average_where_a_system_has_every_task():
    table = means_to_print(MEANS, "nDCG@10", FACTS, TRIED, None)
    assert [column.name for column in table.columns] == ["System", "A", "b", AVERAGE, "Tried"]
    assert cells(table) == [
        ["bm25", "0.250", "0.450", "0.350", "25"],
        ["Tuned", "0.350 ± 0.010", "0.400 ± 0.020*", "0.375", "1"],
        ["guest", "0.350", "", "", "1"],
    ]


def test_the_best_of_a_column_is_bold_also_where_lower_is_better_and_where_two_print_the_same():
    assert bold(means_to_print(MEANS, "nDCG@10", FACTS, TRIED, None)) == [
        ["0.450"],
        ["0.350 ± 0.010", "0.375"],
        ["0.350"],
    ]
    assert bold(means_to_print(MEANS, "rank", FACTS, TRIED, None)) == [["1.000", "2.000"], ["2.000 ± 0.500", "2.000"]]


def test_an_average_is_that_of_the_tasks():
    assert by_system(MEANS, "nDCG@10", FACTS, {})["bm25"][AVERAGE].mean == pytest.approx((0.25 + 0.45) / 2)


def test_one_task_has_no_average_and_untuned_systems_no_column():
    one = means_rows(TABLE[TABLE["task"] == "a"])
    untuned = (Facts(FACTS.labels, ["nDCG@10"]), {})
    assert [column.name for column in means_to_print(one, "nDCG@10", *untuned, None).columns] == ["System", "A"]
    assert [plain(text) for text in notes_to_print(one, "nDCG@10", *untuned, "", None).texts] == [
        "Bold: the highest mean of a column, significant or not.",
        "±: the standard deviation between seeds.",
    ]


@pytest.fixture
def family(tmp_path):
    """Files of a family of all pairs on one task: tuned is better than bm25."""
    scope = {"task": "all", "queries": 30, "permutations": 100, "exact": False, "critical_value": 2.0}
    record = {
        "systems": ["bm25", "tuned"], "against": None, "measure": "nDCG@10", "statistic": "t", "alpha": 0.05,
        "lower_is_better": False, "seeds": {"bm25": 1, "tuned": 2}, "scopes": [scope], "warnings": [],
    }  # fmt: skip
    (tmp_path / "all.json").write_text(json.dumps(record))
    line = {"task": "all", "system": "tuned", "other": "bm25", "system_mean": 0.375, "other_mean": 0.35, "n": 30}
    line |= {"difference": 0.025, "se": 0.01, "ci_low": 0.005, "ci_high": 0.045, "p_value": 0.01}
    row = pd.DataFrame([{**line, "parametric_p_value": 0.01, "system_letters": "a", "other_letters": "b"}])
    row.to_csv(tmp_path / "all.tsv", sep="\t", index=False)
    return tmp_path


def test_letters_stand_at_the_averages_in_both_formats(family):
    TABLE.to_csv(family / "means.tsv", sep="\t", index=False)
    facts = replace(FACTS, labels=Labels({}, {"tuned": "Tuned"}))
    written = (family / "m.md", family / "m.tex")
    write_means(family / "means.tsv", [family / "all.tsv"], [family / "all.json"], *written, facts, TRIED)
    page, tex = (path.read_text() for path in written)
    assert "**0.375** a" in page and "0.350 b" in page and "family all" in page
    assert r"\textbf{0.375}$^{ a}$" in tex and tex.count(r"\begin{tabular}") == 2


def pair(system, other, difference, p_value):
    means = {"system_mean": difference, "other_mean": 0.0, "se": 0.01, "ci_low": 0.0, "ci_high": 0.0}
    marks = {"parametric_p_value": p_value, "system_letters": "a", "other_letters": "b"}
    return Difference("A", 10, system, other, difference=difference, p_value=p_value, **means, **marks)


def all_pairs(*differences, groups=((0, 1),), systems=("guest", "Tuned", "bm25")):
    """A family of all pairs on task A, in the order of its means."""
    standings = tuple(Standing(name, 0.5, "a") for name in systems)
    scope = Scope("A", 10, standings, groups, None, 100, False, list(differences))
    record = FamilyRecord([*systems], None, "nDCG@10", "t", 0.05, False, {}, (), ())
    return FoundFamily(record, (scope,))


def test_where_all_pairs_are_tested_bold_follows_the_tests():
    one = TABLE.assign(**{"nDCG@10": [0.30, 0.31, 0.0, 0.0, 0.35], "nDCG@10 sd": None})
    one = means_rows(one[one["task"] == "a"])
    assert bold(means_to_print(one, "nDCG@10", FACTS, TRIED, None)) == [[], [], ["0.350"]]
    assert bold(means_to_print(one, "nDCG@10", FACTS, TRIED, all_pairs())) == [[], ["0.310"], ["0.350"]]
    fewer = all_pairs(groups=(), systems=("Tuned", "bm25"))  # says nothing about guest
    assert bold(means_to_print(one, "nDCG@10", FACTS, TRIED, fewer)) == [[], [], ["0.350"]]


def test_a_larger_difference_that_is_not_significant_has_its_sentence():
    said = size_alone(all_pairs(pair("guest", "bm25", -0.05, 0.2), pair("guest", "Tuned", 0.03, 0.01)))
    assert said.startswith(
        "Size alone does not decide: guest and bm25 (0.0500) do not differ significantly, guest and T"
    )
    assert size_alone(all_pairs(pair("guest", "bm25", 0.05, 0.01), pair("guest", "Tuned", 0.03, 0.2))) == ""
    assert size_alone(all_pairs(pair("guest", "bm25", 0.05, 0.2))) == ""


def test_what_stands_in_a_cell_is_told_apart():
    """Signs differ from each other and from the letters of families; headings of columns have one reading."""
    signs = [*(mark.sign for mark in MARKS if mark.sign), *(column.sign for column in COLUMNS)]
    assert len(set(signs)) == len(signs) and not any(sign.isalnum() for sign in signs)
    suffixes = [column.suffix for column in COLUMNS]
    assert len(set(suffixes)) == len(suffixes) and len({mark.name for mark in MARKS}) == len(MARKS)


def test_a_family_against_a_control_or_of_another_measure_gives_no_letters():
    assert of_all_pairs({}, "nDCG@10") == ("", None)
    assert len(printed_means(MEANS, {}, FACTS, TRIED)) == 2
