"""Effect types, estimators and intervals: each states all that is asked of it, and the schema names them all."""

from __future__ import annotations

import json
import subprocess
import sys
import typing
from pathlib import Path
from types import SimpleNamespace

import pytest

from ranktrial.common.keys import keys_of
from ranktrial.configuration.key_schema import of_key
from ranktrial.configuration.schema import entry_of, schema
from ranktrial.experiment.comparisons import loaded_modules
from ranktrial.statistics import effects, estimators, intervals, task_intervals
from ranktrial.statistics.effects import EffectType, all_effects, effect_named
from ranktrial.statistics.estimators import Estimator, all_estimators
from ranktrial.statistics.intervals import Interval, all_intervals
from ranktrial.statistics.method import Statistics
from ranktrial.statistics.task_intervals import IntervalMethod, all_task_intervals
from tests.support.sources import copy_sources

ROOT = Path(__file__).parents[2]
SCHEMA = entry_of(schema(), "comparisons")["properties"]
REGISTRIES = [(effects, EffectType, all_effects, "effect"), (estimators, Estimator, all_estimators, "estimator"),
         (intervals, Interval, all_intervals, "interval"),
         (task_intervals, IntervalMethod, all_task_intervals, "task_interval")]  # fmt: skip


@pytest.mark.parametrize(
    ("package", "protocol", "all_of_them", "key"), REGISTRIES, ids=[registry[3] for registry in REGISTRIES]
)
def test_each_module_states_what_its_registry_asks(package, protocol, all_of_them, key):
    asked = set(typing.get_type_hints(protocol)) | {name for name in vars(protocol) if name[0] != "_"}
    asked -= {"Keys"}  # where there are such
    for name, module in all_of_them().items():
        assert not {attribute for attribute in asked if not hasattr(module, attribute)}, name
        assert Path(module.__file__).stem == name.lower().replace("-", "_")
    assert set(SCHEMA[key]["enum"]) == set(all_of_them())


def test_the_schema_has_each_effects_own_keys():
    declaring = {name: module for name, module in all_effects().items() if hasattr(module, "Keys")}
    assert set(declaring) == {"SMD", "d_av"}
    for module in declaring.values():
        for name, key in keys_of(module.Keys).items():
            assert SCHEMA[name] == of_key(key) | {
                "description": f"{key.description}; only with effect: d_av or effect: SMD"
            }


@pytest.mark.parametrize("name", ["MD", "SMD", "d_av", "CORR"])
def test_templates_hold_no_other_fields(name):
    labels = {"measure": "M", "control": "C", "treatment": "T"}
    effect = effect_named(name)
    assert "M" in effect.AXIS.format(measure="M") and "T" in effect.QUESTION.format(**labels)
    finding = effect.FINDING.format(**labels, number="-0.1", size="0.1", relation="is below")
    assert "0.1" in finding and "C" in finding and "{" not in finding


@pytest.mark.parametrize("name", ["OR", "../md", "paired", "__init__", "_md", ""])
def test_an_unknown_name_is_refused(name):
    with pytest.raises(ValueError, match=f"expected one of {', '.join(all_effects())}"):
        effect_named(name)


def test_a_job_depends_on_its_own_plug_ins_alone():
    chosen_names = {"effect": "d_av", "estimator": "REML", "interval": "knapp-hartung", "task_interval": "bootstrap-t"}
    chosen = SimpleNamespace(statistics=Statistics(**chosen_names))
    assert loaded_modules([chosen, chosen]) == [
        "ranktrial/statistics/effects/d_av.py",
        "ranktrial/statistics/estimators/reml.py",
        "ranktrial/statistics/intervals/knapp_hartung.py",
        "ranktrial/statistics/task_intervals/bootstrap_t.py",
    ]
    chosen.statistics = Statistics(**chosen_names | {"effect": "CORR"})
    assert "ranktrial/statistics/task_intervals/normal.py" in loaded_modules([chosen])  # fmt: skip


TOYS = {
    "effects/median.py": """
from dataclasses import dataclass
from typing import Annotated
from ranktrial.statistics.effects.md import *
NAME, LABEL, FINDING = "median", "Medians", "half of the queries gain {number}"
@dataclass
class Keys:
    trim: Annotated[float, "share of the queries that is left out"] = 0.0
def compute(x, y, ddof, keys):
    return float(sorted(x - y)[len(x) // 2]) * (1 - keys.trim), 0.01
""",
    "estimators/fixed.py": """
NAME, DESCRIPTION, LABEL = "fixed", "no variance between tasks", "no variance"
def tau2(y, variances):
    return 0.0
""",
    "intervals/wide.py": """
from ranktrial.statistics.summaries import normal_summary
NAME, DESCRIPTION, LABEL = "wide", "a constant one", "constant width"
def summary(y, variances, tau2, alpha):
    return normal_summary(y.mean(), 4.0, alpha)
""",
    "task_intervals/whole.py": """
from ranktrial.statistics.task_intervals import TaskInterval
NAME, DESCRIPTION, LABEL, P_VALUE = "whole", "all that can be", "whole", "{statistic} against nothing"
HOLDS_SEEDS = False
def fits(effect):
    return True
def interval(sample):
    return TaskInterval(NAME, -1.0, 1.0, 1.0, 0.0)
""",
}


def test_a_new_plug_in_is_one_new_file(tmp_path):
    """A toy of each, one file in its folder, is computed with, drawn and put in a sentence."""
    copy_sources(tmp_path)
    for name, text in TOYS.items():
        (tmp_path / "ranktrial/statistics" / name).write_text(text)
    for task in "ab":
        for system, values in (("c", [0.1, 0.2, 0.3]), ("t", [0.2, 0.2, 0.9] if task == "a" else [0.4, 0.3, 0.3])):
            path = tmp_path / f"metrics/{task}/{system}/seed-0.tsv"
            path.parent.mkdir(parents=True)
            path.write_text("query_id\tRR\n" + "".join(f"{task}{n}\t{value}\n" for n, value in enumerate(values)))
    chosen_names = {"effect": "median", "estimator": "fixed", "interval": "wide", "task_interval": "whole"}
    compared = {"control": "c", "treatment": "t", "measure": "RR", "alpha": 0.05, "ddof": 1, "own": {"trim": 0.5},
                "permutations": 10, "seed": 1, "cumulative": False} | chosen_names  # fmt: skip
    shown = {"alpha": 0.05, "judged": "", "p": "t-test", "correction": "none", "sort": "config"}
    facts = {"labels": {"tasks": {}, "systems": {}}, "measures": ["nDCG@10"]}
    files = ["--effects", "x.tsv", "--meta", "x.json"]
    run = {
        "synthesis/compare.py": (
            compared,
            ["--control", "metrics/a/c/seed-0.tsv", "metrics/b/c/seed-0.tsv"],
            ["--treatment", "metrics/a/t/seed-0.tsv", "metrics/b/t/seed-0.tsv", *files],
        ),
        "synthesis/comparisons_table.py": (
            {"tried": {"x": [25, 1]}},
            ["--meta", "x.json", "--table", "comparisons.tsv"],
        ),
        "reports/figure.py": (
            shown | {"facts": facts, "title": "", "width": "double column"},
            ["forest", *files, "--svg", "x.svg", "--pdf", "x.pdf", "--png", "x.png"],
        ),
        "reports/tables.py": (
            {"facts": facts, "looks": {"x": shown}},
            ["write_tables", *files, "--comparisons", "comparisons.tsv"],
            ["--effects-tables", *(f"results/e/tables/effects/x.{suffix}" for suffix in ("tsv", "md", "tex"))],
            ["--comparisons-tables", *(f"results/e/tables/comparisons.{suffix}" for suffix in ("md", "tex"))],
        ),
    }
    for script, (settings, *options) in run.items():
        command = [sys.executable, f"scripts/{script}", *(word for part in options for word in part)]
        command += ["--settings", json.dumps(settings)] if settings else []
        done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": "."}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    meta = json.loads((tmp_path / "x.json").read_text())
    assert meta["tau2"] == 0 and meta["summary"]["se"] == 2.0 and meta["summary"]["effect"] == pytest.approx(0.05)
    assert (tmp_path / "x.tsv").read_text().count("\t-1.0\t1.0\t1.0\t") == 2 and meta["task_interval"] == "whole"
    assert ">Medians<" in (tmp_path / "x.svg").read_text()
    page = (tmp_path / "results/e/tables/effects/x.md").read_text()
    assert "half of the queries gain" in page and "Random effects (no variance, constant width)" in page
