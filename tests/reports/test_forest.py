"""The forest plot as drawn: its marks, its text, its room, and the bytes of its files."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from ranktrial.records.comparison import EffectsRow
from ranktrial.reports.comparison.reading import Forest, Found, Looks
from ranktrial.reports.figures.forest import forest_plot
from ranktrial.reports.figures.marks import MUTED
from ranktrial.reports.figures.page import save
from tests.support.meta_records import facts, meta_record

LONG = (
    "BEIR/cqadupstack/programmers-test-split-with-a-rather-long-name",
    "TREC Deep Learning Track 2019 passage ranking (judged queries only)",
    "supercalifragilisticexpialidocious_dataset_without_spaces",
    "a $very$ _strange_ 100% & <name>",
    "b",
)


def rows(k: int, scale: float = 1.0, names: tuple[str, ...] = ()) -> tuple[EffectsRow, ...]:
    g = np.random.default_rng(k)
    made = []
    for task in range(k):
        effect, half, mean = g.normal(0.02, 0.03), g.uniform(0.01, 0.06), g.uniform(0.2, 0.6)
        made.append(
            EffectsRow(
                task=names[task % len(names)] if names else f"Task {task + 1}",
                n=int(g.integers(20, 20_000)),
                effect=effect * scale,
                ci_low=(effect - half) * scale,
                ci_high=(effect + half) * scale,
                weight=g.uniform(0.5, 1.5) / k,
                control_mean=mean,
                treatment_mean=mean + effect,
                control_judged=0.5,
                treatment_judged=0.625,
                t_p_value=g.uniform(0, 0.2),
            )
        )
    return tuple(made)


REASON = "the difference is the same for every query"
UNDEFINED = EffectsRow(task="Constant", n=77, control_mean=0.5, treatment_mean=0.6, control_judged=0.9,
                       treatment_judged=0.9, undefined=REASON)  # fmt: skip
LOOKS = Looks(alpha=0.05, judged="Judged@10")
NAMED = {"control": "TAS-B", "treatment": "Uni-ColBERTer"}
NOTHING = Found((UNDEFINED,), meta_record(**NAMED, summary=None))


def found(k: int = 7, scale: float = 1.0, names: tuple[str, ...] = (), **changes) -> Found:
    summary = {"effect": 0.02 * scale, "ci_low": 0.005 * scale, "ci_high": 0.035 * scale, "p_value": 0.01}
    spread = {"q": 130.8, "q_df": k - 1, "q_p_value": 1e-25, "i2": 95.36, "tau2": 0.00096 * scale**2,
              "tau2_ci": (0.0004 * scale**2, 0.0089 * scale**2)} if k > 1 else {}  # fmt: skip
    prediction = (-0.05 * scale, 0.09 * scale) if k > 2 else None
    given = {"k": k, "summary": summary, "prediction_interval": prediction, "interval": "knapp-hartung"} | spread
    return Found(rows(k, scale, names), meta_record(**NAMED | given | changes))


def forest(k: int = 7, scale: float = 1.0, names: tuple[str, ...] = (), **changes) -> Forest:
    return changed(Forest((found(k, scale, names),), LOOKS, facts()), **changes)


def changed(plain: Forest, **changes) -> Forest:
    """The plot with other looks, and with other values in the meta records of all its comparisons."""
    looks = {name: value for name, value in changes.items() if name in Looks.__dataclass_fields__}
    others = {name: value for name, value in changes.items() if name not in looks}
    comparisons = tuple(replace(one, meta=replace(one.meta, **others)) for one in plain.comparisons)
    return replace(plain, comparisons=comparisons, looks=replace(plain.looks, **looks))


def of(*comparisons: Found, **changes) -> Forest:
    return changed(replace(forest(), comparisons=comparisons), **changes)


def with_rows(plain: Forest, *changed: EffectsRow) -> Forest:
    return replace(plain, comparisons=(replace(plain.comparisons[0], effects=changed),))


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def patches(figure: Figure, gid: str) -> list:
    return [patch for patch in figure.axes[0].patches if (patch.get_gid() or "").startswith(gid)]


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of texts whose ink boxes, as rendered at 300 dpi, share more than a pixel's rounding."""
    figure.set_dpi(300)
    renderer = figure.canvas.get_renderer()
    boxes = [(text.get_text(), text.get_tightbbox(renderer)) for text in figure.axes[0].texts if text.get_text()]
    pairs = []
    for (a, box_a), (b, box_b) in itertools.combinations(boxes, 2):
        across = min(box_a.x1, box_b.x1) - max(box_a.x0, box_b.x0)
        down = min(box_a.y1, box_b.y1) - max(box_a.y0, box_b.y0)
        if across > 1 and down > 1:
            pairs.append((a, b))
    return pairs


def outside(figure: Figure) -> list[str]:
    """Texts and marks that reach over the edge of the figure."""
    figure.set_dpi(300)
    renderer = figure.canvas.get_renderer()
    page = figure.bbox.padded(0.5)
    ax = figure.axes[0]
    return [
        str(artist)
        for artist in (*ax.texts, *ax.patches, *ax.lines)
        if (box := artist.get_window_extent(renderer)).width + box.height > 0
        and not (page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1)
    ]


TREATMENTS = tuple(
    found(3, treatment=name)
    for name in ("ColBERTv2", "SPLADE++ (self-distilled, a name that is long as names of systems are)", "monoT5-3B")
)
MANY = (
    *(
        found(3, treatment=name, fixed_mean={"effect": effect, "ci_low": effect - 0.01, "ci_high": effect + 0.01})
        for name, effect in (("ColBERTv2", 0.02), ("SPLADE++ (a name that is long as names are)", 0.07), ("mine", -0.1))
    ),
    Found((UNDEFINED,), meta_record(**NAMED | {"treatment": "without"}, summary=None)),
)
LONG_CONTROL = "sentence-transformers/all-mpnet-base-v2 zero-shot, " * 2
SHAPES = {
    "one": forest(1),
    "two": forest(2),
    "seven": forest(7, title="A title"),
    "sixty": forest(60),
    "long": forest(8, names=LONG, title="A title of many words " * 9, control=LONG_CONTROL),
    "huge": forest(5, scale=1e9),
    "tiny": forest(5, scale=1e-8, alpha=0.001),
    "undefined": with_rows(forest(3), *rows(3), UNDEFINED),
    "nothing defined": of(NOTHING),
    "treatments": of(*TREATMENTS),
    "rows of treatments": of(*MANY),
    "standardised": forest(7, effect_type="SMD", alpha=0.1, measure="RBP(p=0.8,rel=1)@100"),
    "correlation": forest(4, effect_type="CORR", judged=""),
    "marks": forest(7, effect_type="CORR", correction="benjamini-hochberg"),
    "cut": with_rows(forest(7), *rows(6), replace(rows(1)[0], task="Task 7", ci_low=-9.0, ci_high=9.0)),
    "mixed": with_rows(
        forest(7), *rows(6), replace(rows(1)[0], task="Task 7", effect=0.00002, ci_low=0.00001, ci_high=0.00003)
    ),
}


@pytest.mark.parametrize("width", ["single column", "double column"])
@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_overlaps_and_nothing_is_cut_off(shape, width):
    figure = forest_plot(changed(SHAPES[shape], width=width))
    assert overlapping(figure) == []
    assert outside(figure) == []
    assert figure.get_size_inches()[0] == {"single column": 3.4, "double column": 7.0}[width]


def test_sixty_tasks_fit_a_page():
    assert forest_plot(forest(60)).get_size_inches()[1] < 10


def test_areas_of_squares_are_in_proportion_to_weights():
    weights = np.array([row.weight for row in rows(7)])
    squares = patches(forest_plot(forest(7)), "square-")
    areas = np.array([square.get_width() * square.get_height() for square in squares])
    assert [square.get_width() for square in squares] == [square.get_height() for square in squares]
    assert areas / areas.sum() == pytest.approx(weights / weights.sum())


def test_a_weight_below_zero_has_no_area_and_its_interval_is_drawn():
    """Tasks that depend on one another may have one: the best linear combination subtracts the less exact."""
    plot = forest(3)
    first, *others = rows(3)
    squares = patches(forest_plot(with_rows(plot, replace(first, weight=-0.12), *others)), "square-")
    assert [square.get_width() > 0 for square in squares] == [False, True, True]


def test_diamond_and_prediction_interval_end_where_the_intervals_end():
    """The scale of the axis is taken from two squares' centres, then holds the other marks."""
    figure = forest_plot(forest(7))
    squares = [square.get_x() + square.get_width() / 2 for square in patches(figure, "square-")]
    effects = [row.effect for row in rows(7)]
    slope = (squares[1] - squares[0]) / (effects[1] - effects[0])

    def effect_at(x: float) -> float:
        return effects[0] + (x - squares[0]) / slope

    (diamond,), (bar,) = patches(figure, "diamond-"), patches(figure, "prediction-")
    corners = diamond.get_xy()[:4, 0]
    assert [effect_at(x) for x in corners] == pytest.approx([0.005, 0.02, 0.035, 0.02])
    assert effect_at(bar.get_x()) == pytest.approx(-0.05)
    assert effect_at(bar.get_x() + bar.get_width()) == pytest.approx(0.09)
    assert bar.get_y() > diamond.get_xy()[:, 1].max()  # drawn apart, below it
    whiskers = [line for line in figure.axes[0].lines if line.get_ydata()[0] == squares_y(figure)[0]]
    assert [effect_at(x) for x in whiskers[0].get_xdata()] == pytest.approx([rows(7)[0].ci_low, rows(7)[0].ci_high])


def squares_y(figure: Figure) -> list[float]:
    return [square.get_y() + square.get_height() / 2 for square in patches(figure, "square-")]


def test_an_interval_that_the_axis_cuts_has_arrows_and_no_other_has():
    assert [type(patch) for patch in patches(forest_plot(SHAPES["cut"]), "arrow")] == [Polygon, Polygon]
    assert patches(forest_plot(forest(7)), "arrow") == []


def test_an_undefined_task_is_a_row_with_its_reason_and_without_a_mark():
    figure = forest_plot(SHAPES["undefined"])
    assert {"Constant", "77", REASON} <= set(words(figure))
    assert len(patches(figure, "square-")) == 3


@pytest.mark.parametrize(
    ("kind", "alpha", "heading", "interval"),
    [
        ("MD", 0.05, "Mean difference", "[95% CI]"),
        ("SMD", 0.01, "Standardised mean", "[99% CI]"),
        ("CORR", 0.1, "Correlation", "[90% CI]"),
        ("MD", 0.001, "Mean difference", "[99.9% CI]"),
    ],
)
def test_headings_follow_effect_type_and_alpha(kind, alpha, heading, interval):
    shown = words(forest_plot(forest(5, effect_type=kind, alpha=alpha)))
    assert heading in shown and interval in shown
    assert f"{interval[1:-4]} prediction interval" in shown
    assert any(text.startswith("Heterogeneity") and f"{interval[1:-4]} CI" in text for text in shown)


def test_axis_says_whom_each_side_favours():
    shown = words(forest_plot(forest()))
    assert {"← favours TAS-B", "favours Uni-ColBERTer →", "Mean difference in nDCG@10"} <= set(shown)
    assert not any("favours" in text for text in words(forest_plot(forest(effect_type="CORR"))))


def test_significant_tasks_bear_a_mark_that_a_note_explains():
    shown = words(forest_plot(forest()))
    significant = sum(row.t_p_value < 0.05 for row in rows(7)) + 1  # and the summary
    assert shown.count("*") == significant > 1
    assert "p-values of tasks: paired t-test. * p < 0.05." in shown
    assert not any("p-values of tasks" in text for text in words(forest_plot(forest(columns=("n",)))))


def test_several_treatments_are_groups_with_their_own_summaries():
    figure = forest_plot(SHAPES["treatments"])
    assert [text for text in words(figure) if text in ("ColBERTv2", "monoT5-3B")] == ["ColBERTv2", "monoT5-3B"]
    assert len(patches(figure, "diamond-")) == len(patches(figure, "prediction-")) == 3
    lines = [text for text in words(figure) if text.startswith("Heterogeneity")]
    assert [text.startswith("Heterogeneity: τ = ") for text in lines] == [True, True, True, False]
    assert lines[-1].startswith("Heterogeneity: τ is in nDCG@10; I² is relative to sampling error")


def test_a_row_of_a_treatment_has_both_means_and_no_task():
    figure = forest_plot(SHAPES["rows of treatments"])
    said = words(figure)
    assert len(patches(figure, "diamond-")) == len(patches(figure, "mean-")) == len(patches(figure, "prediction-")) == 3
    assert said.count("over collections like these") == 3 and not any(word.startswith("Task") for word in said)
    assert "Hollow: mean of these 3 tasks; filled: random effects (DL, Knapp-Hartung); bar: 95% prediction" in " ".join(
        said
    )
    names = ["ColBERTv2", "SPLADE++ (a name that is", "mine", "without"]
    largest_first = words(forest_plot(changed(SHAPES["rows of treatments"], sort="effect")))
    assert [word for word in said if word in names] == names
    assert [word for word in largest_first if word in names] == [names[place] for place in (1, 0, 2, 3)]


@pytest.mark.parametrize("width", ["single column", "double column"])
def test_the_heterogeneity_of_a_panel_stands_in_it(width):
    figure = forest_plot(changed(SHAPES["treatments"], width=width))
    drawn = [(text.get_text(), text.get_position()[1]) for text in figure.axes[0].texts]
    places = [y for said, y in drawn if said.startswith("Heterogeneity: τ = ")]
    names = [group.treatment for group in SHAPES["treatments"].groups]
    headings = [next(y for said, y in drawn if len(said) > 4 and name.startswith(said)) for name in names]
    ordered = [place for pair in zip(headings, places, strict=True) for place in pair]
    assert ordered == sorted(ordered) and len(ordered) == 6
    ends = sorted(max(line.get_ydata()) for line in figure.axes[0].lines if line.get_color() == MUTED)
    beside_the_plot = [end > place for end, place in zip(ends, places, strict=True)]
    assert beside_the_plot == [width == "double column"] * 3  # where there is no room the line of no effect ends above


@pytest.mark.parametrize(("sort", "key"), [("effect", "effect"), ("weight", "weight")])
def test_rows_are_sorted_largest_first_with_undefined_ones_last(sort, key):
    plain = with_rows(forest(5, sort=sort), UNDEFINED, *rows(5))
    names = [text for text in words(forest_plot(plain)) if text == "Constant" or text.startswith("Task ")]
    assert names == [row.task for row in sorted(rows(5), key=lambda row: -getattr(row, key))] + ["Constant"]
    names = [text for text in words(forest_plot(changed(plain, sort="config"))) if re.match("Constant|Task ", text)]
    assert names == ["Constant"] + [f"Task {task}" for task in range(1, 6)]


def test_numbers_stand_on_the_line_of_their_task_when_sorted():
    figure = forest_plot(forest(5, sort="effect"))
    height = {text.get_text(): text.get_position()[1] for text in figure.axes[0].texts}
    for row in rows(5):
        assert height[f"{row.n:,}"] == height[row.task] == height[f"{100 * row.weight:.1f}%"]


def test_decimal_points_are_aligned():
    figure = forest_plot(SHAPES["mixed"])
    renderer = figure.canvas.get_renderer()
    points = []
    for text in figure.axes[0].texts:
        if re.fullmatch(r"\[.?\d+\.\d+,", text.get_text()):
            right = text.get_window_extent(renderer).x1
            text.set_text(text.get_text().split(".")[1])
            points.append(right - text.get_window_extent(renderer).width)
    assert len(points) == 9
    assert np.ptp(points) < 1.5  # pixels at 100 dpi: hinting moves each end by up to half of one


def test_single_column_keeps_task_plot_and_effect_with_n_and_p_below_them():
    shown = words(forest_plot(forest(width="single column")))
    assert {"Task 1", "Mean diff.", "[95% CI]"} <= set(shown)
    assert "Weight" not in shown and "p" not in shown
    first, total = rows(7)[0], sum(row.n for row in rows(7))
    assert {f"n = {first.n:,}", f"p = {first.t_p_value:.3f}", f"n = {total:,}", "p = 0.010*"} <= set(shown)


def test_files_are_the_same_bytes_each_time_and_hold_text_and_fonts(tmp_path):
    drawn = {name: [tmp_path / f"{name}.{suffix}" for suffix in ("svg", "pdf", "png")] for name in ("a.b", "a.c")}
    for paths in drawn.values():
        save(forest_plot(forest()), *paths)
    first, again = ([path.read_bytes() for path in paths] for paths in drawn.values())
    assert sorted(tmp_path.iterdir()) == sorted([*drawn["a.b"], *drawn["a.c"]])
    assert first == again
    svg, pdf, png = first
    assert b">TAS-B \xe2\x86\x92 Uni-ColBERTer</text>" in svg and b"<dc:date>" not in svg
    assert b"/FontFile2" in pdf and b"/Type3" not in pdf and b"CreationDate" not in pdf
    assert int.from_bytes(png[16:20]) == 2100  # 7 in at 300 dpi
