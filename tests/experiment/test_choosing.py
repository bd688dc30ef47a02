"""Recipes of which the best on dev is selected: the systems that this takes, what the jobs are given, and mistakes."""

import json
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
import yaml

from ranktrial.experiment.descriptions import tried, tried_by_comparison
from ranktrial.experiment.leakage import learnt_from
from ranktrial.experiment.system_types import system_type
from ranktrial.ir.trec import write_qrels, write_run
from ranktrial.records.facts import Labels
from ranktrial.reports.contents.data import chosen
from ranktrial.reports.writing.content import plain
from scripts.inference.planning import ranking_inputs
from scripts.reports import sections
from scripts.selection import jobs, planning
from scripts.training.planning import trained_recipes
from tests.configuration.test_reading import refused
from tests.experiment.test_config import resolved

TUNED = {"train_on": "d", "learning_rate": [0.1, 0.2], "epochs": [1, 2], "choose": {"measure": "RR@10"}}
NAMES = [f"{rate}-{epochs}" for rate in (0.1, 0.2) for epochs in (1, 2)]
SYSTEMS = {
    "bm25": {"type": "bm25"},
    "tuned": {"model": "m", "recipe": "r", "seeds": 2},
    "again": {"model": "m", "recipe": "r", "seeds": 2, "rerank": {"first_stage": "tuned", "depth": 5}},
    "fixed": {"model": "m", "recipe": "r-0.1-1"},
}


def experiment(recipe=TUNED, systems=SYSTEMS, **further):
    compared = {"c": {"control": "bm25", "treatment": "tuned"}}
    config = {"recipes/r": recipe, "systems": systems, "comparisons": compared}
    return resolved(config | further)


def test_a_system_stays_one_and_its_members_rank_dev_alone():
    chosen = experiment()
    assert list(chosen.systems)[:4] == list(SYSTEMS)
    tuned = chosen.systems["tuned"]
    assert tuned.recipe == "r-chosen-by-tuned" and chosen.systems["again"].recipe == "r-chosen-by-again"
    assert tuned.choice.members == tuple(f"tuned-{name}" for name in NAMES)
    for member, name in zip(tuned.choice.members, NAMES, strict=True):
        system = chosen.systems[member]
        assert (system.recipe, system.seeds, chosen.runs_of(system)) == (f"r-{name}", (1, 2), [])
    assert chosen.systems["fixed"].recipe == "r-0.1-1" and chosen.systems["fixed"].choice is None
    assert trained_recipes(chosen) == [f"r-{name}" for name in NAMES]
    assert ranking_inputs(chosen, "runs/d", "tuned", "2")["checkpoint"] == "results/e/models/m/r-chosen-by-tuned/seed-2"
    assert planning.recipe_inputs(chosen, "r-chosen-by-again")["runs"][:3] == [
        f"results/e/runs/d-dev/again-{name}/seed-{seed}.trec.gz" for name, seed in (("0.1-1", 1), ("0.1-1", 2), ("0.1-2", 1))
    ]  # fmt: skip
    taken = ranking_inputs(chosen, "runs/d-dev", "again-0.2-1", "2")["first_stage"]
    assert taken == "results/e/runs/d-dev/tuned/seed-2.trec.gz"
    assert planning.recipe_settings(chosen, "r-chosen-by-tuned") == {
        "system": "tuned", "recipe": "r", "task": "d/dev", "split": "dev", "measure": "RR@10",
        "members": [[f"tuned-{name}", f"r-{name}"] for name in NAMES],
    }  # fmt: skip
    assert planning.of_recipes(chosen, "training_log", "m", "r-chosen-by-tuned", "1")[0] == (
        "results/e/models/m/r-0.1-1/seed-1.log.tsv"
    )


def test_what_is_said_of_it():
    chosen = experiment()
    assert [tried(chosen, name) for name in SYSTEMS] == [1, 4, 8, 1]  # again takes the runs of tuned
    assert learnt_from(chosen, "tuned", "d") == {("d", "train"), ("d", "dev")}
    assert learnt_from(chosen, "fixed", "d") == {("d", "train")}
    settings = sections.settings(chosen)
    described = settings["sections"]["systems"]["systems"]
    assert list(described) == list(SYSTEMS)
    assert (
        "with that of the recipes r-0.1-1, r-0.1-2, r-0.2-1, r-0.2-2 which has the highest RR@10 on d/dev, 2 seeds"
        in described["tuned"]
    )
    assert settings["facts"]["marks"]["trained"]["tuned"] == ["d"] and tried_by_comparison(chosen) == {"c": [1, 4]}
    stated = system_type(chosen.systems["tuned"]).provenance(chosen, chosen.systems["tuned"])["training"]
    assert stated["chosen"] == {"by": "RR@10", "on": "d/dev"} and stated["among"]["r-0.2-1"]["learning_rate"] == 0.2


def test_equal_recipes_are_one_training_and_a_choice_has_a_list_of_models():
    recipes = {"recipes/s": {"train_on": "d", "learning_rate": 0.1, "epochs": 1}}
    chosen = experiment(systems=SYSTEMS | {"tuned": {"model": ["m", "ce"], "recipe": "r"}} | {"again": {"model": "m"}},
                        **recipes, **{"models/ce": {"type": "bi-encoder", "weights": "o/other"}})  # fmt: skip
    assert [system.choice.recipe for system in chosen.systems.values() if system.choice] == ["r", "r"]
    assert chosen.systems["tuned-ce"].choice.members[0] == "tuned-ce-0.1-1"
    assert trained_recipes(chosen) == [f"r-{name}" for name in NAMES]
    assert chosen.systems["tuned-m-0.1-1"].recipe == "r-0.1-1"


NO_DEV = {"format": "trec", "location": "tests", "documents": ["c"], "topics": {"test": "t", "train": "u"},
          "qrels": {"test": "q", "train": "r"}}  # fmt: skip
ONE = {"train_on": "d", "choose": {}}


@pytest.mark.parametrize(
    ("recipe", "further", "said"),
    [
        (ONE, {}, "recipes.r.choose: there is one recipe and nothing to choose among; give a list in place of a value"),
        (TUNED | {"choose": {}}, {"datasets/d": NO_DEV}, "recipes.r.choose: tasks: d/dev: d has no judgements for"),
        (TUNED | {"choose": {"measure": "nDGC@10"}}, {}, "recipes.r.choose.measure: "),
        (TUNED | {"choose": {"task": "x/dev"}}, {}, "recipes.r.choose: tasks: unknown name 'x'"),
        (TUNED | {"train_on": ["d", "o"]}, {}, "recipes.r.choose: its recipes learn from d and o; a choice is among"),
        (TUNED, {"recipes/s": {"train_on": "d", "start_from": "r"}}, "recipes.s.start_from: each system that names r"),
        (
            TUNED,
            {"systems/tuned": {"model": "m", "recipe": {"name": "r", "dataset": "target"}}},
            "systems.tuned.recipe: each system that names r chooses its own of it (choose); name one of its recipes",
        ),
        (TUNED, {"systems/tuned-0.1-1": {"model": "m"}}, "systems.tuned.recipe: systems have 'tuned-0.1-1' already"),
        (TUNED, {"recipes/r-chosen-by-tuned": {"train_on": "d"}}, "recipes have 'r-chosen-by-tuned' already"),
    ],
)
def test_mistakes_are_one_line(recipe, further, said):
    others = {"datasets/o": {"format": "beir", "location": "tests"}}
    config = {key: value for key, value in further.items() if not key.startswith("systems/")}
    systems = SYSTEMS | {key.removeprefix("systems/"): value for key, value in further.items() if key not in config}
    assert said in refused(partial(experiment, systems=systems, **others, **config), recipe)


def test_the_best_mean_over_seeds_is_chosen_and_the_first_of_equal_ones(tmp_path):
    write_qrels(tmp_path / "dev.qrels", {"q": {"a": 1}})
    ranks = {("one", 1): 1, ("one", 2): 4, ("two", 1): 2, ("two", 2): 1, ("three", 1): 1, ("three", 2): 2}
    runs = []
    for (member, seed), rank in ranks.items():
        runs.append(tmp_path / f"runs/d-dev/{member}/seed-{seed}.trec.gz")
        names = ["x", "y", "z"]
        names.insert(rank - 1, "a")
        write_run(runs[-1], {"q": {name: -float(n) for n, name in enumerate(names)}}, "t")
    settings = {"system": "s", "recipe": "r", "task": "d/dev", "split": "dev", "measure": "RR@10",
                "members": [[name, f"r-{name}"] for name in ("one", "two", "three")]}  # fmt: skip
    record = tmp_path / "choice.json"
    jobs.choose_recipe(runs, tmp_path / "dev.qrels", record, **settings)
    kept = json.loads(record.read_text())
    assert kept["chosen"] == "r-two" and [one["score"] for one in kept["recipes"]] == [0.625, 0.75, 0.75]
    assert kept["recipes"][0]["seeds"] == {"1": 1.0, "2": 0.25}

    models = [tmp_path / f"models/m/r-{name}" for name in ("one", "two", "three")]
    for folder in models:
        (folder / "seed-1").mkdir(parents=True)
        for beside in ("seed-1/w", "seed-1.timing.json", "seed-1.log.tsv"):
            (folder / beside).write_text(folder.name)
    target = tmp_path / "models/m/chosen/seed-1"
    jobs.chosen_checkpoint(
        record, [folder / "seed-1" for folder in models], [folder / "seed-1.timing.json" for folder in models],
        [folder / "seed-1.log.tsv" for folder in models],
        target, Path(f"{target}.timing.json"), Path(f"{target}.log.tsv"),
    )  # fmt: skip
    assert {path.read_text() for path in (target / "w", Path(f"{target}.timing.json"))} == {"r-two"}

    jobs.collect([record], tmp_path / "table.tsv")
    table = pd.read_csv(tmp_path / "table.tsv", sep="\t")
    assert list(table["chosen"]) == ["no", "yes", "no"] and table["by_seed"][0] == "1: 1.0000, 2: 0.2500"
    labels = Labels({}, {})
    assert list(map(plain, chosen(table, labels))) == [
        "s: r-two of 3, by RR@10 on d/dev, the mean of 2 seeds (r-one: 0.6250, r-two: 0.7500, r-three: 0.7500)."
    ]


def test_the_example_of_the_documentation_is_right():
    text = Path("docs/training.md").read_text()
    block = text.split("## Selecting a recipe on dev", 1)[1].split("```yaml\n", 1)[1].split("```", 1)[0]
    config = yaml.safe_load(block)
    recipe = config["recipes"]["tuned"] | {"train_on": "d"}
    chosen = experiment(recipe, SYSTEMS | {"tuned": config["systems"]["dense"] | {"model": "m", "recipe": "r"},
                                           "again": {"model": "m"}, "fixed": {"model": "m"}})  # fmt: skip
    assert tried(chosen, "tuned") == 6
