"""Choosing a seed: the score, ties, what is written, and what the configuration may say."""

import json
import os

import pandas as pd
import pytest

from ranktrial.common.errors import UserError
from ranktrial.experiment.resolution import resolve
from ranktrial.experiment.results_paths import SELECTED
from ranktrial.ir.trec import write_qrels, write_run
from scripts.selection import jobs
from scripts.selection.jobs import collect
from tests.experiment.test_config import changed, resolved

THESIS = {"R@1": 3, "R@3": 2, "R@5": 1}
QRELS = {"q1": {"a": 1}, "q2": {"b": 1, "x": 0}}


def ranked(*ranks: int) -> dict[str, dict[str, float]]:
    """A run that has the relevant document of q1, q2 at these ranks (0: not at all) among others."""
    run = {}
    for query, wanted, rank in zip(("q1", "q2"), ("a", "b"), ranks, strict=True):
        names = [f"other{n}" for n in range(9)]
        names[rank - 1 : rank] = [wanted] if rank else []
        run[query] = {name: float(-n) for n, name in enumerate(names)}
    return run


# Seed 10 is first on one query alone; seeds 2 and 3 have both in the first three; seed 2 and 3 are equal.
RUNS = {10: ranked(1, 0), 3: ranked(2, 1), 2: ranked(1, 3)}
EXPECTED = {10: (3 * 0.5 + 2 * 0.5 + 0.5) / 6, 3: (3 * 0.5 + 2 + 1) / 6, 2: (3 * 0.5 + 2 + 1) / 6}


@pytest.fixture
def files(tmp_path):
    for seed, run in RUNS.items():
        write_run(tmp_path / f"runs/d-dev/s/seed-{seed}.trec.gz", run, "tag")
        folder = tmp_path / f"models/m/r/seed-{seed}"
        (folder / "1_Pooling").mkdir(parents=True)
        (folder / "model.safetensors").write_text(f"weights {seed}")
        (folder / "1_Pooling/config.json").write_text("{}")
        (folder / ".snakemake_timestamp").touch()
        (tmp_path / f"models/m/r/seed-{seed}.timing.json").write_text(json.dumps({"seconds": seed}))
    write_qrels(tmp_path / "dev.qrels", QRELS)
    return tmp_path


def select(folder, qrels="dev.qrels", **changes):
    settings = {"system": "s", "task": "d/dev", "split": "dev", "score": THESIS, "formula": "f"} | changes
    models = folder / "models/m/r"
    jobs.select_seed(
        [folder / f"runs/d-dev/s/seed-{seed}.trec.gz" for seed in RUNS], folder / qrels,
        [models / f"seed-{seed}" for seed in RUNS], [models / f"seed-{seed}.timing.json" for seed in RUNS],
        folder / "out", folder / "out.timing.json", folder / "out.json", **settings,
    )  # fmt: skip
    return json.loads((folder / "out.json").read_text())


def test_the_score_is_the_weighted_mean_and_ties_go_to_the_smallest_seed(files, capsys):
    record = select(files)
    assert [one["seed"] for one in record["seeds"]] == [2, 3, 10]
    assert {one["seed"]: one["score"] for one in record["seeds"]} == pytest.approx(EXPECTED)
    assert record["seeds"][2] == {"seed": 10, "score": pytest.approx(0.5), "R@1": 0.5, "R@3": 0.5, "R@5": 0.5}
    assert record["chosen"] == 2
    assert (files / "out/model.safetensors").read_text() == "weights 2"
    assert (files / "out/1_Pooling/config.json").is_file()
    assert not (files / "out/.snakemake_timestamp").exists()
    assert json.loads((files / "out.timing.json").read_text()) == {"seconds": 2}
    printed = capsys.readouterr().err
    assert "test set" not in printed
    assert "\ns: warning: chosen on 2 dev queries: with fewer than 10, the choice may be due to chance" in printed


def test_another_score_chooses_another_seed(files):
    assert select(files, score={"RR": 1})["chosen"] == 3  # 0.75 against 0.667 and 0.5
    assert jobs.weighted_mean({"R@1": 0.2, "R@5": 0.8}, {"R@1": 1, "R@5": 3}) == pytest.approx(0.65)


def test_a_choice_on_the_test_set_is_said(files, capsys):
    select(files, split="test", task="d")
    assert "chosen on a test set; for reproduction only" in capsys.readouterr().err


def test_where_links_cannot_be_made_files_are_copied(files, monkeypatch):
    def no_links(*arguments):
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", no_links)
    select(files)
    assert (files / "out/model.safetensors").read_text() == "weights 2"


def test_a_split_without_judgements_is_one_line(files):
    (files / "empty.qrels").touch()
    with pytest.raises(UserError, match=r"empty.qrels: no judged query to select a seed by"):
        select(files, qrels="empty.qrels")
    assert not (files / "out").exists()


def test_the_table_has_a_row_a_seed(files):
    select(files)
    collect([files / "out.json"], files / "t.tsv")
    table = pd.read_csv(files / "t.tsv", sep="\t")
    assert list(table.columns) == ["system", "task", "split", "formula", "seed", "chosen", "score", *THESIS]
    assert dict(zip(table["seed"], table["chosen"], strict=True)) == {2: "yes", 3: "no", 10: "no"}


OTHER = {"datasets/e": {"format": "beir", "location": "scripts"}, "tasks": ["d", "e"]}
ON_DEV = {"systems/tuned/select_seed": {"task": "d/dev"}}


def test_all_seeds_run_on_the_datasets_tasks_and_the_selected_one_on_others():
    experiment = resolved(OTHER | ON_DEV)
    system = experiment.systems["tuned"]
    seeds = {name: experiment.seeds_on(system, task) for name, task in experiment.tasks.items()}
    assert seeds == {"d": (1, 2), "e": (SELECTED,)}
    assert list(experiment.selection_tasks) == ["d/dev"] and list(experiment.tasks) == ["d", "e"]
    assert experiment.selection_task(system.selection).folder == "d-dev"
    assert system.selection.formula == "(3 R@1 + 2 R@3 + R@5)/6"
    assert experiment.seeds_on(experiment.systems["bm25"], experiment.tasks["e"]) == (0,)
    on_test = resolved(OTHER | {"systems/tuned/select_seed": {"task": "d", "score": {"RR": 1}}})
    assert on_test.selection_tasks == {} and on_test.systems["tuned"].selection.formula == "RR"


def test_a_reranker_follows_the_selection_of_its_first_stage():
    reranker = {"systems/x": {"model": "ce", "rerank": {"first_stage": "tuned"}}}
    experiment = resolved(OTHER | ON_DEV | reranker)
    system, (d, e) = experiment.systems["x"], experiment.tasks.values()
    assert experiment.seeds_on(system, e) == (SELECTED,)
    assert experiment.first_stage_seed(system, SELECTED, e) == SELECTED
    assert experiment.first_stage_seed(system, 2, d) == 2
    trained = {"systems/x": {"model": "ce", "recipe": "r", "seeds": 2, "rerank": {"first_stage": "tuned"}}}
    experiment = resolved(OTHER | ON_DEV | trained)
    assert experiment.first_stage_seed(experiment.systems["x"], 2, e) == SELECTED


def test_a_choice_can_be_shared_by_systems_that_were_fanned_out():
    config = changed(OTHER | {
        "models/n": {"type": "bi-encoder", "weights": "org/n"},
        "systems/tuned": {"model": ["m", "n"], "recipe": "r", "seeds": 2, "select_seed": {"task": "d/dev"}},
        "systems/again": {"model": ["m", "n"], "recipe": "r", "seeds": 2, "select_seed": {"by": "tuned"},
                          "rerank": {"first_stage": "bm25"}},
        "comparisons": {},
    })  # fmt: skip
    systems = resolve(config, "c.yaml").systems
    assert systems["again-n"].selection == systems["tuned-n"].selection
    assert systems["again-n"].selection.checkpoint == "selected-tuned-n"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"systems/bm25/select_seed": {"task": "d/dev"}}, "systems.bm25: a system of type bm25 cannot have 'select_seed'"),
        ({"systems/tuned": {"model": "m", "select_seed": {"task": "d/dev"}}}, "select_seed: only valid with recipe"),
        ({"systems/tuned/select_seed": {}}, "systems.tuned.select_seed: select_seed needs 'task' .* or 'by'"),
        ({"systems/tuned/select_seed": {"task": "d/dev", "by": "x"}}, "and not both"),
        ({"systems/tuned/select_seed": {"by": "bm25"}}, "'bm25' is not exactly one system with select_seed.task and the same model, recipe and"),
        ({"systems/tuned/select_seed": {"by": "x", "score": {"RR": 1}}}, "select_seed.score: not together with by"),
        ({"systems/tuned/select_seed": {"task": "z/dev"}}, "systems.tuned.select_seed.task: unknown name 'z'"),
        ({"systems/tuned/select_seed": {"task": "d/all"}}, "'d/all' does not fit; expected a dataset's name or DATASET/train"),
        ({"systems/tuned/select_seed": {"task": "d/dev", "score": {"hits": 1}}}, "unknown measure 'hits'"),
        ({"systems/tuned/select_seed": {"task": "d/dev", "score": {"RR": 0}}}, "score.RR: 0 is too small; expected a number above 0"),
        (ON_DEV | {"datasets/d-dev": {"format": "beir", "location": "scripts"}, "tasks": ["d", "d-dev"]},
         "systems.tuned.select_seed.task: 'd/dev' and another task would share a folder"),
        (OTHER | {"systems/x": {"model": "ce", "recipe": "r", "seeds": 2, "rerank": {"first_stage": "tuned"},
                                "select_seed": {"task": "d/dev"}}},
         "systems.x.select_seed: its first stage tuned has several seeds on e; give that a select_seed too"),
    ],
)  # fmt: skip
def test_mistakes_are_reported(changes, said):
    with pytest.raises(UserError, match=rf"^c.yaml: [^\n]*{said}[^\n]*$"):
        resolved(changes)
