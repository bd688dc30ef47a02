"""Systems that fuse runs: their seeds, the tasks that tuning adds, their words, and what each mistake says."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.keys import given
from ranktrial.experiment.descriptions import cautions, datasets_learnt, describe, for_times
from ranktrial.experiment.results_paths import SELECTED
from scripts.fusion import planning
from tests.experiment.test_config import resolved as experiment
from tests.support.one_line import refused

TUNE = {"type": "fusion", "systems": ["bm25", "tuned"], "method": "weighted-sum", "tune": True}
GIVEN = {"type": "fusion", "systems": ["bm25", "tuned"], "method": "weighted-sum", "weights": {"bm25": 1, "tuned": 2}}
RRF = {"type": "fusion", "systems": ["bm25", "tuned"]}
INSURANCE = {"format": "insuranceqa", "location": "tests"}  # of which the splits are known
JUDGED = {"format": "qrels", "location": "tests/conftest.py"}  # test alone
FILE = "tests/conftest.py"


def test_seeds_pass_through_and_a_system_without_training_joins_each():
    resolved = experiment(systems__f=RRF, systems__g={"type": "fusion", "systems": ["f", "bm25"]})
    task = resolved.tasks["d"]
    for name in ("f", "g"):
        assert resolved.systems[name].seeds == resolved.seeds_on(resolved.systems[name], task) == (1, 2)
    assert [resolved.seed_taken("tuned", seed, task) for seed in (1, 2)] == [1, 2]
    assert [resolved.seed_taken("bm25", seed, task) for seed in (1, 2)] == [0, 0]
    alone = experiment(systems__z={"model": "m"}, systems__f={"type": "fusion", "systems": ["z", "bm25"]})
    assert alone.systems["f"].seeds == (0,)


def test_a_reranker_and_a_fusion_of_rerankers_have_the_seeds_of_a_fusion():
    rerank = {"model": "ce", "rerank": {"first_stage": "f", "depth": 5}}
    last = {"type": "fusion", "systems": ["x", "bm25"]}
    resolved = experiment(systems__last=last, systems__x=rerank, systems__f=RRF)  # whatever their order
    assert resolved.systems["x"].seeds == resolved.systems["last"].seeds == (1, 2)


def test_a_selected_seed_passes_through():
    chosen = {"model": "m", "recipe": "r", "seeds": 2, "select_seed": {"task": "d/dev"}}
    other = {"tasks": ["d", "e"], "datasets__e": {"format": "beir", "location": "scripts"}}
    resolved = experiment(systems__tuned=chosen, systems__f=RRF, **other)
    system, elsewhere = resolved.systems["f"], resolved.tasks["e"]
    assert resolved.seeds_on(system, elsewhere) == (SELECTED,) and resolved.seeds_on(system, resolved.tasks["d"]) == (
        1,
        2,
    )
    assert resolved.seed_taken("tuned", SELECTED, elsewhere) == SELECTED
    assert resolved.seed_taken("bm25", SELECTED, elsewhere) == 0
    mixed = {"type": "fusion", "systems": ["tuned", "all"]}
    every = {"model": "ce", "recipe": "r", "seeds": 2, "rerank": {"first_stage": "bm25"}}
    with pytest.raises(UserError, match=r"systems.f.systems: all has several seeds on e, another a selected one"):
        experiment(systems__tuned=chosen, systems__all=every, systems__f=mixed, **other)


def test_tuning_adds_the_dev_task_of_each_dataset():
    resolved = experiment(systems__f=TUNE)
    assert list(resolved.selection_tasks) == ["d/dev"] and list(resolved.tasks) == ["d"]
    assert resolved.task_of_split("d", "dev").folder == "d-dev"
    assert list(experiment(systems__f=TUNE, tasks=["d", "d/dev"]).selection_tasks) == []  # it is there already
    assert experiment(systems__f=GIVEN).selection_tasks == {}
    how = {"systems": ["bm25", "tuned"], "normalise": "min-max", "step": 0.1, "measure": "nDCG@10", "depth": 10}
    assert planning.tuning_settings(resolved, "f") == how
    how = {"systems": ["bm25", "tuned"], "method": "weighted-sum", "normalise": "min-max"}
    assert planning.fusing_settings(resolved, "f", "1") == {**how, "depth": resolved.depth, "tag": "f-1"}


def test_a_seed_selected_on_another_dataset_needs_the_fusion_tuned_there():
    rerank = {"model": "ce", "recipe": "r", "seeds": 2, "rerank": {"first_stage": "f"}, "select_seed": {"task": "e"}}
    other = {"datasets__e": INSURANCE, "systems__bm25__tasks": ["d"]}
    tuned = {"model": "m", "recipe": "r", "seeds": 2, "select_seed": {"task": "e"}}
    resolved = experiment(systems__f=TUNE, systems__x=rerank, systems__tuned=tuned, **other)
    assert sorted(resolved.selection_tasks) == ["d/dev", "e", "e/dev"]


def test_a_fanned_out_system_means_all_that_it_became_and_k_fans_out():
    resolved = experiment(systems__many={"model": ["m", "m2"]}, models__m2={"type": "bi-encoder", "weights": "org/m2"},
                          systems__f={"type": "fusion", "systems": ["bm25", "many"], "k": [10, 60]})  # fmt: skip
    assert given(resolved.systems["f-10"].settings) == {
        "systems": ["bm25", "many-m", "many-m2"], "method": "reciprocal-rank", "k": 10,
    }  # fmt: skip
    assert resolved.entries["f"] == ["f-10", "f-60"]


def test_what_is_said_of_a_fusion():
    resolved = experiment(systems__f=RRF, systems__g=GIVEN, systems__t=TUNE,
                          systems__m={**RRF, "method": "CombMNZ", "normalise": "z-score"})  # fmt: skip
    words = {name: describe(resolved, resolved.systems[name]) for name in "fgtm"}
    assert words == {
        "f": "reciprocal rank fusion (k = 60) of bm25 and tuned, 2 seeds",
        "g": "weighted-sum of the scores of bm25 and tuned, normalised by min-max, weights bm25 1, tuned 2, 2 seeds",
        "t": "weighted-sum of the scores of bm25 and tuned, normalised by min-max, weights tuned on dev by nDCG@10, 2 seeds",
        "m": "CombMNZ of the scores of bm25 and tuned, normalised by z-score, 2 seeds",
    }
    assert datasets_learnt(resolved, resolved.systems["f"], "d") == ["d"]
    place = for_times(resolved, resolved.systems["f"])
    assert place["model"] == "f" and place["candidates"] == "the runs of bm25 and tuned"
    assert "fusing alone" in place["note"]


def test_a_fusion_of_short_runs_is_reported():
    rerankers = {f"systems__{name}": {"model": "ce", "rerank": {"first_stage": "bm25", "depth": depth}}
                 for name, depth in (("x", 20), ("y", 30))}  # fmt: skip
    resolved = experiment(**rerankers, systems__f={"type": "fusion", "systems": ["x", "y"]})
    assert any("the runs of f, which contain at most 50 documents" in line for line in cautions(resolved))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"systems/f": {"type": "fusion"}}, "systems.f: key 'systems' is missing"),
        ({"systems/f": {**RRF, "systems": ["bm25"]}}, "systems.f.systems: "),
        ({"systems/f": {**RRF, "systems": ["bm25", "bm25"]}}, "systems.f.systems: "),
        ({"systems/f": {**RRF, "systems": ["bm25", "none"]}}, "systems.f.systems: unknown name 'none'"),
        ({"systems/f": {**RRF, "model": "m"}}, "systems.f: a system of type fusion cannot have 'model'"),
        ({"systems/f": {**RRF, "grid": {"k1": [1]}}}, "systems.f.grid: a system of type fusion cannot have 'k1' there"),
        ({"systems/bm25/grid": {"step": 0.1}}, "systems.bm25.grid: a system of type bm25 cannot have 'step' there"),
        ({"systems/f": {**RRF, "normalise": "rank"}}, "systems.f.normalise: only valid with method: weighted-sum or method: CombSUM or method: CombMNZ"),
        ({"systems/f": {**RRF, "method": "CombSUM", "k": 3}}, "systems.f.k: not together with method: CombSUM"),
        ({"systems/f": {**RRF, "method": "vote"}}, "systems.f.method: "),
        ({"systems/f": {**TUNE, "weights": {"bm25": 1, "tuned": 1}}}, "systems.f.weights: not together with tune: true"),
        ({"systems/f": {**TUNE, "tune": False}}, "systems.f: weighted-sum needs weights"),
        ({"systems/f": {**GIVEN, "grid": {"step": 0.1}}}, "systems.f.grid: only valid with tune: true"),
        ({"systems/f": {**GIVEN, "weights": {"bm25": 1}}}, "systems.f.weights: expected a weight for each of bm25, tuned"),
        ({"systems/f": {**GIVEN, "weights": {"bm25": 0, "tuned": 0}}}, "systems.f.weights: all are 0"),
        ({"systems/f": {**TUNE, "grid": {"step": 0.3}}}, "systems.f.grid.step: 0.3 does not divide 1"),
        ({"systems/f": {**TUNE, "grid": {"step": 0.00001}}}, "systems.f.grid.step: 2 systems have 100,001 weightings"),
        ({"systems/f": {**TUNE, "grid": {"measure": "nDGC@3"}}}, "systems.f.grid.measure: "),
        ({"systems/f": {**RRF, "systems": ["g", "bm25"]}, "systems/g": {**RRF, "systems": ["f", "bm25"]}}, "refers to itself: f -> g -> f"),
        ({"systems/f": RRF, "systems/bm25/tasks": ["d"], "tasks": ["d", "d/dev"], "comparisons": {}}, "systems.f: its system bm25 has no run for d/dev"),
        ({"systems/e": {"type": "external", "runs": {"d": FILE}}, "systems/f": {**TUNE, "systems": ["bm25", "e"]}}, "systems.f: its system e has no run for d/dev"),
        ({"systems/x": {"model": "m", "recipe": "r", "seeds": 3, "rerank": {"first_stage": "bm25"}},
          "systems/f": {**RRF, "systems": ["tuned", "x"]}},
         "systems.f.systems: tuned has the seeds (1, 2), x (1, 2, 3); runs of one seed are fused"),
        ({"systems/f": RRF, "systems/g": RRF, "comparisons/c": {"control": "f", "treatment": "g"}}, "comparisons.c: control 'f' and treatment 'g' are one system under two names"),
    ],
)  # fmt: skip
def test_each_mistake_is_one_line(changes, said):
    with refused(said, start="c.yaml: "):
        experiment(changes)


def test_a_dataset_without_dev_is_refused_before_anything_runs():
    runs = {name: {"type": "external", "runs": {"j": FILE}} for name in ("a", "b")}
    alone = {"datasets": {"j": JUDGED}, "models": {}, "recipes": {}, "tasks": ["j"], "comparisons": {}}
    fusion = {**TUNE, "systems": ["a", "b"]}
    with pytest.raises(UserError, match=r"systems.f.tune: j has no judgements for the split dev; its splits are test"):
        experiment({**alone, "systems": {**runs, "f": fusion}})
    untuned = experiment({**alone, "systems": {**runs, "f": {**RRF, "systems": ["a", "b"]}}})
    assert untuned.systems["f"].ranks("j")  # runs alone are fused, without documents
