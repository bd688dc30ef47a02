"""Plans of a further study as readers see them: sentences, the table of a plan, and a figure in which nothing is cut."""

import itertools
import re
from dataclasses import replace

import pytest

from ranktrial.configuration.sections.comparison import Assumed
from ranktrial.records.facts import Labels
from ranktrial.records.study_design import FoundBasis
from ranktrial.reports.figures.study_design import contour_figure, contour_levels, label_place
from ranktrial.reports.study_design_text import designs, remarks, sentence
from ranktrial.reports.writing import printed
from ranktrial.reports.writing.content import plain
from ranktrial.statistics.power import Design
from ranktrial.study_design import Settings, assumed_basis, planned
from scripts.reports.study_designs import grid, whole_page

LABELS = Labels({}, {"tuned": "A tuned system with a long name", "theirs": "Theirs"})
ASKED = {
    "alpha": 0.05,
    "power": 0.8,
    "queries": [25, 100, 400, 1600],
    "collections": [3, 6, 12, 30],
    "seeds": [1, 3, 10],
}
ASSUMED = {"effect": "Mean difference in nDCG@10", "query_sd": 0.25, "collection_sd": 0.02, "trained": 1,
           "seed_sd": 0.01, "seed_by_collection_sd": 0.0, "seed_by_query_sd": 0.05}  # fmt: skip


def made(assumed=(), present=True, **asked):
    """A plan of assumed variances; `present` gives it the design of a comparison."""
    basis = assumed_basis(Assumed(**{**ASSUMED, **dict(assumed)}))
    if present:
        described = FoundBasis(
            control="bm25", treatment="tuned", interval=basis.described.interval, axis=basis.described.axis,
            unknown_seed_variance=[], given=[], untimed=["bm25"], devices=["A100"], measure="nDCG@10",
            of_tasks=False,
        )  # fmt: skip
        seed_variances = tuple(replace(of, df=2) for of in basis.components.seed_variances)
        basis = basis._replace(
            components=replace(basis.components, seed_variances=seed_variances),
            present=Design(153.2, 7, 1), seeds=(3,), tau2_high=0.01, described=described,
        )  # fmt: skip
    return planned(Settings(plan="dense", **{**ASKED, **asked}), basis)


HOURS = {"training_hours": 2.0, "collection_hours": 0.5, "query_hours": 0.0001}


def test_the_sentence_says_what_the_present_design_shows_and_what_the_target_costs():
    text = sentence(made(HOURS, effect=0.05))
    assert text.startswith("With 80% power at the 0.05 level, the present design, 7 collections of 153 queries (harmonic mean), "
                           "3 seeds, detects a mean effect over collections of 0.0")  # fmt: skip
    assert "(expected 95% CI: ± 0.0" in text
    assert "To detect 0.05 over collections, the cheapest design considered is " in text
    assert " hours on A100). To detect 0.05 in one collection, the cheapest design considered is " in text


def test_where_no_design_is_enough_it_says_what_would_be():
    text = sentence(made(effect=0.009, assumed={"seed_sd": 0.0}))
    assert "To detect 0.009 over collections, no design considered is enough (the closest: 0.0" in text
    assert "; with 1600 queries, 10 seeds each, " in text and " collections would be." in text
    never = sentence(made(effect=0.005, seeds=[1, 3]))
    assert "with 1600 queries, 3 seeds each, no number of collections is." in never
    narrow = sentence(made(half_width=0.03, present=False))
    assert narrow.startswith(
        "For a half-width of 0.03 over collections, the design considered with the fewest queries is "
    )


def test_without_a_target_or_a_design_it_asks_for_one():
    found = made(present=False)
    assert sentence(found) == "Without a target (effect or half_width), no design is the cheapest."
    assert remarks(found, LABELS) == []


def test_what_is_not_known_is_said():
    found = made(HOURS, effect=0.05)
    found = replace(found, basis=replace(found.basis, unknown_seed_variance=["tuned"], given=["theirs"]))
    reported = " ".join(remarks(found, LABELS))
    assert "A tuned system with a long name was trained with one seed: its seed variance is unknown" in reported
    assert "The runs of Theirs are given" in reported and "The hours of bm25 are not known" in reported
    assert "% of the variance of the present summary is between collections" in reported
    assert "at the upper end of its interval the present design detects 0." in reported


def test_the_table_of_a_plan_marks_what_meets_the_target():
    found = made(effect=0.05)
    table = grid(found, [3])
    assert [one.name for one in table.columns] == ["Seeds", "Queries", "1 collection", "3", "6", "12", "30"]
    (rows,) = table.blocks
    assert [plain(row[0]) for row in rows] == ["3"] * 4
    bold = sum(cell.look == "strong" for row in rows for cell in row[2:])
    assert bold == sum(row.meets_target for row in found.designs if row.seeds == 3) > 0
    every = designs([found])
    assert (every["cheapest"] == "yes").sum() == 2 and len(every) == 4 * 5 * 3
    text = printed.markdown_document(
        "Plans", whole_page([found], {"dense": "../figures/study-design-dense.svg"}, LABELS)
    )
    assert text.count("| Queries") == 1 and "(0.8)" in text and "](../figures/study-design-dense.svg)" in text


def test_scores_have_tasks_and_samples_in_sentences_tables_and_the_figure():
    found = made(effect=0.05, seeds=[1])
    found = replace(found, basis=replace(found.basis, measure="accuracy"))
    page = printed.markdown_document("Plans", whole_page([found], {"dense": "a.svg"}, LABELS))
    drawn = contour_figure(found, LABELS)
    texts = [
        *drawn.texts,
        *(one for ax in drawn.axes for one in (ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label)),
    ]
    said = "\n".join([page, *(one.get_text() for one in texts)])
    assert not re.search("quer|collection", said, re.IGNORECASE)
    assert {"Samples", "Tasks", "One task (paired t-test)"} <= set(said.splitlines())


@pytest.mark.parametrize(
    ("assumed", "asked"),
    [
        (HOURS, {"effect": 0.05}),
        ({}, {"half_width": 0.001, "present": False}),
        ({"trained": 0}, {"effect": 0.03}),
        ({"query_sd": 40.0, "collection_sd": 3.0}, {"seeds": [2, 5]}),
        ({}, {"effect": 0.03, "queries": [25, 30, 35, 1600, 100000], "collections": [*range(2, 30)], "seeds": [3]}),
        ({"query_sd": 2e-4, "collection_sd": 1e-5, "seed_sd": 0.0}, {"seeds": [1]}),
    ],
    ids=["target", "out of reach", "nothing trained", "large", "many numbers", "small"],
)
def test_the_figure_fits_its_page_and_every_contour_has_its_label(assumed, asked):
    found = made(assumed, **asked)
    figure = contour_figure(found, LABELS)
    figure.draw_without_rendering()
    renderer, box = figure.canvas.get_renderer(), figure.bbox.padded(0.5)
    assert len(figure.axes) == 1 + len(found.curves.seeds) and figure.get_size_inches()[0] <= 7.001
    shown = [*figure.texts, *(text for ax in figure.axes for text in ax.texts)]
    for ax in figure.axes:
        frame = ax.get_window_extent(renderer)
        for text in ax.texts:
            inner = text.get_window_extent(renderer)
            assert frame.x0 <= inner.x0 and inner.x1 <= frame.x1 and frame.y0 <= inner.y0 and inner.y1 <= frame.y1
        ticks = [tick for tick in ax.get_xticklabels() + ax.get_yticklabels() if tick.get_text()]
        shown += [ax.xaxis.label, ax.yaxis.label, *ticks]
        for axis in (ax.xaxis, ax.yaxis):
            boxes = [tick.get_window_extent(renderer) for tick in axis.get_ticklabels()]
            assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    for text in shown:
        inner = text.get_window_extent(renderer)
        assert box.x0 <= inner.x0 and inner.x1 <= box.x1 and box.y0 <= inner.y0 and inner.y1 <= box.y1, text.get_text()
    for ax in figure.axes[1:]:
        labels = [text.get_window_extent(renderer) for text in ax.texts]
        assert labels and not any(a.overlaps(b) for a, b in itertools.combinations(labels, 2))


def test_levels_are_round_and_few():
    assert contour_levels([0.011, 0.09]) == [0.015, 0.02, 0.03, 0.04, 0.05, 0.07]
    wide, narrow = contour_levels([0.0011, 9.0]), contour_levels([0.0311, 0.0312])
    assert 4 <= len(wide) <= 9 and all(0.0011 < level < 9 for level in wide) and len(narrow) == 1


def test_a_label_stands_inside_the_frame_or_nowhere():
    axis = [1.0, 10.0, 100.0]
    assert label_place([(1.0, 1.0), (10.0, 10.0), (100.0, 100.0)], axis, axis, []) == (10.0, 10.0)
    assert label_place([(1.0, 1.2), (1.2, 1.0)], axis, axis, []) is None
    crossing = [(1.0, 1.0), (10.0, 10.0), (30.0, 30.0)]
    assert label_place(crossing, axis, axis, [(10.0, 10.0)]) == (30.0, 30.0)
