"""What the report says: questions and answers, tables, times, and text of the configuration that is never markup."""

import copy
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from markupsafe import Markup

from scripts.common.errors import UserError
from scripts.common.tables import read_texts
from scripts.reports.comparison.adjustment import Adjusted, Adjustment
from scripts.reports.comparison.looks import Looks
from scripts.reports.comparison.reading import SHOWN, Found, Labels, check_columns
from scripts.reports.comparison.table import TRIED, TRIED_NOTE
from scripts.reports.page.families import ShownFamily
from scripts.reports.page.machine import duration, energy_in_words, facts, machine_table, read_timings
from scripts.reports.page.overview import overview_table
from scripts.reports.page.published import published_table
from scripts.reports.page.rule_graph import draw
from scripts.reports.page.sections import sections
from scripts.reports.page.tables import Cell, Table, means_table, selected_table
from scripts.reports.page.transfer import ShownStudy
from scripts.reports.report import grouped, render
from scripts.synthesis.comparison_settings import Settings
from scripts.synthesis.comparisons_table import Settings as ComparisonsSettings
from scripts.synthesis.comparisons_table import table as comparisons
from scripts.synthesis.task_results import Scores, rows, task_result

EVIL = 'A <b>bold</b> & "quoted" <script>alert(1)</script>'
LOOKS = Looks(0.05, "DL", "normal", judged="", p="t-test", correction="none", sort="config")
SUMMARY = {"effect": 0.05, "variance": 1e-4, "se": 0.01, "ci_low": 0.03, "ci_high": 0.07, "df": None, "p_value": 1e-6,
           "log10_p": -6.0}  # fmt: skip
META = {
    "control": "c", "treatment": "t", "measure": "nDCG@10", "effect_type": "MD", "task_interval": "t", "hedges": True, "k": 2, "summary": SUMMARY,
    "fixed": SUMMARY, "fixed_mean": SUMMARY, "prediction_interval": None, "q": 5.0, "q_df": 1, "q_p_value": 0.08, "i2": 60.0, "h2": 2.5,
    "tau2": 0.001, "tau2_ci": [0.0, 0.01], "warnings": [f"{EVIL} is left out"],
}  # fmt: skip
SVG = """<?xml version="1.0"?>
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="5pt" height="4pt" viewBox="0 0 5 4">
<metadata>http://example.org</metadata><defs><style>*{stroke-linejoin: round}</style></defs>
<g id="patch_1"><path d="M 0 0" style="fill: #ffffff"/></g>
<!-- one --><g id="unused" clip-path="url(#p1)"><text style="font-family: 'DejaVu Sans'">x</text></g>
<use xlink:href="#m1"/><defs><clipPath id="p1"/><path id="m1"/></defs></svg>"""


def one_found(**changes):
    rows = [
        {"task": task, "n": 50, "control_mean": 0.3, "treatment_mean": 0.35, "effect": 0.05, "variance": 1e-4, "se": 0.01,
         "ci_low": 0.03, "ci_high": 0.07, "p_value": 1e-6, "weight": 0.5, "t_p_value": 0.01, "log10_p": -6.0,
         "control_judged": None, "treatment_judged": None, "undefined": None}
        for task in "ab"
    ]  # fmt: skip
    return Found(pd.DataFrame(rows).astype(object), copy.deepcopy(META) | changes)


def all_sections(found, labels=None, together=None):
    figures = {name: SVG for name in [*found, *(together or {})]}
    return sections(found, dict.fromkeys(found, LOOKS), together or {}, labels or Labels({}, {}), figures)


def adjustment(summary: float, mean: float) -> Adjustment:
    return Adjustment(Adjusted(summary, summary, 7), Adjusted(mean, mean, 7), Adjusted(), Adjusted())


def only(sections):
    """The only comparison of the page."""
    ((one,),) = ([*part.members] for part in sections)
    return one


def answers_of(one):
    return [(answer.words, answer.kind) for answer in one.answers]


def test_the_answers_follow_the_corrected_p_values():
    one = only(all_sections({"x": replace(one_found(), family=adjustment(0.086, 0.04))}))
    assert answers_of(one)[:2] == [("yes, higher", "better"), ("not significant after Holm correction", "open")]
    assert "Holm-corrected p = 0.040 for seven hypotheses): significant at the 0.05 level." in one.answers[0].sentence
    assert "not after Holm correction" in one.answers[1].sentence
    both = only(all_sections({"x": replace(one_found(), family=adjustment(0.04, 0.03))}))
    assert answers_of(both)[:2] == [("yes, higher", "better")] * 2


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({}, ("Does t beat c in nDCG@10?", [("yes, higher", "better")] * 2 + [("no prediction", "open")])),
        ({"summary": SUMMARY | {"ci_low": -0.01, "p_value": 0.1}, "prediction_interval": [-0.1, 0.2], "prediction_df": None},
         ("Does t beat c in nDCG@10?", [("yes, higher", "better"), ("not significant", "open"), ("-0.100 to 0.200", "open")])),
        ({"summary": SUMMARY | {"effect": -0.05, "ci_low": -0.1, "ci_high": -0.01}},
         ("Does t beat c in nDCG@10?", [("yes, higher", "better"), ("no, lower", "worse"), ("no prediction", "open")])),
        ({"summary": SUMMARY | {"ci_low": 0.05, "ci_high": 0.05, "p_value": None}},
         ("Does t beat c in nDCG@10?", [("yes, higher", "better"), ("no test", "open"), ("no prediction", "open")])),
        ({"summary": None, "fixed_mean": None, "k": 0}, ("Does t beat c in nDCG@10?", [("no test", "open")])),
        ({"k": 1, "q": None}, ("Does t beat c in nDCG@10?", [("yes, higher", "better"), ("not known", "open")])),
        ({"effect_type": "CORR"},
         ("How well does t agree with c?", [("correlated", "better")] * 2 + [("no prediction", "open")])),
    ],
)  # fmt: skip
def test_a_comparison_is_a_question_and_its_answers(changes, expected):
    one = only(all_sections({"x": one_found(**changes)}))
    said = [(words.replace("\N{MINUS SIGN}", "-"), kind) for words, kind in answers_of(one)]
    assert (one.question, said) == expected


@pytest.mark.parametrize(
    "summary, expected",
    [
        ({}, ("no, higher", "worse")),
        ({"effect": -0.05, "ci_low": -0.1, "ci_high": -0.01}, ("yes, lower", "better")),
        ({"ci_low": -0.01, "p_value": 0.1}, ("not significant", "open")),
    ],
)
def test_answers_follow_the_direction_of_the_measure(summary, expected):
    found = {"x": one_found(summary=SUMMARY | summary)}
    one = only(sections(found, {"x": replace(LOOKS, lower_is_better=True)}, {}, Labels({}, {}), {"x": SVG}))
    assert answers_of(one)[:2] == [("no, higher", "worse"), expected]


def test_further_figures_stand_with_their_comparison():
    figures = {"x": SVG, "y": SVG, "influence-x": SVG, "queries-x": SVG}
    parts = sections(dict.fromkeys("xy", one_found()), dict.fromkeys("xy", LOOKS), {}, Labels({}, {}), figures)
    assert [[one.title for one in part.members[0].further] for part in parts] == [
        ["Influence of each task", "Differences of all queries"], [],
    ]  # fmt: skip


def test_comparisons_that_are_drawn_together_stand_together():
    found = {"a-1": one_found(), "other": one_found(), "a-2": one_found(treatment="u")}
    parts = all_sections(found, together={"a": ("a-1", "a-2")})
    assert [(part.name, [one.name for one in part.members]) for part in parts] == [
        ("a", ["a-1", "a-2"]),
        ("other", ["other"]),
    ]
    anchors = [part.anchor for part in parts] + [one.anchor for part in parts for one in part.members]
    assert len(set(anchors)) == 5


def test_the_overview_shares_one_scale_and_sorts_by_exact_values():
    wide = SUMMARY | {"effect": 0.1, "ci_low": -0.1, "ci_high": 0.3, "p_value": 0.3}
    found = {
        "a": one_found(summary=wide, alpha=0.05),
        "b": one_found(summary=None, fixed_mean=None, k=0, alpha=0.05),
        "c": one_found(alpha=0.05, k=1, q=None, tau2=None, tau2_ci=None),
    }
    table = comparisons({name: one.meta for name, one in found.items()}, ComparisonsSettings())
    members = [one for part in all_sections(found) for one in part.members]
    shown = overview_table(table, Labels({}, {}), members)
    first, second, third = shown.rows
    assert [name for name, _ in shown.columns][1:5] == ["On these collections", "p", "Over collections like these", "p"]
    assert (first[0].text, first[0].note, first[1].text) == ("Does t beat c in nDCG@10?", "a", "yes, higher")
    assert (first[3].text, first[3].note) == ("not significant", "0.10 [\N{MINUS SIGN}0.10, 0.30]")
    drawings = [str(cell.drawing) for cell in (first[1], first[3], third[1])]
    assert len({re.search(r'class="zero" d="M([\d.]+)', one)[1] for one in drawings}) == 1
    assert ["unsure" in one for one in drawings] == [False, True, False]
    assert [cell.text for cell in second[1:5]] == ["no test", "", "", ""]
    assert [cell.text for cell in third[3:5]] == ["", ""]  # one collection says nothing of others
    assert [row[3].sort for row in shown.rows] == [0.1, None, None] and first[4].sort == 0.3
    assert TRIED_NOTE not in shown.caption
    budgets = overview_table(
        table.assign(control_tried=[25, 1, 1], treatment_tried=[1, 1, 11]), Labels({}, {}), members
    )
    assert budgets.caption.endswith(TRIED_NOTE) and budgets.columns[-1] == (TRIED, True)
    assert [row[-1].text for row in budgets.rows] == ["25 → 1", "1 → 1", "1 → 11"]


def test_means_mark_the_best_and_what_was_learnt():
    means = pd.DataFrame(
        {"task": ["a", "a"], "system": ["s", "t"], "queries": [5, 5], "RR": [0.25, 0.5], "RR sd": [None, 0.01]}
    )
    (row,) = means_table(means, "RR", {"t": ["a"]}, Labels({}, {})).rows
    assert [(cell.text, cell.strong) for cell in row] == [
        ("a", False),
        ("5", False),
        ("0.250", False),
        ("0.500 ± 0.010*", True),
    ]


def test_selected_seeds_say_which_was_kept_and_where_a_test_set_chose():
    selected = pd.DataFrame(
        {"system": "s", "task": ["dev", "dev", "a"], "split": ["dev", "dev", "test"], "formula": "P@1", "seed": [1, 2, 1],
         "chosen": ["no", "yes", "yes"], "score": [0.25, 0.5, 0.1]}
    )  # fmt: skip
    rows = selected_table(selected, Labels({"dev": "Dev"}, {"s": "S"})).rows
    assert [cell.text for cell in rows[1]] == ["S", "Dev", "P@1", "2", "0.5000", "yes"]
    assert [row[1].text for row in rows] == ["Dev", "Dev", "a (a test set)"] and [row[5].strong for row in rows] == [
        False,
        True,
        True,
    ]


def test_published_numbers_keep_their_digits_and_mark_what_differs(tmp_path):
    path = tmp_path / "published.tsv"
    path.write_text(
        "table\trow\tcolumn\tpublished\tours\tequal\tnote\nT\tr\tc\t0.70\t0.70\tyes\t\nT\tr\td\t0.80\t0.81\tno\twhy\n"
    )
    rows = published_table(read_texts(path)).rows
    assert [[cell.text for cell in row] for row in rows] == [
        ["T", "r", "c", "0.70", "0.70", "yes", ""], ["T", "r", "d", "0.80", "0.81", "no", "why"]
    ]  # fmt: skip
    assert rows[1][5].strong and not rows[0][5].strong and rows[1][4].sort == 0.81
    path.write_text(
        "table\tvariant\tsystem\ttraining\tmeasure\tcutoff\tpublished\tpublished_sd\tours\tours_sd\tverdict\treason\n"
        "A\t\tm\tnone\tMAP\t5\t.80\t.01\t\t\tnot run\tcost\n"
    )
    (row,) = published_table(read_texts(path)).rows
    assert [cell.text for cell in row] == ["A", "m, none", "MAP@5", ".80 ± .01", "", "not run", "cost"]
    assert not row[5].strong


def test_timings_add_up_by_device_and_say_the_time_on_gpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    timed = {
        "models/m/r/seed-1.timing.json": ("A100", 5400),
        "models/m/r/seed-2.timing.json": ("A100", 1800),
        "runs/d/s/seed-0.timing.json": ("cpu", 30),
    }
    paths = [Path("results/e", name) for name in timed]
    for path, (device, seconds) in zip(paths, timed.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        figures = {"device": device, "seconds": seconds, "processor": "P", "threads": 2, "versions": {"torch": "2"}}
        path.write_text(json.dumps(figures))
    found = read_timings(paths)
    rows = [[cell.text for cell in row] for row in machine_table(found).rows]
    assert [(row[0], row[1], row[4], row[5]) for row in rows] == [
        ("Ranking", "cpu", "1", "30.0 s"),
        ("Training", "A100", "2", "2.0 h"),
    ]
    assert dict(facts(found)) == {
        "Versions": "torch 2",
        "Threads a job": "2",
        "Time on GPUs": "2.0 h",
        "Energy": "not measured: no counter of these machines could be read",
    }
    of_gpus = [{"energy_joules": {"gpu": 1_250_000.0, "processor": 400.0}}, {"energy_joules": {"processor": 600.0}}, {}]
    said = "1.0 kJ of processor packages, with all that ran on them and 1,250.0 kJ of graphics cards"
    assert energy_in_words(of_gpus) == f"{said}, in 2 of 3 timed jobs"
    assert duration(90) == "1.5 min"


def test_what_was_put_before_texts_is_said_of_the_systems_that_ranked_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    e5 = {"query": "query: ", "document": 'a "b"\n<i>'}
    told = {"runs/d/s/seed-0": e5, "runs/c/s/seed-0": e5, "runs/d/t/seed-1": e5, "runs/d/u/seed-0": {"query": "q "},
            "runs/d/v/seed-0": None, "models/m/r/seed-1": e5}  # fmt: skip
    paths = [Path("results/e", f"{name}.timing.json") for name in told]
    for path, prompts in zip(paths, told.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"device": "cpu"} | ({"prompts": prompts} if prompts else {})))
    said = dict(facts(read_timings(paths)))["Prompts"]
    assert said == 'query "query: " and document "a \\"b\\"\\n<i>" (s, t); query "q " (u)'
    assert "Prompts" not in dict(facts(read_timings(paths[4:5])))


def test_datasets_of_one_source_stand_together():
    source = {"location": "x.zip", "licence": "MIT"}
    assert grouped({"a": source, "b": source, "c": source | {"licence": "?"}}) == {
        "a, b": source,
        "c": source | {"licence": "?"},
    }


def test_text_of_the_configuration_is_never_markup():
    labels = Labels({"a": EVIL}, {"t": EVIL, "c": "C"})
    evil_table = Table(EVIL, [(EVIL, False)], [[Cell(EVIL)]])
    page = render(
        {
            "experiment": EVIL, "counts": {"systems": 1, "tasks": 1, "comparisons": 1}, "overview": None,
            "sections": all_sections({EVIL: one_found()}, labels), "folded": True, "datasets": None, "tasks": [EVIL],
            "sources": {}, "systems": [(EVIL, EVIL, EVIL)], "selected": None, "chosen": None, "means": [], "spread": True, "trained": True, "charts": [], "sizes": [], "measure": EVIL, "losses": [],
            "costs": None, "cost_figures": [], "published": None, "published_counts": None,
            "families": [ShownFamily(EVIL, "m1", EVIL, EVIL, [EVIL], evil_table, evil_table, Markup("<svg/>"))],
            "studies": [ShownStudy(EVIL, "t1", EVIL, evil_table, [EVIL], [(EVIL, Markup("<svg/>"))], [(EVIL, [EVIL], [EVIL])])],
            "graph": draw({EVIL: 1}, []), "jobs": {EVIL: 1}, "machine": None, "facts": [(EVIL, EVIL)],
            "seeds": {"data": 1, "training": {EVIL: [1]}}, "version": EVIL,
        },
    )  # fmt: skip
    assert "<b>" not in page and "alert(1)" in page and page.count("<script>") == 1
    assert "A &lt;b&gt;bold&lt;/b&gt; &amp; " in page


@pytest.mark.parametrize(
    ("effect", "hedges", "said"),
    [
        ("MD", True, "the square is the mean difference in nDCG@10, its area"),
        ("SMD", True, "the square is the standardised mean difference (Hedges' g), its area"),
        ("SMD", False, "the square is the standardised mean difference (d, not corrected for small samples), its area"),
        ("d_av", True, "over the mean of both standard deviations (d_av, corrected for small samples), its area"),
        ("d_av", False, "over the mean of both standard deviations (d_av, not corrected for small samples), its area"),
        ("CORR", True, "the square is the correlation, its area"),
    ],
)
def test_a_caption_names_the_effect_that_was_computed(effect, hedges, said):
    (section,) = all_sections({"x": one_found(effect_type=effect, hedges=hedges)})
    assert said in section.picture.caption


def test_a_column_of_an_effects_file_that_nobody_knows_is_an_error():
    """A misspelt column would otherwise be left out of figures without a word."""
    known = ["task", *SHOWN]
    check_columns([*known, "t_p_holm", "seed_share"], "x.tsv")
    with pytest.raises(UserError, match=r"x\.tsv: unknown column 'control_jugded'"):
        check_columns([*known, "control_jugded"], "x.tsv")
    with pytest.raises(UserError, match=r"x\.tsv: no column 'control_judged'"):
        check_columns([name for name in known if name != "control_judged"], "x.tsv")


def test_the_columns_that_are_known_are_those_that_are_written():
    scores = np.array([0.1, 0.4, 0.3, 0.8])
    frame = pd.DataFrame({1: scores})
    settings = Settings("c", "t", "P@1", "MD", "DL", "normal", "t", 0.05, 1, True, 10, 1, False)
    result = task_result(Scores(frame, None), Scores(frame + scores[:, None] ** 2, None), settings)
    check_columns(list(rows({"a": result}, {"a": 1.0}).columns), "written")
