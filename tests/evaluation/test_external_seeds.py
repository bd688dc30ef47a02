"""External systems with several seeds or folds: one run per seed, and one of all folds."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.tables import read_metrics
from ranktrial.experiment.resolution import resolve
from ranktrial.ir.trec import read_run, write_qrels, write_run
from scripts.evaluation import planning
from scripts.evaluation.imports import import_scores, take_over
from scripts.synthesis.planning_seeds import checkpoints, seed_sources

LONG = "seed,query_id,value\n" + "".join(f"{seed},q{q},{seed / 8}\n" for seed in (7, 8) for q in (1, 2))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "j").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    for number, queries in enumerate((["q1", "q2"], ["q1", "q2"], ["q1"], ["q2"])):
        write_run(tmp_path / f"r{number}", {query: {"d1": 2.0, "d2": 1.0} for query in queries}, "t")
    (tmp_path / "long.csv").write_text(LONG)
    (tmp_path / "plain.csv").write_text("query_id,value\nq1,0.5\nq2,0.25\n")
    return tmp_path


def experiment(a, b, section="runs", **keys):
    dataset = {"format": "qrels", "location": "j"} if section == "runs" else {"format": "scores", "measure": "m"}
    systems = {"a": {section: {"t": a}}, "b": {section: {"t": b}} | keys}
    config = {
        "experiment": "e",
        "measures": ["nDCG@10"],
        "datasets": {"t": dataset},
        "systems": {name: {"type": "external"} | entry for name, entry in systems.items()},
        "tasks": ["t"],
        "comparisons": {"c": {"control": "a", "treatment": "b", "measure": "nDCG@10" if section == "runs" else "m"}},
    }
    return resolve(config if section == "runs" else {key: config[key] for key in config if key != "measures"}, "c.yaml")


def test_a_list_of_runs_is_one_per_seed_and_its_variance_is_the_systems_own(here):
    found = experiment("r0", ["r0", "r1"])
    assert found.systems["a"].seeds == (0,) and found.systems["b"].seeds == (1, 2)
    assert list(found.systems) == ["a", "b"], "a list of files makes no further system"
    assert [planning.external_files(found, "b", "t", seed) for seed in "12"] == [["r0"], ["r1"]]
    assert [planning.other_seeds(found, "b", "t", seed) for seed in "12"] == [["r1"], []]
    sources = seed_sources(found, found.comparisons["c"])
    assert {role: (of.status, of.system) for role, of in sources.items()} == {"treatment": ("own", "b")}
    assert found.systems["b"].label == "b"


def test_folds_are_one_run_of_all_files(here):
    found = experiment("r0", ["r2", "r3"], folds=True)
    assert found.systems["b"].seeds == (0,)
    assert planning.external_files(found, "b", "t", "0") == ["r2", "r3"]
    files = [here / "r2", here / "r3"]
    write_qrels(here / "q", {"q1": {"d1": 1}, "q2": {"d2": 1}})
    take_over(files, here / "q", here / "out", 10, "t")
    assert read_run(here / "out") == read_run(here / "r0")
    with pytest.raises(UserError, match="r1: the query q1 is in another fold too"):
        take_over([here / "r0", here / "r1"], here / "q", here / "out", 10, "t")


def test_folds_that_are_given_as_seeds_are_refused(here):
    write_qrels(here / "q", {"q1": {"d1": 1}, "q2": {"d2": 1}})
    with pytest.raises(UserError, match=r"r2 and .*r3 have no query in common, .*: join them by folds: true"):
        take_over([here / "r2"], here / "q", here / "out", 10, "t", others=[here / "r3"])


def test_seeds_of_a_long_table_are_one_each(here):
    found = experiment("plain.csv", "long.csv", "scores")
    assert found.systems["b"].seeds == (1, 2)
    named = [planning.import_scores_settings(found, "b", "t", seed)["seed"] for seed in "12"]
    assert named == ["7", "8"]
    for name, value in zip(named, (0.875, 1.0), strict=True):
        import_scores([here / "long.csv"], here / "m.tsv", "m", seed=name)
        assert read_metrics(here / "m.tsv")["m"].to_dict() == {"q1": value, "q2": value}
    assert "seed" not in planning.import_scores_settings(found, "a", "t", "0")


def of_tasks(here, **seeds):
    """Two tasks with values of systems a and b, of which b has these seeds, in the order of its files."""
    for task, names in seeds.items():
        rows = [f"{query},{seed},0.{seed}" for seed in names for query in ("q1", "q2")]
        (here / f"{task}.csv").write_text("\n".join(["id,seed,score", *rows]) + "\n")
    systems = {"a": dict.fromkeys(seeds, "plain.csv"), "b": {task: f"{task}.csv" for task in seeds}}
    return resolve(
        {
            "experiment": "e",
            "datasets": {task: {"format": "scores", "measure": "m"} for task in seeds},
            "systems": {name: {"type": "external", "scores": files} for name, files in systems.items()},
            "tasks": list(seeds),
            "comparisons": {"c": {"control": "a", "treatment": "b", "measure": "m"}},
        },
        "c.yaml",
    )


def test_a_seed_has_one_place_on_all_tasks_and_other_names_are_other_trainings(here):
    found = of_tasks(here, t="123", u="312")
    for task in "tu":
        assert [planning.import_scores_settings(found, "b", task, seed)["seed"] for seed in "123"] == ["1", "2", "3"]
    assert checkpoints(found, found.comparisons["c"]) == {}
    apart = of_tasks(here, t="123", u="456")
    assert checkpoints(apart, apart.comparisons["c"]) == {"treatment": {"t": "1 2 3", "u": "4 5 6"}}
    with pytest.raises(
        UserError, match=r"systems\.b\.scores\.u: has the seed 2 of t, but not all its seeds \(1, 2, 3\)"
    ):
        of_tasks(here, t="123", u="234")


def test_a_system_with_one_seed_beside_one_with_several_in_a_table_has_one(here):
    rows = [f"{query},{name},{seed},0.5" for name, seed in (("a", 1), ("b", 1), ("b", 2)) for query in ("q1", "q2")]
    (here / "both.csv").write_text("\n".join(["id,system,seed,score", *rows]) + "\n")
    systems = {name: {"type": "external", "scores": {"t": "both.csv"}, "column": name} for name in ("a", "b")}
    found = resolve(
        {
            "experiment": "e",
            "datasets": {"t": {"format": "scores", "measure": "m"}},
            "systems": systems,
            "tasks": ["t"],
            "comparisons": {"c": {"control": "a", "treatment": "b", "measure": "m"}},
        },
        "c.yaml",
    )
    assert (found.systems["a"].seeds, found.systems["b"].seeds) == ((0,), (1, 2))
    for system, seed in (("a", "0"), ("b", "2")):
        import_scores([here / "both.csv"], here / "m.tsv", **planning.import_scores_settings(found, system, "t", seed))
        assert read_metrics(here / "m.tsv")["m"].to_dict() == {"q1": 0.5, "q2": 0.5}


def test_folds_of_scores_are_joined(here):
    (here / "f1").write_text("q1\t1\n")
    (here / "f2").write_text("q2\t0\n")
    import_scores([here / "f1", here / "f2"], here / "m.tsv", "m")
    assert read_metrics(here / "m.tsv")["m"].to_dict() == {"q1": 1.0, "q2": 0.0}
    with pytest.raises(UserError, match="f1: the sample q1 is in another fold too"):
        import_scores([here / "f1", here / "f1"], here / "m.tsv", "m")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (["r0", "r0"], "duplicate entry 'r0'"),
        (["r0", "gone"], r"systems\.b\.runs\.t: no file 'gone'"),
        ([], "expected at least one entry|is a list"),
    ],
)
def test_lists_that_are_refused(here, files, said):
    with pytest.raises(UserError, match=said):
        experiment("r0", files)


def test_tasks_have_one_number_of_seeds(here):
    config = {
        "experiment": "e",
        "measures": ["nDCG@10"],
        "datasets": {name: {"format": "qrels", "location": "j"} for name in ("t", "u")},
        "systems": {"b": {"type": "external", "runs": {"t": ["r0", "r1"], "u": "r0"}}},
        "tasks": ["t", "u"],
    }
    with pytest.raises(UserError, match="has a different number of seeds on its tasks \\(2 for t, 1 for u\\)"):
        resolve(config, "c.yaml")
