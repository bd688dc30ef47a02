"""Rankers of the user's in a configuration: what their jobs are given, what is said of them, and what each mistake says."""

import re
from pathlib import Path

import pytest
import yaml

from ranktrial.common.errors import UserError
from ranktrial.experiment.descriptions import cautions, datasets_learnt, describe, for_times
from ranktrial.experiment.leakage import learnt_from
from ranktrial.experiment.system_types import documents_held, system_type
from ranktrial.experiment.timings import timings
from scripts.command import planning
from tests.experiment.test_config import resolved as of_base
from tests.support.one_line import refused

MINE = {
    "type": "command",
    "command": ["python", "rankers/mine.py", "{queries}", "{corpus}", "{run}"],
    "code": "rankers",
}
CLASS = {"type": "command", "ranker": "rankers.mine:Mine", "code": ["./rankers/mine.py"]}
TRAINED = {
    **MINE,
    "command": [*MINE["command"], "{model}"],
    "train": ["python", "rankers/mine.py", "{qrels}", "{model}"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The working folder: data, code, and what is no part of it."""
    monkeypatch.chdir(tmp_path)
    for place in ("tests/qrels", "rankers/__pycache__", "rankers/.git", "results", "scripts"):
        Path(place).mkdir(parents=True)
    for name in ("rankers/mine.py", "rankers/words.txt", "rankers/__pycache__/mine.pyc", "rankers/.git/HEAD", "loose.py",
                 "scripts/x.py", "tests/qrels/train.tsv", "tests/qrels/dev.tsv", "tests/qrels/test.tsv"):  # fmt: skip
        Path(name).touch()
    return tmp_path


def experiment(mine=MINE, **changes):
    return of_base({"systems/mine": mine}, **changes)


def test_defaults_and_what_the_job_is_given():
    resolved = experiment()
    own = resolved.systems["mine"]
    assert own.seeds == (0,) and system_type(own).files(own) == ["rankers/mine.py", "rankers/words.txt"]
    assert planning.running_settings(resolved, "mine", "0") == {
        "system": "mine", "command": MINE["command"], "depth": 1000, "tag": "mine-0",
    }  # fmt: skip
    inputs = planning.running_inputs(resolved, "mine", "d", "0")
    assert inputs["queries"].endswith("data/d/queries/test.jsonl") and list(inputs) == ["corpus", "queries", "code"]
    assert planning.threads(resolved, "mine") == 1 and planning.systems(resolved, gpu=False) == "mine"
    one = experiment(CLASS)
    assert planning.running_inputs(one, "mine", "d", "0")["code"] == ["rankers/mine.py"]
    assert planning.loads(one, "mine") == ["scripts/command/runner.py"] and planning.loads(resolved, "mine") == []


def test_lists_of_parameters_make_systems_and_those_of_words_do_not():
    resolved = experiment(
        {**MINE, "command": [*MINE["command"], "{k1}"], "parameters": {"k1": [0.9, 1.2]}, "threads": 4}
    )
    assert resolved.entries["mine"] == ["mine-0.9", "mine-1.2"]
    assert planning.running_settings(resolved, "mine-1.2", "0")["parameters"] == {"k1": 1.2}
    assert planning.threads(resolved, "mine-1.2") == 4 and describe(resolved, resolved.systems["mine-0.9"]) == (
        "program python rankers/mine.py {queries} {corpus} {run} {k1} (k1 = 0.9)"
    )


def test_a_trained_one_has_seeds_a_training_per_dataset_and_its_time():
    resolved = experiment({**TRAINED, "seeds": 2, "train": [*TRAINED["train"], "{seed}", "{dev_qrels}"], "gpu": True})
    own, task = resolved.systems["mine"], resolved.tasks["d"]
    model = "results/e/rankers/d/mine/seed-2"
    assert own.seeds == (1, 2) and planning.running_inputs(resolved, "mine", "d", "2")["model"] == model
    inputs = planning.training_inputs(resolved, "mine", "d", "2")
    assert inputs["queries"].endswith("queries/train.jsonl") and inputs["dev_qrels"].endswith("qrels/dev.qrels")
    settings = planning.training_settings(resolved, "mine", "2")
    assert settings["command"][:2] == ["python", "rankers/mine.py"] and settings["seed"] == 2 and settings["gpu"]
    assert learnt_from(resolved, "mine", "d") == {("d", "train"), ("d", "dev")} and datasets_learnt(
        resolved, own, "d"
    ) == ["d"]
    behind = timings(resolved, systems=["mine"])["results/e/runs/d/mine/seed-2.timing.json"]
    assert behind == {"training": f"{model}.timing.json"}
    assert for_times(resolved, own)["column"] == "mine (each task's own)"
    assert planning.systems(resolved, gpu=True) == "mine" and system_type(own).training_timing(resolved, own, task, 1)
    on_cpu = experiment({**TRAINED, "gpu": True}, device="cpu")
    assert planning.systems(on_cpu, gpu=False) == "mine" and "gpu" not in planning.running_settings(on_cpu, "mine", "1")
    elsewhere = experiment({**TRAINED, "train_on": "other"}, datasets__other={"format": "beir", "location": "tests"})
    assert planning.running_inputs(elsewhere, "mine", "d", "1")["model"] == "results/e/rankers/other/mine/seed-1"


def test_a_re_ranker_has_the_seeds_of_its_first_stage_or_its_own():
    reranks = {**CLASS, "rerank": {"first_stage": "tuned", "depth": 30}}
    resolved = experiment(reranks)
    own = resolved.systems["mine"]
    assert own.seeds == (1, 2) and documents_held(resolved, own) == 30
    assert planning.running_inputs(resolved, "mine", "d", "2")["first_stage"].endswith("runs/d/tuned/seed-2.trec.gz")
    settings = planning.running_settings(resolved, "mine", "2")
    assert settings["candidates"] == 30 and "seed" not in settings
    assert any("mine" in line for line in cautions(resolved))
    seeded = experiment({**reranks, "rerank": {"first_stage": "bm25"}, "seeds": [5]})
    assert seeded.systems["mine"].seeds == (5,) and planning.running_settings(seeded, "mine", "5")["seed"] == 5
    learns = {**TRAINED, "train": [*TRAINED["train"], "{first_stage}"], "rerank": {"first_stage": "bm25"}}
    resolved = experiment(learns)
    assert planning.training_inputs(resolved, "mine", "d", "1")["first_stage"].endswith(
        "runs/d-train/bm25/seed-0.trec.gz"
    )
    with pytest.raises(UserError, match=r"systems.mine: its seeds \(5,\) are not those of tuned \(1, 2\)"):
        experiment({**reranks, "seeds": [5]})


def test_others_fuse_it_mine_negatives_from_it_and_learn_from_its_scores():
    both = {"type": "fusion", "systems": ["bm25", "mine"]}
    resolved = experiment(systems__both=both, recipes__r__negatives={"from": "mine"})
    assert "d/train" in resolved.selection_tasks
    assert planning.running_inputs(resolved, "mine", "d-train", "0")["queries"].endswith("queries/train.jsonl")


def test_text_of_a_parameter_that_names_no_file_is_no_mistake():
    experiment({**MINE, "parameters": {"prompt": "a=b " * 99, "file": "rankers/words.txt"}})


def test_another_number_of_threads_is_another_command_where_a_word_has_it():
    words = [*MINE["command"], "--threads={threads}"]
    once, trained = {**MINE, "command": words}, {**TRAINED, "train": [*TRAINED["train"], "{threads}"]}
    for system, plan, differs in (
        (MINE, planning.running_settings, False),
        (once, planning.running_settings, True),
        (trained, planning.running_settings, False),
        (trained, planning.training_settings, True),
        ({**CLASS, "train": True}, planning.training_settings, False),
    ):
        one, four = (plan(experiment({**system, "threads": number}), "mine", "0") for number in (1, 4))
        assert (one != four) == differs


def test_what_is_said_of_it():
    resolved = experiment({**CLASS, "parameters": {"k1": 1.5}, "seeds": 3, "rerank": {"first_stage": "bm25"}})
    own = resolved.systems["mine"]
    said = "Python class rankers.mine:Mine (k1 = 1.5), re-ranks the top 100 of bm25, 3 seeds"
    assert describe(resolved, own) == said and for_times(resolved, own)["candidates"] == "top 100 of bm25"
    assert system_type(own).provenance(resolved, own) == {
        "method": "command", "ranker": "rankers.mine:Mine", "parameters": {"k1": 1.5}, "code": ["rankers/mine.py"],
        "reranks": "bm25", "depth": 100,
    }  # fmt: skip
    pair = {"control": "mine", "treatment": "other"}
    with pytest.raises(UserError, match="are one system under two names"):
        experiment(systems__other=MINE, comparisons__c=pair)
    experiment(systems__other={**MINE, "python": "envs/other/bin/python"}, comparisons__c=pair)


def without(entry, *keys, **more):
    return {key: value for key, value in entry.items() if key not in keys} | more


CASES = {
    "nothing to run": (without(MINE, "command"), "systems.mine: a system of type command needs command, a list of words, or ranker"),
    "both": ({**MINE, **CLASS}, "systems.mine.command: not together with ranker"),
    "a line for a shell": ({**MINE, "command": "python rankers/mine.py"}, "systems.mine.command: 'python rankers/mine.py' is text; expected a list"),
    "no class": ({**CLASS, "ranker": "rankers.mine"}, "systems.mine.ranker: 'rankers.mine' does not fit; expected package.module:Class"),
    "code outside": ({**MINE, "code": "../x"}, "systems.mine.code: '../x' leads out of its folder; expected a path below this folder"),
    "absolute code": ({**MINE, "code": "/etc"}, "systems.mine.code: '/etc' is absolute"),
    "no code": ({**MINE, "code": "rankers/none.py"}, "systems.mine.code: no file or folder 'rankers/none.py'"),
    "our code": ({**MINE, "code": ["rankers", "scripts"]}, "systems.mine.code: 'scripts' is the workflow's own; expected a folder of yours"),
    "results": ({**MINE, "code": ["rankers", "results"]}, "systems.mine.code: 'results' is the workflow's own"),
    "unnamed code": ({**MINE, "command": ["python", "loose.py", "{run}"]}, "systems.mine.code: loose.py is part of it, and an edit would not be noticed"),
    "unnamed module": (without(CLASS, "code"), "systems.mine.code: rankers/mine.py is part of it"),
    "a file elsewhere": ({**MINE, "command": ["python", "/etc/passwd", "{run}"]}, "systems.mine.code: '/etc/passwd' lies outside this folder"),
    "a file of a parameter": ({**MINE, "command": [*MINE["command"], "{x}"], "parameters": {"x": "./loose.py"}}, "systems.mine.code: loose.py is part of it"),
    "a file made of a parameter": ({**MINE, "command": [*MINE["command"], "{x}.py"], "parameters": {"x": "loose"}}, "systems.mine.code: loose.py is part of it"),
    "a file of a class's parameter": ({**CLASS, "parameters": {"x": "/etc/passwd"}}, "systems.mine.code: '/etc/passwd' lies outside this folder"),
    "a file of an option": ({**MINE, "command": [*MINE["command"], "--words=loose.py"]}, "systems.mine.code: loose.py is part of it"),
    "an unknown placeholder": ({**MINE, "command": ["x", "{run}", "{querys}"]}, "systems.mine.command: unknown placeholder {querys} (did you mean 'queries'?); it may have {queries}, {corpus}"),
    "a seed without seeds": ({**MINE, "command": ["x", "{run}", "{seed}"]}, "systems.mine.command: unknown placeholder {seed}"),
    "a candidate without rerank": ({**MINE, "command": ["x", "{run}", "{first_stage}"]}, "unknown placeholder {first_stage}"),
    "seeds without a seed": ({**MINE, "seeds": 2}, "systems.mine.seeds: no word has {seed}, so that all runs would be the same"),
    "no place for the run": ({**MINE, "command": ["x", "{queries}"]}, "systems.mine.command: has no {run}, the place where it is to write"),
    "no place for the model": ({**TRAINED, "train": ["x", "{qrels}"]}, "systems.mine.train: has no {model}, the place where it is to write"),
    "a model unread": ({**TRAINED, "command": MINE["command"]}, "systems.mine.command: has no {model}, what train has written"),
    "a class trained by words": ({**CLASS, "train": ["x"]}, "systems.mine.train: expected true: the method `train` of the class learns"),
    "a program trained by true": ({**MINE, "train": True}, "systems.mine.train: expected a list of words, as command is"),
    "training data without a training": ({**MINE, "train_on": "d"}, "systems.mine.train_on: only valid with train"),
    "several datasets": ({**TRAINED, "train_on": ["d", "d2"]}, "systems.mine.train_on: d, d2 are several; expected one dataset"),
    "an unknown dataset": ({**TRAINED, "train_on": "x"}, "systems.mine.train_on: unknown name 'x'; datasets has d"),
    "a parameter that has a meaning": ({**MINE, "parameters": {"run": 1}}, "systems.mine.parameters: 'run' has a meaning already"),
    "a parameter of several values": ({**MINE, "parameters": {"a": {"b": 1}}}, "systems.mine.parameters.a"),
    "two environments": ({**MINE, "python": "e/bin/python", "conda": "e"}, "systems.mine.python: not together with conda"),
    "an unknown first stage": ({**CLASS, "rerank": {"first_stage": "x"}}, "systems.mine.rerank.first_stage: unknown name 'x'"),
    "keys of others": ({**MINE, "k1": 3}, "systems.mine: a system of type command cannot have 'k1'"),
    "another word for ranker": (without(CLASS, "ranker") | {"class": "rankers.mine:Mine"}, "systems.mine: unknown key 'class' (did you mean 'ranker'?)"),
    "threads": ({**MINE, "threads": 0}, "systems.mine.threads: 0 is too small"),
}  # fmt: skip


@pytest.mark.parametrize(("mine", "said"), CASES.values(), ids=CASES)
def test_each_mistake_is_one_line(mine, said):
    with refused(said, start="c.yaml: "):
        experiment(mine)


def test_code_that_is_too_much_or_leads_out_by_a_link(folder):
    (folder / "rankers/out.py").symlink_to("/etc/passwd")
    with pytest.raises(UserError, match=r"'rankers/out.py' leads out of this folder by a link"):
        experiment({**MINE, "code": ["rankers/out.py"]})
    (folder / "rankers/out.py").unlink()
    (folder / "rankers/{a}.py").touch()
    with pytest.raises(UserError, match="Snakemake would take"):
        experiment()
    (folder / "rankers/{a}.py").unlink()
    for number in range(500):
        (folder / f"rankers/{number}").touch()
    with pytest.raises(UserError, match="has 502 files; expected at most 500, those of the ranker alone"):
        experiment()


def test_the_examples_of_the_page_are_right(folder):
    page = (Path(__file__).parents[2] / "docs/ranking.md").read_text()
    section = page.split("\n## Your own ranker\n")[1].split("\n## ")[0]
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)]
    systems = {f"systems/{name}": entry for block in blocks for name, entry in block["systems"].items()}
    for name in re.findall(r"(?:config/)?rankers/\w+\.\w+", section):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    made = of_base(systems)
    assert {"mine", "program", "bm25s-0.9", "bm25s-1.5", "trained", "reranked"} <= made.systems.keys()


def test_the_first_class_of_the_page_ranks():
    page = (Path(__file__).parents[2] / "docs/ranking.md").read_text()
    made = {}
    exec(re.search(r"```python\n(class Mine.*?)```", page, re.DOTALL)[1], made)
    mine = made["Mine"]()
    mine.index({"d1": {"title": "", "text": "a calm sea"}, "d2": {"title": "", "text": "Storms at sea"}})
    assert mine.search({"q": "storms at sea"}, 1) == {"q": {"d2": 3}}
