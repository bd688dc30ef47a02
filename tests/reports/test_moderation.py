"""Moderators as readers see them: sentences, tables, bubble plots, and subgroups in a forest plot."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from ranktrial.common.keys import given
from ranktrial.common.settings import read_record
from ranktrial.experiment.exhibits import bubble as exhibit
from ranktrial.experiment.exhibits import forest as forest_exhibit
from ranktrial.records.comparison import EffectsRow, ModerationRecord
from ranktrial.records.facts import Labels
from ranktrial.reports.comparison import moderation
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.moderation import (
    coefficient_rows,
    dependence_sentence,
    moderators_test,
    statement,
)
from ranktrial.reports.comparison.plot_text import lines_of
from ranktrial.reports.figures import bubble as bubble_figure
from ranktrial.reports.figures.bubble import LARGEST, Bubble, BubblePlot, Fitted, bubble_plot
from ranktrial.reports.figures.forest import forest_plot
from ranktrial.reports.writing.content import Paragraph
from ranktrial.statistics.dependence import Dependence
from ranktrial.statistics.method import Method
from ranktrial.statistics.moderation import Effects, Level, Model, Subgroups, models
from ranktrial.statistics.moderation import subgroups as grouped
from ranktrial.statistics.summaries import Summary
from scripts.reports import planning as pages
from scripts.reports import tables
from scripts.reports.sections import comparisons
from tests.experiment.test_config import resolved
from tests.reports.test_forest import forest, outside, overlapping, patches, words
from tests.support.calling import call
from tests.support.meta_records import facts

TASKS = tuple("abcdefgh")


def plain(text: str) -> str:
    """A sentence without the spaces at which no line breaks."""
    return text.replace("\N{NO-BREAK SPACE}", " ")


EFFECTS = Effects(
    TASKS,
    np.array([0.02, 0.05, -0.03, 0.08, 0.04, 0.11, 0.01, 0.06]),
    np.array([4e-4, 1e-4, 9e-4, 2e-4, 3e-4, 1e-4, 2e-4, 5e-4]),
)
VALUES = {"Size": [3.0, 4, 5, 3, 6, 7, 4, 2], "Kind": list("xyxyxyyx"), "Flat": [1.0] * 8}
METHOD = Method(interval="knapp-hartung", permutations=100, seed=1)
ALPHA = 0.05


@pytest.fixture(scope="module")
def record():
    """What a job writes of eight tasks: three moderators, the last of them constant, and subgroups."""
    by_task = {task: {name: VALUES[name][place] for name in VALUES} for place, task in enumerate(TASKS)}
    return ModerationRecord(
        effect_type="MD", estimator="REML", interval="knapp-hartung", alpha=ALPHA, depends_on=[],
        labels={name: name for name in VALUES}, values=by_task, models=tuple(models(EFFECTS, VALUES, METHOD)),
        subgroups=grouped(EFFECTS, "Kind", dict(zip(TASKS, VALUES["Kind"], strict=True)), METHOD),
    )  # fmt: skip


@pytest.fixture
def files(tmp_path, record):
    rows = [
        {"task": task, "effect": effect, "variance": variance, "weight": 0.125, "undefined": None}
        for task, effect, variance in zip(TASKS, EFFECTS.estimates, EFFECTS.variances, strict=True)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "c.tsv", sep="\t", index=False)
    (tmp_path / "c.json").write_text(json.dumps(given(record)))
    return tmp_path


def test_a_sentence_repeats_the_numbers_of_its_model(record):
    size, kind, flat, together = record.models
    fit, slope, tau = size.fit, size.fit.coefficients[1], math.sqrt(size.fit.tau2)
    reported = plain(statement(size, ALPHA))
    for name in ("estimate", "ci_low", "ci_high"):
        half = (slope.ci_high - slope.ci_low) / 2
        assert form.fixed(getattr(slope, name), form.decimals_for(half)) in reported
    assert f"F(1, 6) = {fit.qm:.2f}, p = {fit.qm_p_value:.3f}" in reported
    assert f"permutation test (100 permutations) p = {fit.permutation_p_value:.3f}" in reported
    assert f"(Holm) p = {fit.qm_p_holm:.3f}" in reported and f"QE = {fit.qe:.1f}, df = 6" in reported
    assert f"R² = {fit.r2:.0f}%; residual τ = {form.fixed(tau, form.decimals_for(tau))}," in reported
    assert "slope" not in statement(kind, ALPHA) and f"F(1, 6) = {kind.fit.qm:.2f}" in plain(statement(kind, ALPHA))
    assert statement(flat, ALPHA) == "Flat: not fitted, Flat is the same on all tasks."
    assert statement(together, ALPHA) == "All together: not fitted, Flat is the same on all tasks."


def test_with_a_normal_interval_the_test_is_chi_square():
    (model,) = models(EFFECTS, {"Size": VALUES["Size"]}, replace(METHOD, interval="normal"))
    assert plain(moderators_test(model.fit, ALPHA)).startswith(f"χ²(1) = {model.fit.qm:.2f}, p = ")


def test_what_takes_tasks_as_independent_is_said(record):
    """Tasks a and b share queries: the models hold it, the permutation test does not."""
    sampling = np.diag(EFFECTS.variances)
    sampling[0, 1] = sampling[1, 0] = 1e-4
    effects = replace(EFFECTS, dependence=Dependence(sampling, (9.0,) * 8, tuple(range(8))))
    (model,) = models(effects, {"Size": VALUES["Size"]}, replace(METHOD, estimator="DL"))
    said = "permutation test (100 permutations, tasks taken as independent) p ="
    assert said in plain(statement(model, ALPHA)) and said not in plain(statement(record.models[0], ALPHA))
    known = replace(record, depends_on=["the covariance of tasks"], estimator="DL", models=(model,), subgroups=None)
    assert dependence_sentence(known) == (
        "The models include the covariance of tasks, as the summary does; the permutation test takes tasks as independent. "
        "τ² is estimated by REML, since effects of tasks are correlated."
    )
    assert dependence_sentence(record) == ""
    assert dependence_sentence(replace(known, models=(), depends_on=["x", "y"])).startswith(
        "The models include x and y,"
    )
    blocks = moderation.content(known)
    assert Paragraph(dependence_sentence(known)) in blocks


def test_degrees_of_freedom_that_seeds_give_are_not_whole(record):
    fit = replace(record.models[0].fit, df=7.123456)
    assert plain(moderators_test(fit, ALPHA)).startswith("F(1, 7.123) = ")
    coefficients = tuple(replace(coefficient, df=7.5) for coefficient in fit.coefficients)
    model = replace(record.models[0], fit=replace(fit, coefficients=coefficients))
    table = moderation.in_full(replace(record, models=(model,), subgroups=None))
    assert list(table["df"]) == [7.5, 7.5] and str(table["model_k"].dtype) == "Int64"


def test_each_coefficient_is_a_row(record):
    assert [row[:2] for row in coefficient_rows(record)] == [
        ["Size", "intercept"], ["Size", "Size"], ["Kind", "intercept"], ["Kind", "Kind: y"],
    ]  # fmt: skip


def test_the_tables_hold_every_number(files, record):
    settings = {"title": "c, t against c", "labels": {"tasks": {"a": "A *first*"}, "systems": {}}}
    paths = {"moderators": files / "c.json", "table": files / "t.tsv", "page": files / "t.md", "tex": files / "t.tex"}
    call(tables.write_moderators, settings, **paths)
    table = pd.read_csv(files / "t.tsv", sep="\t")
    assert list(table["kind"]) == ["coefficient"] * 6 + ["subgroup"] * 2
    slope = table[table["term"] == "Size"].iloc[0]
    assert slope["estimate"] == record.models[0].fit.coefficients[1].estimate
    assert slope["model_tau2"] == record.models[0].fit.tau2 and slope["model_permutations"] == 100
    assert list(table["group_k"].dropna()) == [4, 4]
    assert table["model_problem"].dropna().unique().tolist() == ["Flat is the same on all tasks"]
    tex = (files / "t.tex").read_text()
    lines = [line for line in tex.splitlines() if line.endswith(r" \\")]
    assert len(lines) == 1 + 4 + 1 + 2 and all(line.isascii() for line in lines)
    assert lines[0] == r"Model & Coefficient & Estimate & 95\% CI & $p$ & \shortstack[r]{p \\ (permutation)} \\"
    assert tex.count(r"\midrule") == 2 + 1 and "Flat: not fitted, Flat is the same on all tasks." in tex
    assert "% Between groups (Kind): F(1, 6)" in tex
    page = (files / "t.md").read_text()
    assert "| A \\*first\\*" in page and "## Subgroups by Kind" in page and "\N{NO-BREAK SPACE}" not in page
    assert "Flat is the same on all tasks." in page and "Between groups (Kind): F(1, 6)" in page


def draw(files, moderator: str) -> BubblePlot:
    table = pd.read_csv(files / "c.tsv", sep="\t")
    settings = bubble_figure.Settings(moderator, "nDCG@10", Labels({"a": "First"}, {}))
    return bubble_figure.filled(table, read_record(ModerationRecord, files / "c.json"), settings)


def test_a_bubble_plot_shows_values_effects_weights_and_the_model(files, record):
    size, kind, flat = (draw(files, name) for name in ("Size", "Kind", "Flat"))
    assert [(b.value, b.effect) for b in size.bubbles] == list(zip(VALUES["Size"], EFFECTS.estimates, strict=True))
    assert [b.weight for b in size.bubbles] == list(record.models[0].fit.weights.values())
    assert size.bubbles[0].task == "First" and len(size.fitted) == 61 and len(kind.fitted) == 2
    assert not flat.fitted and {bubble.weight for bubble in flat.bubbles} == {0.125}
    assert flat.notes == ("Flat: not fitted, Flat is the same on all tasks.",)


def bubbles(count: int, values=None) -> tuple[Bubble, ...]:
    rng = np.random.default_rng(count)
    values = list(rng.normal(5, 1, count)) if values is None else values
    return tuple(
        Bubble(
            f"task {number} of some collection with a long name" if count > 15 else f"task {number}", value, *numbers
        )
        for number, (value, numbers) in enumerate(zip(values, rng.uniform(0.05, 1, (count, 2)).tolist(), strict=True))
    )


LINE = tuple(Fitted(x, 0.1 * x, 0.1 * x - 9, 0.1 * x + 0.4) for x in (3.0, 5.0, 7.0))
LEVELS = ("trained on it", "transfer to another kind of collection, far away", "$x$_1")
PLOTS = {
    "line": BubblePlot("Documents (log₁₀)", "Mean difference in nDCG@10", bubbles(7), LINE, ("A note. " * 40,)),
    "many": BubblePlot("A moderator's label that is long " * 4, "Standardised mean difference (Hedges' g) in RBP(rel=1,p=0.8)@100",
                       bubbles(24), LINE, ()),
    "words": BubblePlot("Training", "Log odds", bubbles(9, [LEVELS[place % 3] for place in range(9)]),
                        tuple(Fitted(level, 0.5, 0.2, 0.9) for level in LEVELS), ("Note",)),
    "same": BubblePlot("x", "Mean difference in P@1", bubbles(4, [2.0] * 4), (), ("x: not fitted.",)),
}  # fmt: skip


def texts(figure: Figure) -> list:
    ax = figure.axes[0]
    ticks = [label for axis in (ax.xaxis, ax.yaxis) for label in axis.get_ticklabels()]
    return [text for text in (*figure.texts, *ax.texts, *ticks) if text.get_text()]


@pytest.mark.parametrize("name", PLOTS)
def test_no_text_of_a_bubble_plot_overlaps_another_or_is_cut_off(name):
    figure = bubble_plot(PLOTS[name])
    figure.set_dpi(300)
    renderer = figure.canvas.get_renderer()
    page = figure.bbox.padded(0.5)
    boxes = [(text.get_text(), text.get_tightbbox(renderer)) for text in texts(figure)]
    assert len(boxes) > 2 * len(PLOTS[name].bubbles)
    for text, box in boxes:
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1, text
    for (a, box_a), (b, box_b) in itertools.combinations(boxes, 2):
        across = min(box_a.x1, box_b.x1) - max(box_a.x0, box_b.x0)
        assert across <= 1 or min(box_a.y1, box_b.y1) - max(box_a.y0, box_b.y0) <= 1, (a, b)


def test_areas_of_bubbles_are_in_proportion_to_weights():
    plot = PLOTS["line"]
    lines = {line.get_gid(): line for line in bubble_plot(plot).axes[0].lines if line.get_gid()}
    most = max(bubble.weight for bubble in plot.bubbles)
    for number, bubble in enumerate(plot.bubbles, 1):
        line = lines[f"bubble-{number}"]
        assert math.isclose(line.get_markersize(), LARGEST * math.sqrt(bubble.weight / most))
        assert (line.get_xdata()[0], line.get_ydata()[0]) == (bubble.value, bubble.effect)


LONG = "a name of a group that is as long as names of groups are, " * 2
FIT = models(EFFECTS, {"Kind": VALUES["Kind"]}, METHOD)[0].fit


def in_groups(plain, record):
    """The tasks in three groups, two of which have a subtotal."""
    (found,) = plain.comparisons
    names = [row.task for row in found.effects]
    groups = {"x": [names[0], names[2]], LONG: names[3:], "z": [names[1]]}
    ends = {"x": (0.03, -0.01, 0.07, 0.2), LONG: (0.01, -0.2, 0.1, 0.03)}
    levels = {
        value: Level(2, Summary(effect, 1e-4, 0.01, low, high, None, p, None))
        for value, (effect, low, high, p) in ends.items()
    }
    model = Model(("Kind",), len(names), None, replace(FIT, levels=levels))
    moderation = replace(record, subgroups=Subgroups("Kind", groups, model))
    return replace(plain, comparisons=(replace(found, moderation=moderation),))


def test_each_task_stands_below_the_heading_of_its_subgroup_and_above_its_subtotal(record):
    plot = in_groups(forest(7), record)
    lines = lines_of(plot, form.numbers(plot))
    kinds = [line.kind for line in lines]
    assert kinds == ["heading", *["task"] * 2, "subtotal", "heading", *["task"] * 4, "subtotal", "heading", "task",
                     "summary", "prediction", "heterogeneity"]  # fmt: skip
    rows = plot.groups[0].rows
    assert [line.label for line in lines[1:3]] == [rows[0].task, rows[2].task]
    weight = float(lines[3].cells["weight"][0].rstrip("%"))
    assert weight == pytest.approx(100 * (rows[0].weight + rows[2].weight), abs=0.05)


@pytest.mark.parametrize("width", ["single column", "double column"])
@pytest.mark.parametrize("k", [4, 7, 30])
def test_nothing_overlaps_in_a_forest_plot_with_subgroups(k, width, record):
    figure = forest_plot(in_groups(forest(k, width=width), record))
    assert overlapping(figure) == [] == outside(figure)
    assert (len(patches(figure, "subtotal")), len(patches(figure, "diamond"))) == (2, 1)
    assert any(word.startswith("Between groups (Kind): F(1, 6) = ") for word in words(figure))


def test_groups_without_a_model_have_headings_and_no_subtotals(record):
    def lines(subgroups):
        comparison = replace(forest().comparisons[0], effects=tuple(EffectsRow(task=task, n=9) for task in TASKS))
        found = replace(comparison, moderation=replace(record, subgroups=subgroups))
        plot = replace(forest(), comparisons=(found,), facts=facts(Labels({"a": "First"}, {})))
        return [(line.kind, line.label, line.effect) for line in lines_of(plot, form.numbers(plot))]

    fitted, fewer = lines(record.subgroups), lines(replace(record.subgroups, model=Model(("Kind",), 8, "too few")))
    headings = [label for kind, label, _ in fitted if kind == "heading"]
    assert headings == [label for kind, label, _ in fewer if kind == "heading"] == ["Kind: x", "Kind: y"]
    assert fitted[1][1] == "First"
    levels = record.subgroups.model.fit.levels
    assert [effect for kind, _, effect in fitted if kind == "subtotal"] == [
        levels[value].summary.effect for value in "xy"
    ]
    assert "subtotal" not in [kind for kind, *_ in fewer]


def test_a_comparison_with_moderators_has_their_figures_and_tables():
    datasets = {f"datasets/{name}": {"format": "beir", "location": name} for name in ("scripts", "rules", "docs")}
    plain = {**datasets, "tasks": ["d", "scripts", "rules", "docs"], "comparisons/c/subgroups": "trained"}
    without = resolved(plain)
    assert pages.moderated(without) == ["c"] and exhibit.names(without) == {}
    experiment = resolved(plain | {"comparisons/c/moderators": ["trained", "corpus-size"]})
    names = ["bubble-c-trained", "bubble-c-corpus-size"]
    assert list(exhibit.names(experiment)) == names
    tables = [f"results/e/tables/moderators/c.{ending}" for ending in ("tsv", "md", "tex")]
    assert set(tables) < set(pages.named_in_summary(experiment))
    assert comparisons.settings(experiment)["moderated"] == {"c": names}
    assert forest_exhibit.subgrouped(experiment, ("c",)) == ["results/e/moderators/c.json"]
    assert forest_exhibit.subgrouped(experiment, ("c", "other")) == []
    settings = exhibit.exhibit(experiment, names[1]).settings
    assert (settings["moderator"], settings["measure"]) == ("corpus-size", "nDCG@10")
    assert pages.moderator_table_settings(experiment, "c")["title"] == "c, tuned against bm25"
