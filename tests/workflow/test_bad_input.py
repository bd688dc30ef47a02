"""A user's mistake, met by the whole workflow: one line that says it, exit code not 0, no traceback, nothing half-done.

Of each kind of mistake there are one or two here; the tests of the stages have all of them.
"""

import json
import shutil

import pytest

from tests.workflow.conftest import tiny_config


def fails(workspace, said, *arguments, config="tiny.yaml"):
    """Run, expect failure, and give back the error lines, which must hold `said`."""
    done = workspace.snakemake(*arguments, config=config)
    printed = done.stdout + done.stderr
    assert done.returncode != 0
    assert "Traceback" not in printed, printed
    assert "MissingOutputException" not in printed, "the failure was not noticed as such"
    errors = [line for line in printed.splitlines() if line.startswith("error: ")]
    assert any(said in line for line in errors), printed
    assert not [path for path in workspace.folder.rglob("*.partial") if ".snakemake" not in path.parts]
    return errors


def test_a_mistake_in_the_configuration_stops_before_anything_runs(fresh):
    config = tiny_config()
    config["recipes"]["hard"]["learning_rat"] = 0.1
    fresh.write_config(config)
    errors = fails(fresh, "tiny.yaml: recipes.hard: unknown key 'learning_rat' (did you mean 'learning_rate'?)")
    assert len(errors) == 1 and not (fresh.folder / "results").exists()


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("corpus.jsonl", '{"_id": "d1", "text": "x"}\nnot json\n', "data/weather: corpus.jsonl:2: not JSON"),
        pytest.param(
            "qrels/test.tsv",
            "query-id\tcorpus-id\tscore\n",
            "data/weather: qrels/test.tsv: no judged query",
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_broken_dataset(fresh, file, content, said):
    (fresh.folder / "data/weather" / file).write_text(content)
    fails(fresh, said, "results/tiny/data/weather/statistics.json")
    assert not [path for path in (fresh.folder / "results/tiny/data").rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("q45 Q0 d1 1 0.5", "theirs.trec:1: 5 columns, but a run has 6"),
        pytest.param(
            "qx Q0 d1 1 0.5 t", "theirs.trec: none of its 1 queries is in the task's qrels", marks=pytest.mark.long
        ),
    ],
)
def test_a_broken_run_file(again, line, said):
    (again.folder / "theirs.trec").write_text(line + "\n")
    fails(again, said, "results/tiny/metrics/weather/theirs/seed-0.tsv")
    assert not (again.folder / "results/tiny/runs/weather/theirs/seed-0.trec.gz").exists()


def test_a_failing_job_loses_nothing_else(again):
    (again.folder / "theirs.trec").write_text("broken\n")
    before = {name: content for name, content in again.metrics().items() if "/theirs/" not in name}
    fails(again, "theirs.trec:1: 1 columns")
    after = again.metrics()
    assert before and {name: after.get(name) for name in before} == before


def test_mistakes_of_several_jobs_are_a_line_each(fresh):
    """Weights that are no safetensors, and others with another checksum."""
    shutil.copytree(fresh.folder / "weights/tiny", fresh.folder / "weights/other")
    (fresh.folder / "weights/tiny/model.safetensors").rename(fresh.folder / "weights/tiny/pytorch_model.bin")
    config = tiny_config()
    config["models"]["bert-ce"] |= {"weights": "weights/other", "sha256": "0" * 64}
    fresh.write_config(config)
    targets = [f"results/tiny/models/{model}/untrained/seed-0" for model in ("bert", "bert-ce")]
    errors = fails(fresh, "model.safetensors", "--keep-going", *targets)
    assert len(errors) == 2 and any("SHA-256" in line for line in errors)
    assert not any((fresh.folder / target).exists() for target in targets)


def test_training_without_a_train_split(fresh):
    (fresh.folder / "data/weather/qrels/train.tsv").unlink()
    target = "results/tiny/negatives/weather/human-labels_1-random-negatives_all-queries.tsv"
    fails(fresh, "the dataset has no train split to learn from", target)


def test_a_dataset_with_only_a_test_split_works_for_systems_that_need_no_training(fresh):
    for split in ("train", "dev"):
        (fresh.folder / f"data/weather/qrels/{split}.tsv").unlink()
    config = tiny_config()
    config["systems"] = {name: config["systems"][name] for name in ("plain", "theirs")}
    config["comparisons"] = {"theirs": config["comparisons"]["theirs"]}
    fresh.write_config(config)
    fresh.run("results/tiny/meta/theirs.json")
    assert json.loads((fresh.folder / "results/tiny/meta/theirs.json").read_text())["k"] == 1


def test_a_half_written_index_is_not_taken_for_one(again):
    """A folder from which a file is gone fails in one line and is not searched as if it were whole."""
    index = again.folder / "results/tiny/bm25/weather/index"
    for path in index.glob("segments*"):
        path.unlink()
    shutil.rmtree(again.folder / "results/tiny/runs/weather/plain")
    fails(again, "index", "results/tiny/runs/weather/plain/seed-0.trec.gz")


def test_what_is_missing_is_reported_by_a_check_before_any_job_runs(fresh):
    config = tiny_config()
    config["datasets"]["gone"] = {"format": "beir", "location": "http://127.0.0.1:9/gone.zip", "sha256": "0" * 64}
    fresh.write_config(config)
    errors = fails(fresh, "error: datasets.gone: http://127.0.0.1:9/gone.zip: ", "check")
    assert not any("weather" in line or "bert" in line for line in errors)
    assert {path.name for path in (fresh.folder / "results/tiny").iterdir()} == {"config.yaml", "logs"}
    del config["datasets"]["gone"]
    fresh.write_config(config)
    done = fresh.run("check")
    assert "models.bert" in done.stdout + done.stderr
