"""What the report says: questions and answers, tables, times, and text of the configuration that is never markup."""

import json
import re
import subprocess
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.tables import read_texts
from ranktrial.common.version import VERSION, commit_text
from ranktrial.experiment.exhibits import Placed, shown
from ranktrial.records.comparison import ComparisonRow, EffectsRow
from ranktrial.records.facts import Labels
from ranktrial.reports.comparison.reading import Found, Looks, check_columns
from ranktrial.reports.comparison.table import TRIED, TRIED_NOTE
from ranktrial.reports.contents import data
from ranktrial.reports.contents.comparisons import Figures, compared, comparisons, first, grouped, questions
from ranktrial.reports.contents.costs import Origin, duration, energy_text, facts, machine_table, made, read_timings
from ranktrial.reports.contents.data import Value
from ranktrial.reports.published import content as published
from ranktrial.reports.writing import html_page
from ranktrial.reports.writing.content import (
    Cell,
    Figure,
    Folded,
    Paragraph,
    Section,
    Span,
    Table,
    captions_once,
    plain,
    spans,
)
from ranktrial.statistics.method import Method
from ranktrial.statistics.task_results import task_result
from ranktrial.synthesis.all_comparisons import Settings as ComparisonsSettings
from ranktrial.synthesis.all_comparisons import comparisons as comparisons_table
from ranktrial.synthesis.comparison_results import rows
from scripts.reports.sections import with_exhibits
from scripts.reports.sections.made import origin_of
from tests.experiment.test_config import resolved
from tests.support.meta_records import facts as known_facts
from tests.support.meta_records import meta_record

EVIL = 'A <b>bold</b> & "quoted" <script>alert(1)</script>'
LOOKS = Looks(alpha=0.05, judged="")
SUMMARY = {"effect": 0.05, "variance": 1e-4, "se": 0.01, "ci_low": 0.03, "ci_high": 0.07, "df": None, "p_value": 1e-6,
           "log10_p": -6.0}  # fmt: skip
META = {
    "control": "c", "treatment": "t", "measure": "nDCG@10", "effect_type": "MD", "task_interval": "t", "k": 2, "summary": SUMMARY,
    "fixed": SUMMARY, "fixed_mean": SUMMARY, "prediction_interval": None, "q": 5.0, "q_df": 1, "q_p_value": 0.08, "i2": 60.0, "h2": 2.5,
    "tau2": 0.001, "tau2_ci": [0.0, 0.01], "warnings": [f"{EVIL} is left out"],
}  # fmt: skip


def one_found(**changes):
    rows = [
        {"task": task, "n": 50, "control_mean": 0.3, "treatment_mean": 0.35, "effect": 0.05, "variance": 1e-4, "se": 0.01,
         "ci_low": 0.03, "ci_high": 0.07, "p_value": 1e-6, "weight": 0.5, "t_p_value": 0.01, "log10_p": -6.0,
         "control_judged": None, "treatment_judged": None, "undefined": None}
        for task in "ab"
    ]  # fmt: skip
    return Found(tuple(EffectsRow(**row) for row in rows), meta_record(**META | changes))


NAMES = known_facts()


def all_compared(found, known=NAMES, looks=LOOKS):
    return compared(found, dict.fromkeys(found, looks), known)


def sections(found, known=NAMES, together=None):
    """The sections of the comparisons."""
    drawn = dict.fromkeys([*found, *(together or {})], LOOKS)
    shown = (all_compared(found, known), Figures(together or {}, drawn, {}))
    return [first(*shown), *(part for section in comparisons(*shown) for part in section.blocks)]


def named(blocks, kind):
    """The blocks of a kind, also inside others."""
    found = [block for block in blocks if isinstance(block, kind)]
    for block in blocks:
        found += named(getattr(block, "blocks", ()), kind) if isinstance(block, Section | Folded) else []
    return found


def adjustment(summary: float, mean: float) -> ComparisonRow:
    names = {"comparison": "x", "control": "c", "treatment": "t", "measure": "nDCG@10", "effect_type": "MD", "k": 2}
    return ComparisonRow(
        **names, hypotheses=7, p_holm=summary, p_bh=summary, fixed_mean_p_holm=mean, fixed_mean_p_bh=mean
    )


def answers_of(one):
    return [(answer.words, answer.kind) for answer in one.answers]


@pytest.mark.parametrize("changes, several", [({}, True), ({"k": 1, "q": None}, False)])
def test_reading_a_forest_plot_is_explained_by_what_is_drawn_in_it(changes, several):
    (figure,) = named(sections({"x": one_found(**changes)}), Figure)
    assert ("hollow diamond" in figure.caption) is several and "A diamond that misses zero" in figure.caption


def test_the_page_begins_with_the_first_figure_and_its_answers_and_shows_no_caption_twice():
    found = {"x": one_found(), "y": one_found(treatment="u"), "z": one_found(measure="AP")}
    beginning, *parts = captions_once(sections(found))
    question, items, _, figure, _ = beginning.blocks
    assert figure.path == "figures/x.svg" and figure.caption and beginning.anchor == "comparison-x"
    compared_x = all_compared(found)["x"]
    assert [plain(text) for text in items.texts] == [f"{one.words} {one.sentence}" for one in compared_x.answers]
    assert [[one.path for one in named([part], Figure)] for part in parts] == [["figures/y.svg"], ["figures/z.svg"]]
    assert plain(question.text) == compared_x.question and not comparisons(
        all_compared({"x": one_found()}), Figures({}, {"x": LOOKS}, {})
    )
    captions = [one.caption for one in named(parts, Figure)]
    assert captions[0] == "" and "of AP" not in figure.caption and "AP" in captions[1], "another effect has its own"
    assert len({table.source for table in named([beginning, *parts], Table)}) == 3, "each table leads to its file"


def test_the_answers_follow_the_corrected_p_values():
    one = all_compared({"x": replace(one_found(), family=adjustment(0.086, 0.04))})["x"]
    assert answers_of(one)[:2] == [("yes, higher", "better"), ("not significant after Holm correction", "open")]
    assert "Holm-corrected p = 0.040 for seven hypotheses): significant at the 0.05 level." in one.answers[0].sentence
    assert "not after Holm correction" in one.answers[1].sentence
    both = all_compared({"x": replace(one_found(), family=adjustment(0.04, 0.03))})["x"]
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
    one = all_compared({"x": one_found(**changes)})["x"]
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
    one = all_compared(found, known_facts(lower_is_better=True))["x"]
    assert answers_of(one)[:2] == [("no, higher", "worse"), expected]


def test_further_figures_stand_with_their_comparison():
    changes = {
        "comparisons/x": {"control": "bm25", "treatment": "tuned", "figure": {"influence": True, "queries": True}}
    }
    tasks = {f"datasets/{name}": {"format": "beir", "location": name} for name in ("docs", "rules")}
    experiment = resolved(changes | tasks | {"tasks": ["d", "docs", "rules"]})
    placed = [Placed(**place) for place in shown(experiment) if place["name"].endswith("-x")]
    parts = with_exhibits(sections(dict.fromkeys("xy", one_found())), placed)
    assert [[one.path for one in named([part], Figure)] for part in parts] == [
        ["figures/x.svg", "figures/influence-x.svg", "figures/queries-x.svg"], ["figures/y.svg"],
    ]  # fmt: skip


def test_comparisons_that_are_drawn_together_stand_together():
    found = {"a-1": one_found(), "other": one_found(), "a-2": one_found(treatment="u")}
    together = {"a": ("a-1", "a-2")}
    assert grouped(found, together) == {"a": ("a-1", "a-2"), "other": ["other"]}
    beginning, *parts = sections(found, together=together)
    several = [one.name for one in parts[0].blocks if isinstance(one, Section)]
    assert ([part.name for part in parts], several) == (["a", "other"], ["a-1", "a-2"])
    assert isinstance(beginning.blocks[1], Figure) and beginning.title == parts[0].title == "2 systems against c"
    anchors = [one.anchor for one in named(parts, Section)]
    assert len(set(anchors)) == len(anchors) == 4


def test_the_overview_answers_each_question_and_sorts_by_exact_values():
    wide = SUMMARY | {"effect": 0.1, "ci_low": -0.1, "ci_high": 0.3, "p_value": 0.3}
    found = {
        "a": one_found(summary=wide, alpha=0.05),
        "b": one_found(summary=None, fixed_mean=None, k=0, alpha=0.05),
        "c": one_found(alpha=0.05, k=1, q=None, tau2=None, tau2_ci=None),
    }
    all_of_them = comparisons_table({name: one.meta for name, one in found.items()}, ComparisonsSettings())
    members = all_compared(found)
    assert not questions(all_of_them, {"a": members["a"]}, NAMES)
    _, shown, said = questions(all_of_them, members, NAMES)[0].blocks
    first, second, third = shown.blocks[0]
    assert [one.name for one in shown.columns][1:5] == ["On these collections", "p", "Over collections like these", "p"]
    assert (plain(first[0]), spans(first[0])[0].link) == ("Does t beat c in nDCG@10? a", "#comparison-a")
    assert spans(first[1])[0] == Span("yes, higher", "better")
    assert plain(first[3]) == "not significant 0.100 [\N{MINUS SIGN}0.100, 0.300]" and spans(first[3])[0].look == "open"
    assert [plain(cell) for cell in second[1:5]] == ["no test", "", "", ""]
    assert [plain(cell) for cell in third[3:5]] == ["", ""]  # one collection says nothing of others
    assert first[3].sort == 0.1 and not isinstance(second[3], Cell)
    assert TRIED_NOTE not in said.text
    budgets = all_of_them.assign(control_tried=[25, 1, 1], treatment_tried=[1, 1, 11])
    _, shown, said = questions(budgets, members, NAMES)[0].blocks
    assert said.text.endswith(TRIED_NOTE) and shown.columns[-1].name == TRIED
    assert [row[-1] for row in shown.blocks[0]] == ["25 → 1", "1 → 1", "1 → 11"]


def test_a_mean_prints_as_its_effect_does():
    assert Value(0.05249999999999999).number == Value(0.0525).number == "0.053"


def test_published_numbers_keep_their_digits_and_mark_what_differs(tmp_path):
    path = tmp_path / "published.tsv"
    path.write_text(
        "table\trow\tcolumn\tpublished\tours\tequal\tours_in_full\tcomparison\tbeside\tbeside_comparison\tnote\n"
        "T\tr\tc\t0.70\t0.70\tyes\t0.7\tx\t\t\t\nT\tr\td\t0.80\t0.81\tno\t0.8125\tx\t\t\twhy\n"
    )
    (table,) = published(read_texts(path), together=True)
    assert [list(map(plain, row)) for row in table.blocks[0]] == [
        ["T", "r", "c", "0.70", "0.70", "yes", "x", "", ""],
        ["T", "r", "d", "0.80", "0.81", "no", "x", "why", "0.8125"],
    ]
    assert table.blocks[0][1][5] == Span("no", "strong")
    path.write_text(
        "table\tvariant\tsystem\ttraining\tmeasure\tcutoff\tpublished\tpublished_sd\tours\tours_sd\tdifference\tratio\tverdict\treason\tremarks\n"
        "A\t\tm\tnone\tMAP\t5\t.80\t.01\t\t\t\t\tnot run\tcost\t\nA\t\tm\tnone\tMAP\t1\t.80\t\t.75\t.01\t-0.0512\t\tdifferent\t\tlow\n"
    )
    *_, table = published(read_texts(path), together=True)
    assert [list(map(plain, row)) for row in table.blocks[0]] == [
        ["A", "m", "none", "MAP@5", ".80 ± .01", "", "", "not run", "cost"],
        ["A", "m", "none", "MAP@1", ".80", ".75 ± .01", "\N{MINUS SIGN}0.051", "different [1]", ""],
    ]


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
    rows = [list(map(plain, row)) for row in machine_table(found).blocks[0]]
    assert [(row[0], row[1], row[4], row[5]) for row in rows] == [
        ("Ranking", "cpu", "1", "30.0 s"),
        ("Training", "A100", "2", "2.0 h"),
    ]
    assert dict(facts(found)) == {
        "Versions": "torch 2",
        "Threads per job": "2",
        "Time on GPUs": "2.0 h",
        "Energy": "not measured: no counter of these machines could be read",
    }
    of_gpus = [{"energy_joules": {"gpu": 1_250_000.0, "processor": 400.0}}, {"energy_joules": {"processor": 600.0}}, {}]
    said = "1.0 kJ of processor packages, with everything that ran on them and 1,250.0 kJ of graphics cards"
    assert energy_text(of_gpus) == f"{said}, in 2 of 3 timed jobs"
    assert duration(90) == "1.5 min"


def test_what_was_put_before_texts_is_said_of_the_systems_that_ranked_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    e5 = {"query": "query: ", "document": 'a "b"\n<i>'}
    reported = {"runs/d/s/seed-0": e5, "runs/c/s/seed-0": e5, "runs/d/t/seed-1": e5, "runs/d/u/seed-0": {"query": "q "},
            "runs/d/v/seed-0": None, "models/m/r/seed-1": e5, "runs/d/w/seed-0": {"query": "x "}, "runs/d/w/seed-1": {"query": "x "},
            "runs/c/w/seed-0": {"query": "y "}}  # fmt: skip
    paths = [Path("results/e", f"{name}.timing.json") for name in reported]
    for path, prompts in zip(paths, reported.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"device": "cpu"} | ({"prompts": prompts} if prompts else {})))
    said = dict(facts(read_timings(paths)))["Prompts"]
    assert said.startswith('query "query: " and document "a \\"b\\"\\n<i>" (s, t); query "q " (u); ')
    assert said.endswith('query "x " (w on d); query "y " (w on c)')
    assert "Prompts" not in dict(facts(read_timings(paths[4:5])))


ORIGIN = Origin("2024-05-06", "0123abc", "a processor, 2 cores", "results/e/config.yaml")


def test_a_page_says_when_where_and_of_what_it_was_made():
    said = [plain(text) for text in made(ORIGIN, {"fetch": 1}, [], [], []).blocks[-1].texts]
    assert said == [
        "Written: 2024-05-06, on a processor, 2 cores",
        "Commit: 0123abc",
        f"Version: ranktrial {VERSION}",
        "Configuration: results/e/config.yaml, with all defaults; snakemake --configfile results/e/config.yaml runs it again",
    ]
    now = origin_of("e")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", now.date) and " cores, " in now.machine


def test_the_commit_of_changed_sources_is_said_to_be_changed(tmp_path):
    assert commit_text(tmp_path) == "not known: the sources lie in no git repository"
    (tmp_path / "Snakefile").write_text("rule all:\n")
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    clean = commit_text(tmp_path)
    assert re.fullmatch("[0-9a-f]{40}", clean)
    (tmp_path / "Snakefile").write_text("rule other:\n")
    assert commit_text(tmp_path) == f"{clean}, with changes to the sources"


def test_the_rules_have_their_jobs_and_what_they_take():
    feeds = [["fetch", "rank"], ["train", "rank"], ["train", "train"]]
    section = made(ORIGIN, {"fetch": 1, "train": 1200, "rank": 2}, feeds, [], [])
    assert section.blocks[0] == Paragraph(f"ranktrial {VERSION} ran 1,203 jobs of 3 rules, from raw data to this page.")
    assert section.blocks[1].blocks[0].blocks == [
        [["fetch", "1", ""], ["train", "1,200", ""], ["rank", "2", "fetch, train"]]
    ]


def test_text_of_the_configuration_is_never_markup():
    labels = known_facts(Labels({"a": EVIL}, {"t": EVIL, "c": "C"}))
    content = [
        *sections({"x": one_found()}, labels),
        data.tasks([EVIL], pd.DataFrame(), {}),
        data.systems({"t": EVIL}, labels.labels, {}, [EVIL]),
        made(ORIGIN, {EVIL: 1}, [[EVIL, EVIL]], [], [EVIL]),
    ]
    svg = f'<svg width="5pt"><text>{EVIL}</text></svg>'
    page = html_page.document(EVIL, content, {"figures/x.svg": svg})
    assert "<b>" not in page and "alert(1)" in page and page.count("<script>") == 1
    assert "A &lt;b&gt;bold&lt;/b&gt; &amp; " in page


@pytest.mark.parametrize(
    ("effect", "hedges", "said"),
    [
        ("MD", True, "the square is the mean difference in nDCG@10, the line"),
        ("SMD", True, "the square is the standardised mean difference (Hedges' g), the line"),
        ("SMD", False, "the square is the standardised mean difference (d, not corrected for small samples), the line"),
        ("d_av", True, "over the mean of both standard deviations (d_av, corrected for small samples), the line"),
        ("d_av", False, "over the mean of both standard deviations (d_av, not corrected for small samples), the line"),
        ("CORR", True, "the square is the correlation, the line"),
    ],
)
def test_a_caption_names_the_effect_that_was_computed(effect, hedges, said):
    (figure,) = named(sections({"x": one_found(effect_type=effect, own={"hedges": hedges})}), Figure)
    assert said in figure.caption


def test_a_column_of_an_effects_file_that_nobody_knows_is_an_error():
    """A misspelt column would otherwise be left out of figures without a word."""
    known = [one.name for one in fields(EffectsRow)]
    with pytest.raises(UserError, match=r"x\.tsv: unknown column 'control_jugded'"):
        check_columns([*known, "control_jugded"], "x.tsv")
    with pytest.raises(UserError, match=r"x\.tsv: no column 'control_judged'"):
        check_columns([name for name in known if name != "control_judged"], "x.tsv")


def test_the_columns_that_are_known_are_those_that_are_written():
    scores = np.array([[0.1], [0.4], [0.3], [0.8]])
    result = task_result(scores, scores + scores**2, Method(permutations=10))
    check_columns(list(rows({"a": result}, {"a": 1.0}).columns), "written")
