"""A comparison of gains (gain_over): the effect is a difference of differences, an interaction."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy

from ranktrial.experiment.exhibits import forest
from ranktrial.experiment.resolution import resolve
from ranktrial.experiment.results_paths import fields_of
from scripts.explorer.planning import explored
from scripts.synthesis import planning
from scripts.synthesis.compare import compare
from scripts.synthesis.planning_seeds import checkpoints
from tests.experiment.test_config import changed as of_runs
from tests.support.calling import call
from tests.support.configuration import changed
from tests.support.one_line import refused

OVER = {"hard": "random", "bi-hard": "bi-random"}
BASE = {
    "experiment": "e",
    "datasets": {"one": {"format": "scores", "measure": "RR"}, "two": {"format": "scores", "measure": "RR"}},
    "systems": {"bi-hard": {"type": "external", "label": "Bi, hard", "scores": {"one": "b1.txt", "two": "b2.txt"}},
                **{name: {"type": "external", "scores": {"one": f"{name}1.txt", "two": f"{name}2.txt"}}
                   for name in ("bi-random", "hard", "random")}},
    "tasks": ["one", "two"],
    "comparisons": {"c": {"control": "bi-hard", "treatment": "hard", "gain_over": OVER}},
}  # fmt: skip


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(1)
    for name in ("b", "bi-random", "hard", "random"):
        for number in ("1", "2"):  # of a task, or of a seed
            np.savetxt(f"{name}{number}.txt", random.integers(0, 4, 40) / 3)


def test_jobs_are_given_all_four_systems_and_pages_name_the_gains(files):
    experiment = resolve(BASE, "c.yaml")
    settings, inputs = planning.comparison_settings(experiment, "c"), planning.comparison_inputs(experiment, "c")
    assert (settings["control"], settings["treatment"]) == ("bi-hard minus bi-random", "hard minus random")
    assert (
        settings["gain_over"]
        == {"control": "bi-random", "treatment": "random"}
        == planning.query_settings(experiment, "c")["gain_over"]
    )
    assert [file.split("/")[-2] for file in inputs["control"]] == ["bi-hard"] * 2 + ["bi-random"] * 2
    assert forest.shown_labels(experiment, "c")["systems"] == {"bi-hard minus bi-random": "Bi, hard minus bi-random"}
    assert not explored(experiment) and not experiment.study.plans and not inputs["runs"]


def test_the_effect_is_the_mean_difference_of_differences(files):
    systems = {f"systems/{name}/scores": {task: [f"{name}{seed}.txt" for seed in "12"] for task in ("one", "two")}
               for name in ("hard", "random")}  # fmt: skip
    experiment = resolve(changed(BASE, systems | {"tasks": ["one"]}), "c.yaml")
    drawn, means = np.random.default_rng(2), {}
    inputs = planning.comparison_inputs(experiment, "c")
    for file in (*inputs["control"], *inputs["treatment"]):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        table = pd.DataFrame({"query_id": [f"q{i}" for i in range(50)], "RR": drawn.random(50)})
        table.to_csv(file, sep="\t", index=False)
        means.setdefault(fields_of("metrics", file)["system"], []).append(table["RR"])
    settings = planning.comparison_settings(experiment, "c") | {"seeds": "conditional"}
    call(compare, settings, **inputs, effects="effects.tsv", meta="meta.json")
    row, mean = pd.read_csv("effects.tsv", sep="\t").iloc[0], {name: sum(of) / len(of) for name, of in means.items()}
    gains = (mean["hard"] - mean["random"]) - (mean["bi-hard"] - mean["bi-random"])
    assert row["effect"] == pytest.approx(gains.mean()) and row["se"] == pytest.approx(gains.std() / 50**0.5)
    assert row["t_p_value"] == pytest.approx(scipy.stats.ttest_1samp(gains, 0).pvalue)
    assert row["control_mean"] == pytest.approx(mean["bi-hard"].mean() - mean["bi-random"].mean())


def test_seeds_of_a_gain_are_its_own_or_unknown():
    systems = {"systems/plain": {"model": "m"}, "systems/one": {"model": "m", "recipe": "r2"},
               "systems/three": {"model": "m", "recipe": "r2", "seeds": 2}, "recipes/r2": {"train_on": "d", "epochs": 2}}  # fmt: skip
    compared = {"control": "tuned", "treatment": "three", "gain_over": {"tuned": "plain", "three": "one"}}
    experiment = resolve(of_runs(systems | {"comparisons/c": compared}), "c.yaml")
    assert planning.comparison_settings(experiment, "c")["seed_sources"] == {
        "control": {"status": "own", "system": "tuned minus plain"}, "treatment": {"status": "unknown"}
    }  # fmt: skip
    assert checkpoints(experiment, experiment.comparisons["c"]) == {}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"gain_over": {"hard": "random", "bi-random": "bi-hard"}}, "expected bi-hard and hard, each with a system of"),
        ({"gain_over": {"hard": "random", "bi-hard": "random"}}, "each with a system of its own that is neither"),
        ({"gain_over": {"hard": "bi-hard", "bi-hard": "random"}}, "each with a system of its own that is neither"),
        ({"gain_over": {"hard": "random"}}, "gain_over"),
        (
            {"gain_over": {"hard": "rondom", "bi-hard": "bi-random"}},
            "gain_over.hard: unknown name 'rondom' (did you mean 'random'?)",
        ),
        ({"effect": "SMD"}, "gain_over: differences of differences have no effect SMD; expected MD"),
    ],
)
def test_what_is_no_pair_of_gains_is_refused(files, changes, said):
    with refused(said):
        resolve(changed(BASE, {f"comparisons/c/{key}": value for key, value in changes.items()}), "c.yaml")


def test_a_gain_needs_a_run_for_each_task_and_is_not_planned(files):
    lacking = changed(BASE, {"systems/random/scores": {"one": "random1.txt"}})
    with refused("gain_over.hard: random has no run for task 'two'"):
        resolve(lacking, "c.yaml")
    with refused("plan_study.comparisons: c compares gains"):
        resolve(changed(BASE, {"plan_study": {"comparisons": ["c"]}}), "c.yaml")
