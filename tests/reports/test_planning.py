"""What figures, tables and pages are made of, on small experiments."""

import json
import re
import typing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from ranktrial.common import plugins
from ranktrial.common.settings import read_settings
from ranktrial.configuration.reading import read_yaml
from ranktrial.configuration.sections.configuration import Configuration
from ranktrial.experiment import exhibits, timings
from ranktrial.experiment.descriptions import cautions
from ranktrial.experiment.exhibits import bars, costs, forest
from ranktrial.experiment.labels import labels
from ranktrial.experiment.resolution import resolve
from ranktrial.experiment.results_paths import FIGURE_FORMATS, parse
from scripts.reports import figure, sections
from scripts.reports import planning as pages
from scripts.reports.sections import made, systems, trainings
from tests.experiment.test_config import changed, resolved

EXPERIMENT = resolved(
    {
        "datasets/d/label": "Data",
        "systems/bm25/label": "BM25",
        "systems/zero": {"model": "m"},
        "systems/theirs": {"type": "external", "runs": {"d": "README.md"}},
        "comparisons/c/figure": {"title": "A title", "together": "both"},
        "comparisons/z": {"control": "bm25", "treatment": "zero", "figure": {"together": "both"}},
        "charts": {"means": {"systems": ["bm25", "zero"], "measures": ["nDCG@10"]}},
    }
)


def test_every_comparison_chart_and_control_has_a_figure_in_each_format():
    kinds = {name: kind.NAME for name, kind in exhibits.figures(EXPERIMENT).items()}
    plans = ["study-design-c", "study-design-z"]  # which are made on demand
    assert kinds == {
        **dict.fromkeys(("c", "z", "both"), "forest"), "chart-means": "bars", "cost-bm25": "costs",
        **dict.fromkeys(plans, "study-design"),
    }  # fmt: skip
    made = exhibits.files(EXPERIMENT)
    assert {f"results/e/figures/c.{end}" for end in ("svg", "pdf", "png")} < set(made)
    assert len(made) == 15 and len(exhibits.files(EXPERIMENT, ("svg",), on_page=True)) == 5


def test_every_figure_is_drawn_from_files_that_are_made():
    """`draw` of its kind takes the inputs that are planned, and its settings."""
    drawn = {name: exhibits.exhibit(EXPERIMENT, name) for name in exhibits.figures(EXPERIMENT)}
    for name, one in drawn.items():
        hints = typing.get_type_hints(figure.drawn(exhibits.figures(EXPERIMENT)[name].NAME))
        assert hints.keys() == {*one.inputs, *FIGURE_FORMATS, "settings"}
        assert read_settings(hints["settings"], json.loads(json.dumps(one.settings)))
    assert drawn["both"].compared == ("c", "z") and drawn["both"].inputs["meta"] == drawn["cost-bm25"].inputs["meta"]
    kinds = {parse(file)[0] for one in drawn.values() for files in one.inputs.values() for file in files}
    assert kinds >= {"effects", "meta", "means", "run_timing"}


def test_a_figure_is_given_only_the_labels_that_it_shows():
    assert labels(EXPERIMENT)["systems"]["bm25"] == "BM25"
    of_one = forest.settings(EXPERIMENT, "z")
    of_both = forest.settings(EXPERIMENT, "both")
    assert of_one["facts"]["labels"]["systems"].keys() <= {"bm25", "zero"}
    assert of_one["facts"]["labels"]["tasks"] == of_both["facts"]["labels"]["tasks"] == {"d": "Data"}
    assert of_both["title"] == "A title" and "together" not in of_both


def test_comparisons_in_one_figure_may_have_other_tasks_each():
    changes = {
        "datasets/d/label": "First",
        "datasets/half": {"format": "beir", "location": "tests", "label": "Second"},
        "tasks": ["d", "half"],
        "comparisons/c": {"control": "tuned", "treatment": "bm25", "tasks": ["d"], "figure": {"together": "both"}},
        "comparisons/z": {"control": "tuned", "treatment": "bm25", "tasks": ["half"], "figure": {"together": "both"}},
        "recipes/q": {"train_on": "half"},
        "systems/tuned/recipe": {"each": {"d": "r", "half": "q"}},
    }  # fmt: skip
    reported = forest.settings(resolved(changes), "both")
    assert reported["facts"]["labels"]["tasks"] == {"d": "First", "half": "Second"}
    assert reported["facts"]["marks"]["trained"] == {"tuned": ["d", "half"]}


def test_a_title_is_no_setting_of_a_table():
    assert "title" in forest.looks(EXPERIMENT, "c")
    assert not {"title", "width"} & pages.table_settings(EXPERIMENT)["c"].keys()


def test_a_figure_reads_the_table_of_all_comparisons_where_there_are_several():
    """Its stars are those of the correction for their number."""
    alone = replace(EXPERIMENT, comparisons={"c": EXPERIMENT.comparisons["c"]})
    assert forest.adjusting_table(alone) == []
    assert forest.adjusting_table(EXPERIMENT) == ["results/e/tables/comparisons.tsv"]


def test_each_run_has_the_timings_of_what_was_trained_and_encoded_for_it():
    assert timings.timings(EXPERIMENT) == {
        "results/e/runs/d/bm25/seed-0.timing.json": {},
        **{
            f"results/e/runs/d/tuned/seed-{seed}.timing.json": {
                "training": f"results/e/models/m/r/seed-{seed}.timing.json",
                "encoding": f"results/e/embeddings/d/m/r/seed-{seed}.vectors.timing.json",
            }
            for seed in (1, 2)
        },
        "results/e/runs/d/zero/seed-0.timing.json": {
            "encoding": "results/e/embeddings/d/m/untrained/seed-0.vectors.timing.json"
        },
    }
    assert "results/e/runs/d/zero/seed-0.timing.json" in costs.exhibit(EXPERIMENT, "cost-bm25").inputs["timing"]
    assert costs.exhibit(EXPERIMENT, "cost-bm25").inputs["meta"] == ["results/e/meta/c.json", "results/e/meta/z.json"]
    assert costs.systems(EXPERIMENT, "cost-bm25") == ["bm25", "tuned", "zero"]


def test_behind_a_run_are_the_runs_and_trainings_of_all_that_it_takes_each_once():
    """A fusion of a re-ranker with its own first stage, whose model started from another training."""
    runs, models = "results/e/runs/d", "results/e/models/m"
    changes = {
        "recipes/first": {"train_on": "d", "epochs": 7},
        "recipes/second": {"train_on": "d", "start_from": "first", "start_seed": 2},
        "systems/twice": {
            "model": "m",
            "recipe": "second",
            "seeds": [1, 2],
            "rerank": {"first_stage": "bm25", "depth": 5},
        },
        "systems/both": {"type": "fusion", "systems": ["bm25", "twice", "tuned"]},
        "systems/theirs": {"type": "external", "runs": {"d": "README.md"}},
        "systems/mixed": {"type": "fusion", "systems": ["bm25", "theirs"]},
        "comparisons/f": {"control": "bm25", "treatment": "both"},
    }
    experiment = resolved(changes)
    found = timings.timings(experiment)
    trainings = [f"{models}/{name}.timing.json" for name in ("second/seed-1", "first/seed-2", "r/seed-1")]
    assert found[f"{runs}/twice/seed-1.timing.json"] == {
        "training": trainings[0], "trainings": trainings[:2], "parts": [f"{runs}/bm25/seed-0.timing.json"],
    }  # fmt: skip
    assert found[f"{runs}/both/seed-1.timing.json"] == {
        "parts": [f"{runs}/{name}.timing.json" for name in ("bm25/seed-0", "twice/seed-1", "tuned/seed-1")],
        "trainings": trainings,
        "encodings": ["results/e/embeddings/d/m/r/seed-1.vectors.timing.json"],
    }
    assert found[f"{runs}/mixed/seed-0.timing.json"] == {
        "parts": [f"{runs}/bm25/seed-0.timing.json"], "untimed": ["theirs"],
    }  # fmt: skip
    read = costs.exhibit(experiment, "cost-bm25").inputs["timing"]
    assert (
        {*trainings, f"{runs}/twice/seed-2.timing.json"}
        <= set(read)
        == set(read) & {*found, *timings.other_timings(experiment)}
    )


def test_where_all_systems_are_external_nothing_is_timed():
    systems = {name: {"type": "external", "runs": {"d": "README.md"}} for name in ("bm25", "tuned")}
    experiment = resolved({"systems": systems, "comparisons": {}})
    assert pages.times_tables(experiment) == [] == timings.run_timings(experiment)


def test_the_report_reads_each_training_once():
    logs = trainings.training_logs(EXPERIMENT)
    assert logs == ["results/e/models/m/r/seed-1.log.tsv", "results/e/models/m/r/seed-2.log.tsv"]
    timings = made.inputs(EXPERIMENT)["timing"]
    assert [path for path in timings if path.startswith("results/e/models/")] == [
        "results/e/models/m/r/seed-1.timing.json", "results/e/models/m/r/seed-2.timing.json",
    ]  # fmt: skip
    assert len(timings) == len(set(timings)) == 4 + 3 + 2  # runs, encodings, trainings


def test_systems_that_differ_in_their_training_queries_alone_are_one_curve():
    changes = {"recipes/r/queries": [32, "all"], "systems/tuned/recipe": ["r-32", "r-all"], "systems/zero": {"model": "m"},
               "comparisons": {}}  # fmt: skip
    experiment = resolved(changes)
    (group,) = trainings.sizes(experiment)
    assert sorted(map(str, group["systems"].values())) == ["32", "all"] and group["untrained"] == "zero"
    assert len(trainings.sizes_metrics(experiment)) == 2 * 2 + 1
    assert trainings.sizes(EXPERIMENT) == []


def test_the_pages_hold_what_stands_in_no_table():
    reported = sections.settings(EXPERIMENT)
    assert reported["facts"]["marks"]["trained"] == {"tuned": ["d"]} and reported["facts"]["measures"] == [
        *EXPERIMENT.measures
    ]
    of_means, of_costs = reported["sections"]["means"], reported["sections"]["costs"]
    assert of_means == {"cautions": cautions(EXPERIMENT), "of_runs": True}
    assert of_costs == {"figures": True}
    assert [(place["name"], place["section"]) for place in reported["exhibits"]] == [
        ("chart-means", "means"), ("cost-bm25", "costs"),
    ]  # fmt: skip
    assert reported["exhibits"][1]["caption"] == "Effects over BM25, and what they cost."


def test_sections_have_a_place_each_and_agree_about_their_files(monkeypatch):
    every = sections.sections()
    assert len({one.PLACE for one in every}) == len(every) > 10
    found = sections.inputs(EXPERIMENT)
    assert found["means"] == ["results/e/tables/means.tsv"] and found["effects"] == [
        "results/e/effects/c.tsv",
        "results/e/effects/z.tsv",
    ]
    monkeypatch.setattr(made, "inputs", lambda experiment: {"means": ["others.tsv"]})
    with pytest.raises(ValueError, match="section made: means are other files in another section"):
        sections.inputs(EXPERIMENT)


def test_published_numbers_without_a_mapping_stand_beside_comparisons():
    experiment = resolved({"published": {"file": "pyproject.toml"}})
    assert pages.user_files(experiment) == {"published": "pyproject.toml"}
    assert pages.compared_with(experiment) == {
        "times": [], "effects": ["results/e/effects/c.tsv"], "meta": ["results/e/meta/c.json"], "matrices": [],
    }  # fmt: skip
    assert pages.page_as_html(experiment) == [] and pages.published_settings(experiment) == {"beside": {}}
    assert pages.table(experiment) == "results/e/published-versus-ours.tsv"
    assert pages.table(EXPERIMENT) == [] and pages.user_files(EXPERIMENT) == {}


def test_published_tables_with_a_mapping_stand_beside_times_and_have_a_page_of_their_own():
    experiment = resolve(read_yaml(Path("config/factcheck-laptop.yaml")), "c.yaml")
    assert pages.compared_with(experiment) == {
        "times": pages.times_tables(experiment, ("tsv",)), "effects": [], "meta": [], "matrices": [],
    }  # fmt: skip
    assert len(pages.compared_with(experiment)["times"]) == 2
    assert str(pages.page_as_html(experiment)).endswith("/published-versus-ours.html")
    entries = pages.published_settings(experiment)["entries"]
    assert {system["system"] for systems in entries.values() for system in systems} <= experiment.systems.keys()
    assert any(entries.values())


def test_the_pages_know_on_which_dev_queries_systems_were_tuned():
    tuned = changed(
        {
            "systems/bm25/tune": True,
            "systems/f": {"type": "fusion", "method": "reciprocal-rank", "systems": ["bm25", "tuned"]},
        }
    )
    assert systems.tuned(resolve(tuned, "c.yaml")) == {"d": ["bm25"]}
    assert systems.tuned(EXPERIMENT) == {}


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        ({"PREFIX": "chart-"}, "figures toy: 'names chart-…' belongs to figures bars"),
        ({"Keys": bars.Keys}, "figures toy: 'charts' belongs to figures bars"),
        ({"Keys": Configuration}, "belongs to the configuration"),
    ],
)
def test_two_kinds_of_figures_do_not_share_a_key_or_the_beginning_of_names(monkeypatch, declared, problem):
    toy = SimpleNamespace(**{"PREFIX": "toy-"} | declared)
    every = {**plugins.load_all(exhibits.PACKAGE), "toy": toy}
    monkeypatch.setattr(plugins, "load_all", lambda package: every)
    with pytest.raises(ValueError, match=re.escape(problem)):
        exhibits.kinds.__wrapped__()
