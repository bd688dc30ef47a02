"""Effect types, estimators and intervals: each states all that is asked of it, and the schema names them all."""

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
