"""Multiple comparisons in the configuration: what they become, and what each mistake says."""

import json

import pytest

from ranktrial.common.command_line import settings_of
from ranktrial.common.settings import read_settings
from ranktrial.experiment.exhibits import family as family_exhibit
from ranktrial.experiment.resolution import resolve
from ranktrial.synthesis.families import Settings
from scripts.reports import planning as pages
from scripts.reports import sections, tables
from scripts.synthesis import planning
from tests.experiment.test_config import changed, resolved
from tests.support.one_line import refused

EXTERNAL = {"type": "external", "runs": {"d": "README.md"}}


def with_family(entry, changes=()):
    return changed(
        {
            "systems/zero": {"model": "m"},
            "systems/more": {"type": "bm25", "k1": [0.5, 0.9]},
            "tasks": ["d", "d/dev"],
            "multiple_comparisons": {"f": entry},
            **dict(changes),
        }
    )


def test_all_systems_on_all_tasks():
    experiment = resolve(
        with_family({"systems": "all"}, {"systems/bm25/label": "BM25", "systems/more/k1": [0.5, 0.6]}), "c.yaml"
    )
    family = experiment.families["f"]
    assert family.systems == ("bm25", "tuned", "zero", "more-0.5", "more-0.6") and family.tasks == ("d", "d/dev")
    assert (family.statistic, family.alpha, family.permutations, family.measure) == ("t", 0.05, 10000, "nDCG@10")
    settings = planning.family_settings(experiment, "f")
    assert read_settings(Settings, json.loads(json.dumps(settings))).seed == 42
    metrics = planning.family_metrics(experiment, "f")
    assert len(metrics) == 2 * 6 and metrics[2:4] == [
        "results/e/metrics/d/tuned/seed-1.tsv", "results/e/metrics/d/tuned/seed-2.tsv",
    ]  # fmt: skip
    shown = family_exhibit.settings(experiment, "f")
    assert shown == {"labels": {"tasks": {"d-dev": "d/dev"}, "systems": {"bm25": "BM25"}}}
    assert read_settings(settings_of(tables.write_family), shown).title == ""
    made = pages.named_in_summary(experiment)
    assert "results/e/figures/multiple-comparisons/f.svg" in made
    assert "results/e/tables/multiple-comparisons/f.md" in made


def test_entries_mean_all_that_they_became_and_the_control_comes_first():
    entry = {
        "systems": ["more", "tuned"],
        "against": "zero",
        "measure": "RR@10",
        "tasks": ["d"],
        "statistic": "difference",
    }
    family = resolve(with_family(entry, {"systems/more/k1": [0.5, 0.6]}), "c.yaml").families["f"]
    assert family.systems == ("zero", "more-0.5", "more-0.6", "tuned") and family.tasks == ("d",)
    assert family.against == "zero" and family.measure == "RR@10"


def test_without_one_nothing_is_added():
    experiment = resolved({})
    assert experiment.families == {} and pages.family_files(experiment, "family") == []
    assert "multiple_comparisons" not in json.dumps(sections.settings(experiment))


MISTAKES = [
    ({"systems": ["tunde"]}, {}, "multiple_comparisons.f.systems: unknown name 'tunde' (did you mean 'tuned'?); systems has bm25, tuned"),
    ({"systems": ["bm25"]}, {}, "multiple_comparisons.f.systems: is 'bm25' alone; expected at least two systems"),
    ({"systems": ["bm25"], "against": "bm25"}, {}, "multiple_comparisons.f.systems: is 'bm25' alone"),
    ({"systems": []}, {}, "multiple_comparisons.f.systems: is empty"),
    ({"systems": "every"}, {}, "multiple_comparisons.f.systems: "),
    ({"systems": "all", "tasks": ["x"]}, {}, "multiple_comparisons.f.tasks: unknown name 'x'; tasks has d, d/dev"),
    ({"systems": "all", "against": "b"}, {}, "multiple_comparisons.f.against: unknown name 'b'"),
    ({"systems": "all", "against": "more"}, {}, "multiple_comparisons.f.against: more became 2 systems; name one of them"),
    ({"systems": "all", "measure": "P@3"}, {}, "multiple_comparisons.f.measure: 'P@3' is not among measures"),
    ({"systems": "all", "statistic": "q"}, {}, "multiple_comparisons.f.statistic: unknown value 'q'; expected one of t, difference"),
    ({"systems": "all", "permutations": 19}, {}, "multiple_comparisons.f.permutations: 19 are too few for alpha 0.05: no p-value could be"),
    ({"systems": "all", "colour": 1}, {}, "multiple_comparisons.f: unknown key 'colour'"),
    ({"systems": "all"}, {"systems/theirs": EXTERNAL}, "multiple_comparisons.f: theirs has no run for task 'd/dev'; name other systems or tasks"),
    ({"systems": "all", "tasks": ["d"]}, {"systems/theirs": EXTERNAL, "systems/ours": EXTERNAL},
     "multiple_comparisons.f.systems: 'theirs' and 'ours' are one system under two names"),
    ({"systems": ["bm25", "same"]}, {"systems/same": {"type": "bm25"}}, "'bm25' and 'same' are one system under two names"),
    ({"systems": "all"}, {"systems/more/k1": [0.1 * n for n in range(1, 60)]}, "multiple_comparisons.f.systems: are 62 systems; expected at most 50"),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "changes", "message"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_is_one_line(entry, changes, message):
    with refused(message, start="c.yaml: "):
        resolve(with_family(entry, {"systems/more/k1": [0.5, 0.6], **changes}), "c.yaml")


def test_enough_permutations_are_enough():
    assert resolve(with_family({"systems": ["bm25", "zero"], "permutations": 20}), "c.yaml")
