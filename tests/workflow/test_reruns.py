"""What a change reruns, by dry runs on the finished experiment: what depends on it and nothing else.

What edits of further modules rerun is read from the records of its jobs, which dry runs of two edits are held to.
"""

import copy
import os
import re
from collections import Counter

import pytest

from ranktrial.archive.jobs import Job, job_records, jobs_behind
from ranktrial.common.job_code import behind
from ranktrial.common.settings import read_settings
from ranktrial.training.training_settings import Settings
from scripts.training.fine_tune import code_of
from tests.support.sources import our_sources
from tests.workflow.conftest import tiny_config

EXPLORED = {"explorer", "collect extreme-queries"}
OF_COMPARISONS = {"collect comparisons", "tables"}
TIMES = {f"full_table {work}-times" for work in ("inference", "fine-tuning")}
TABLES = {"all_queries", "collect means", "page means", "collect costs", *TIMES, *OF_COMPARISONS, "report", *EXPLORED}


def follow(system, seeds, model, recipe):
    """The jobs from a checkpoint to the metrics of a bi-encoder system."""
    jobs = set()
    for seed in seeds:
        jobs |= {
            f"encode weather {model} {recipe} seed-{seed}",
            f"retrieve weather {system} seed-{seed}",
            f"score weather {system} seed-{seed}",
        }
    return jobs


def named(jobs, rule):
    return {job for job in jobs if job.split()[0] == rule}


def test_a_learning_rate_reruns_its_recipe_and_what_follows(again):
    config = tiny_config()
    config["recipes"]["hard"]["learning_rate"] = 0.0005
    again.write_config(config)
    assert again.planned() == {
        *(f"fine_tune bert hard seed-{seed}" for seed in (1, 2)),
        *follow("hard", (1, 2), "bert", "hard"),
        # random has one seed, and its comparison takes seed variance from hard
        *(f"{rule} {name}" for rule in ("compare", "figure") for name in ("hard-helps", "random-helps")),
        *(f"figure cost-zero-shot-{name}" for name in ("hard-helps", "random-helps")),
        "figure theirs",  # its stars follow the correction for all comparisons
        *TABLES,
    }


@pytest.mark.parametrize("role", ["query", "document"])
def test_a_prompt_reruns_the_jobs_of_its_model_alone(again, role):
    """Trainings, encodings and rankings; a query's prompt encodes no corpus of the untrained model again."""
    config = tiny_config()
    config["models"]["bert"]["prompts"] = {role: "word1 {seed} "}
    again.write_config(config)
    rules = ("weights", "negatives", "fine_tune", "encode", "retrieve", "rerank", "search", "search_split")
    all_planned = again.planned()
    planned = {job for job in all_planned if job.split()[0] in rules}
    untrained = follow("zero-shot", (0,), "bert", "untrained")
    of_zero_shot = named(untrained, "retrieve") | (named(untrained, "encode") if role == "document" else set())
    of_trained = follow("hard", (1, 2), "bert", "hard") | follow("random", (1,), "bert", "random")
    assert planned == {
        *(f"fine_tune bert {name} seed-{seed}" for name, seed in (("hard", 1), ("hard", 2), ("random", 1))),
        *(job for rule in ("encode", "retrieve") for job in named(of_trained, rule)),
        *of_zero_shot,
    }
    assert not named(all_planned, "negatives") and "metadata" not in str(planned)


def test_what_means_the_same_reruns_nothing(again):
    """Keys in another order, prompts that are none, touched sources, and other words about the most shared modules."""

    def reordered(value):
        return {k: reordered(v) for k, v in reversed(value.items())} if isinstance(value, dict) else value

    # sections whose order is the order of the report (systems, comparisons) are reordered inside
    config = {key: value for key, value in reversed(tiny_config().items())}
    for section in ("datasets", "models", "recipes", "systems", "comparisons"):
        config[section] = {name: reordered(entry) for name, entry in config[section].items()}
    config["models"]["bert"]["prompts"] = {}
    again.write_config(config)
    for path in our_sources(again.folder):
        os.utime(path)
    for path in (again.folder / "rules").iterdir():
        os.utime(path)
    reword(again)
    assert again.planned() == set()


def most_shared(workspace, number=10):
    """The modules that the most scripts of rules have behind them."""
    planning = workspace.folder.glob("scripts/*/planning*.py")
    texts = "".join(path.read_text() for path in [*(workspace.folder / "rules").rglob("*.smk"), *planning])
    named = re.findall(r'"([\w/]+\.py)(?::\w+)?"', texts)
    scripts = {name for name in named if (workspace.folder / "scripts" / name).is_file()}
    shared = Counter(module for script in scripts for module in behind(script))
    assert len(scripts) > 40
    return [module for module, _ in shared.most_common(number)]


def reword(again):
    modules = most_shared(again)
    assert "ranktrial/common/errors.py" in modules
    for module in modules:
        path = again.folder / module
        text = path.read_text()
        path.write_text(
            text.replace('"""', '"""In other words: ', 1).replace("\n\n\n", "\n\n\n# a remark\n", 1) + "\n# the end\n"
        )
        assert path.read_text().count("# a remark") == 1 or "\n\n\n" not in text


@pytest.fixture
def jobs(finished, monkeypatch):
    """The jobs of the finished experiment, as Snakemake has recorded them."""
    monkeypatch.chdir(finished.folder)
    return jobs_behind(list(job_records()), job_records())


def modules_of(code):
    return behind(f"{code['module'].removeprefix('scripts.').replace('.', '/')}.py", *code["loads"])


def outdated(jobs, module):
    """The messages of the jobs with a module behind their code, and of those that read what they write."""
    files: set[str] = set()
    waiting = [job for job in jobs if job.code and module in modules_of(job.code)]
    messages = set()
    while waiting:
        job = waiting.pop()
        messages.add(message(job.record["log"][0]))
        files |= {*job.outputs}
        waiting += [other for other in jobs if files & {*other.inputs} and not files & {*other.outputs}]
    return messages


def test_a_changed_constant_reruns_what_reaches_it_and_what_follows(again, jobs):
    module = "ranktrial/common/timing.py"
    edit(again, module)
    planned = again.planned()
    assert 10 < len(planned) < len(jobs) - 5
    assert planned == outdated(jobs, module)


def message(log):
    """The message of the job that writes a log, on the tiny experiment: rankings are named by how they rank."""
    words = log.removeprefix("results/tiny/logs/").removesuffix(".log").removesuffix(".vectors").replace("/", " ")
    how = "rerank" if " reranker " in words else "retrieve"
    return re.sub("^rank runs", how, words)


def edit(workspace, path):
    """Change what a module means."""
    with open(workspace.folder / path, "a") as file:
        file.write("\nEDITED = True\n")


def test_an_edited_scoring_script_reruns_metrics_and_what_follows_only(again, jobs):
    edit(again, "scripts/evaluation/score.py")
    planned = again.planned()
    assert planned == outdated(jobs, "scripts/evaluation/score.py")
    assert named(planned, "score") == {
        f"score weather {system} seed-{seed}"
        for system, seed in [
            ("bm25", 0),
            ("plain", 0),
            ("zero-shot", 0),
            ("hard", 1),
            ("hard", 2),
            ("random", 1),
            ("reranker", 1),
            ("theirs", 0),
        ]
    }
    assert {job.split()[0] for job in planned} == {
        "score",
        "all_queries",
        "compare",
        "figure",
        "collect",
        "page",
        "tables",
        "report",
        "explorer",
    }


def test_an_edited_helper_of_the_measures_reruns_no_training_and_no_encoding(jobs):
    rules = {job.split()[0] for job in outdated(jobs, "ranktrial/ir/measures.py")}
    assert {"score", "tune"} <= rules
    assert not rules & {"prepare_dataset", "index", "negatives", "fine_tune", "encode", "retrieve"}


def test_an_edited_helper_of_the_negatives_reruns_training(jobs):
    planned = outdated(jobs, "scripts/training/negatives.py")
    assert len(named(planned, "negatives")) == 2 and len(named(planned, "fine_tune")) == 4
    assert not named(planned, "prepare_dataset") and "score weather bm25 seed-0" not in planned


def test_an_edited_kind_of_model_reruns_its_own_jobs_only(jobs):
    planned = outdated(jobs, "ranktrial/models/types/bi_encoder.py")
    assert {job.split()[1] for job in named(planned, "fine_tune")} == {"bert"}
    assert len(named(planned, "encode")) == len(named(planned, "retrieve")) == 4
    assert not named(planned, "rerank") and not named(planned, "weights") and not named(planned, "negatives")


def test_a_new_system_and_a_figures_title_add_their_own_jobs_only(again):
    config = tiny_config()
    config["systems"]["low"] = {"type": "bm25", "k1": 0.5, "b": 0.4}
    config["comparisons"]["hard-helps"]["figure"] = {"title": "A better title"}
    again.write_config(config)
    of_the_system = {"search weather low", "score weather low seed-0", *TABLES} - OF_COMPARISONS
    assert again.planned() == of_the_system | {"figure hard-helps"}


def test_a_changed_document_reruns_from_the_dataset_on(again):
    corpus = again.folder / "data/weather/corpus.jsonl"
    corpus.write_text(corpus.read_text().replace("word1 ", "word2 "))
    planned = again.planned()
    assert named(planned, "prepare_dataset") and len(named(planned, "encode")) == 4 and not named(planned, "weights")


def test_a_training_is_resumed_with_the_code_that_its_job_has(finished, monkeypatch):
    monkeypatch.chdir(finished.folder)
    trainings = [job for job in map(Job, job_records().values()) if job.record["rule"] == "fine_tune"]
    assert {code_of(read_settings(Settings, job.settings)) == job.code["digest"] for job in trainings} == {True}


def test_statistics_settings_rerun_the_comparison_only(again):
    config = copy.deepcopy(tiny_config())
    settings = {"hard-helps": {"alpha": 0.01}, "random-helps": {"interval": "normal", "ddof": 0}}
    for name, changes in settings.items():
        config["comparisons"][name] |= changes
    again.write_config(config)
    planned = again.planned()
    assert named(planned, "compare") == {f"compare {name}" for name in settings}
    assert {job.split()[0] for job in planned} <= {"compare", "figure", "collect", "tables", "report", "explorer"}
    of_theirs = [job for job in planned if "theirs" in job]
    assert of_theirs == ["figure theirs"]  # its stars follow the correction for all comparisons


def test_results_of_an_earlier_configuration_that_dates_alone_leave_standing_are_reported(again):
    """With `--rerun-triggers mtime` nothing is planned for other settings, but for what they are."""
    config = copy.deepcopy(tiny_config())
    config["comparisons"]["hard-helps"]["alpha"] = 0.01
    for changed in (False, True):
        again.write_config(config if changed else tiny_config())
        done = again.snakemake("--dry-run", "--rerun-triggers", "mtime")
        assert done.returncode == 0 and "Nothing to be done" in done.stdout + done.stderr
        lines = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
        warnings = [line for line in lines if not line.startswith("warning: tiny.yaml: ")]  # of any run
        assert len(warnings) == changed, done.stderr
    assert (
        "files were made with other settings or inputs than the configuration now has, and stay as they are"
        in warnings[0]
    )
    assert "such as results/tiny/effects/hard-helps.tsv; without --rerun-triggers they are made again" in warnings[0]


def test_a_hub_model_is_fetched_once_for_all_that_use_it(again):
    """Both models name the same hub id: one download, two checked copies; and nothing of BM25's runs again."""
    config = tiny_config()
    for name in ("bert", "bert-ce"):
        config["models"][name]["weights"] = "sentence-transformers/all-MiniLM-L6-v2"
    again.write_config(config)
    planned = again.planned()
    assert named(planned, "fetch_folder") == {"fetch_folder sentence-transformers-all-MiniLM-L6-v2"}
    assert named(planned, "weights") == {"weights bert", "weights bert-ce"}
    assert not named(planned, "search") and not named(planned, "prepare_dataset")


def test_swapped_numbers_are_a_change_and_recipes_share_the_examples_that_are_the_same(again):
    """Snakemake compares params as a set of values; k1 and b swapped must not look the same."""
    config = tiny_config()
    config["systems"]["plain"] = {"type": "bm25", "k1": 0.4, "b": 0.9}
    config["recipes"]["longer"] = config["recipes"]["hard"] | {"epochs": 5, "start_from": "random"}
    config["recipes"]["few"] = {"train_on": "weather", "labels": "bm25", "queries": [8, 16]}
    config["systems"] |= {name: {"model": "bert", "recipe": name} for name in ("longer", "few")}
    again.write_config(config)
    planned = again.planned()
    assert "search weather plain" in planned
    recipes = {job.split()[2] for job in named(planned, "fine_tune")}
    assert recipes == {"longer", "few-8", "few-16"}
    assert named(planned, "negatives") == {
        f"negatives weather bm25-labels_3-bm25-negatives_{count}-queries" for count in (8, 16)
    }


def test_two_tasks_of_one_dataset_share_index_and_encoding(again):
    config = tiny_config()
    config["tasks"] = ["weather", "weather/dev"]
    config["systems"]["theirs"]["runs"]["weather/dev"] = "theirs.trec"
    again.write_config(config)
    rules = {job.split()[0] for job in again.planned()}
    assert {"search", "retrieve", "rerank", "score"} <= rules
    assert not rules & {"index", "tune", "encode", "fine_tune", "prepare_dataset"}
