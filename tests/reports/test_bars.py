"""Bar charts: lengths in proportion from 0, whiskers of one sd, baselines, and long names that stay on the page."""

import copy
import json
from itertools import pairwise

import pandas as pd
import pytest
from matplotlib.patches import Rectangle

from ranktrial.common.keys import given
from ranktrial.common.settings import read_settings
from ranktrial.experiment.descriptions import model_names, weights_name
from ranktrial.experiment.drawing import Chart
from ranktrial.experiment.resolution import resolve
from ranktrial.ir.means import means_rows
from ranktrial.models.model_keys import Model
from ranktrial.reports.figures.bars import COLOURS, Bar, BarChart, bar_chart, filled
from tests.support.drawn import check_texts

MODELS = ["all-MiniLM-L6-v2", "distiluse-base-multilingual-cased-v2", "a model whose name is so long that it has to be broken",
          *(f"model-{n}" for n in range(9))]  # fmt: skip


def chart(labels=4, lines=(), sd=0.01):
    rows = {name: [Bar(0.05 + 0.07 * n, sd) for _ in range(labels)] for n, name in enumerate(MODELS)}
    return BarChart("A title", "RR@3", [f"series {n}" for n in range(labels)], rows, "BM25" if lines else "", lines)


def bars(figure):
    """The drawn bars: coloured boxes at the left end of the axis."""
    found = [one for one in figure.axes[0].patches if isinstance(one, Rectangle) and one.get_linewidth() == 0.3]
    left = max(one.get_x() for one in found)
    return [one for one in found if one.get_x() == left]


@pytest.mark.parametrize(
    "made", [chart(), chart(6, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)), chart(1, (0.7,)), chart(2, (0.7, 0.7), None)]
)
def test_everything_stays_on_the_page_and_nothing_lies_on_another(made):
    figure = bar_chart(made)
    assert figure.get_size_inches()[0] == 7.0 and figure.get_size_inches()[1] < 10
    check_texts(figure)


def test_a_bars_length_is_its_value_from_zero():
    made = chart(2)
    drawn = bars(bar_chart(made))
    values = [bar.value for row in made.rows.values() for bar in row]
    assert len(drawn) == len(values)
    scale = drawn[-1].get_width() / values[-1]
    assert [one.get_width() / scale for one in drawn] == pytest.approx(values)


def test_a_whisker_is_one_standard_deviation_to_either_side():
    made = BarChart("", "RR@3", [""], {"m": [Bar(0.5, 0.1)]})
    figure = bar_chart(made)
    (bar,) = bars(figure)
    ends = {round(x, 6) for line in figure.axes[0].lines if line.get_zorder() == 4 for x in line.get_xdata()}
    assert sorted(ends) == pytest.approx([bar.get_x() + bar.get_width() * 0.8, bar.get_x() + bar.get_width() * 1.2])
    assert any("1 standard deviation over seeds" in text.get_text() for text in figure.axes[0].texts)
    assert not any("standard deviation" in text.get_text() for text in bar_chart(chart(1, (), None)).axes[0].texts)


def test_one_baseline_is_one_line_and_several_stand_beside_their_bars():
    one = bar_chart(chart(2, (0.5, 0.5)))
    assert [line.get_gid() for line in one.axes[0].lines].count("baseline") == 1
    assert any(text.get_text() == "BM25: 0.500" for text in one.axes[0].texts)
    several = bar_chart(chart(4, (0.5, 0.6, 0.5, 0.6)))
    assert not any(line.get_gid() == "baseline" for line in several.axes[0].lines)
    ticks = [line for line in several.axes[0].lines if line.get_zorder() == 5]
    assert len({round(line.get_xdata()[0], 6) for line in ticks}) == 3 and len(ticks) == 1 + 4 * len(
        MODELS
    )  # one is the key's
    assert any(text.get_text() == "BM25: 0.500, 0.600" for text in several.axes[0].texts)


def test_a_missing_bar_is_said_and_colours_differ_in_lightness():
    figure = bar_chart(BarChart("", "RR@3", ["a", "b"], {"m": [Bar(0.5), None]}))
    assert [text.get_text() for text in figure.axes[0].texts].count("not run") == 1 and len(bars(figure)) == 1
    grey = sorted(sum(w * int(c[i : i + 2], 16) for w, i in ((0.299, 1), (0.587, 3), (0.114, 5))) for c in COLOURS)
    assert min(b - a for a, b in pairwise(grey)) > 10


CONFIG = {
    "experiment": "e",
    "measures": ["RR@3", "AP"],
    "datasets": {"d": {"format": "beir", "location": "tests", "label": "Data"}},
    "models": {"m": {"type": "bi-encoder", "weights": ["org/first", "org/second"]},
               "package": {"type": "bi-encoder", "weights": "pypi:p==1", "sha256": "0" * 64}},
    "recipes": {"r": {"train_on": "d"}},
    "systems": {"bm25": {"type": "bm25", "label": "BM25"}, "base": {"model": "m"},
                "tuned": {"model": "m-first", "recipe": "r", "seeds": 2}},
    "tasks": ["d", "d/dev"],
    "charts": {"c": {"systems": {"as is": ["base"], "tuned": ["tuned"]}, "tasks": ["d"], "measures": ["RR@3"],
                     "baseline": "bm25"},
               "w": {"systems": ["base", "bm25"], "measures": ["RR@3", "AP"]}},
}  # fmt: skip


def test_a_chart_takes_its_numbers_from_the_means():
    experiment = resolve(copy.deepcopy(CONFIG), "c.yaml")
    systems = ["bm25", *(name for name in experiment.systems if name != "bm25")]
    means = pd.DataFrame(
        {
            "task": "d",
            "system": systems,
            "queries": 9,
            "seeds": 2,
            "RR@3": [0.1, 0.2, 0.3, 0.4],
            "RR@3 sd": [None, None, None, 0.05],
        }
    )
    settings = read_settings(Chart, json.loads(json.dumps(given(experiment.exhibits["bars"]["c"]))))
    made = filled({(row.task, row.system): row for row in means_rows(means)}, settings)
    assert made.labels == ["as is", "tuned"] and made.axis == "RR@3, Data" and made.lines == (0.1, 0.1)
    assert made.one_line
    assert made.rows == {"first": [Bar(0.2), Bar(0.4, 0.05)], "second": [Bar(0.3), None]}
    wide = experiment.exhibits["bars"]["w"]
    assert wide.rows == ("BM25", "first", "second") and wide.axis == "Mean" and wide.baseline is None
    assert [bars.label for bars in wide.bars] == ["Data, RR@3", "Data, AP", "Data dev, RR@3", "Data dev, AP"]
    assert {bars.task for bars in wide.bars} == {"d", "d-dev"}


def test_models_are_named_after_their_weights_where_that_tells_them_apart():
    places = {"a": "org/x", "b": "org/y", "c": "other/y", "d": "pypi:z==1", "e": "folder/w/"}
    named = model_names({name: Model(type="bi-encoder", weights=place) for name, place in places.items()})
    assert named == {"a": "x", "b": "b", "c": "c", "d": "d", "e": "w"} and weights_name("pypi:z==1") == "z"
