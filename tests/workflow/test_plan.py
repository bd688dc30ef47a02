"""The plan of the claim-retrieval study, whole: no data, no network, no work done twice, and soon there."""

import importlib
import inspect
import json
import re
import resource
import time
from collections import Counter
from functools import cache

import pytest

from ranktrial.common.command_line import NoSettings, settings_of
from ranktrial.common.settings import read_settings
from tests.workflow.conftest import REPOSITORY, copy

# The study must be planned in as many times what `reference` takes: some 30 s on a processor that does that in 0.3 s.
LIMIT = 100


def reference():
    """Processor seconds of work as planning is made of (texts, dictionaries), to tell a slow processor from slow planning."""
    before = time.process_time()
    for _ in range(20):
        texts = [f"results/tiny/runs/task-{n}/system-{n % 97}/seed-{n % 10}.trec.gz" for n in range(5000)]
        parts = {text: tuple(re.sub("task|seed", "x", text).split("/")) for text in texts}
        json.loads(json.dumps({text: sorted(part) for text, part in parts.items()}))
    return time.process_time() - before


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    return copy(REPOSITORY, tmp_path_factory.mktemp("plan") / "ranktrial")


@pytest.fixture(scope="module")
def plan(workspace):
    """What a dry run prints of all jobs with their commands, and how often `reference` takes its processor time."""
    slow = reference()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = workspace.snakemake("--dry-run", "--printshellcmds", config="config/factcheck.yaml")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout + done.stderr, seconds / ((slow + reference()) / 2)


@pytest.fixture(scope="module")
def jobs(plan):
    """The messages of all planned jobs."""
    return re.findall(r"^Job \d+: (.*)$", plan[0], re.MULTILINE)


@cache
def settings_read(module, function):
    """The record that a script reads its settings into: of the function that runs, its own, or the one that it names."""
    if module.__name__ == "scripts.reports.figure":
        return settings_of(module.drawn(function))  # of a kind of figure
    source = inspect.getsource(module)
    if functions := re.search(r"^    job\((\w+)", source, re.MULTILINE):
        return settings_of(getattr(module, function, None) or getattr(module, functions[1]))
    if hasattr(module, "Settings"):
        return module.Settings
    named = re.search(r"settings=(\w+),?\s*\)\.parse_args", source)
    assert named, f"{module.__name__}: reads its settings into no record"
    named = named[1]
    return NoSettings if named == "False" else getattr(module, named)


def test_each_script_can_read_the_settings_of_its_jobs(plan):
    command = r"^\s*(?:Shell command: )?python -P (-m scripts\..*) --settings ('(?:[^']|'\"'\"')*'|\S+)"
    commands = re.findall(command, plan[0], re.MULTILINE)
    scripts = set()
    for words, settings in ((options.split(), quoted) for options, quoted in commands):
        module = importlib.import_module(words[1])
        values = json.loads(settings[1:-1].replace("'\"'\"'", "'") if settings[0] == "'" else settings)
        read_settings(
            settings_read(module, words[2]), {name: value for name, value in values.items() if name != "sha256_of"}
        )
        scripts.add(words[1])
    assert len(commands) > 3500 and len(scripts) > 15


def named(jobs, rule):
    return [job.split()[1:] for job in jobs if job.split()[0] == rule]


def test_it_is_planned_soon(plan, jobs):
    assert len(jobs) > 3500
    assert plan[1] < LIMIT


def test_no_work_is_done_twice(jobs):
    assert len(jobs) == len(set(jobs))
    corpora = {"clef", "politifact-tweet", "snopes-tweet"}  # those with images have the same articles
    assert sorted(name for (name,) in named(jobs, "index")) == sorted([*corpora, "clef-standard-best"])
    encoded = named(jobs, "encode")
    assert len({tuple(one) for one in encoded}) == len(encoded)
    texts = {corpus for corpus, *_ in encoded}
    assert {corpus for corpus in texts if "/" not in corpus} == corpora
    assert {corpus.split("/passages-")[0] for corpus in texts if "/" in corpus} == corpora - {"clef"}
    strategies = {tuple(one) for one in named(jobs, "negatives")}
    assert {dataset for dataset, _ in strategies} == corpora | {"politifact-image", "snopes-image"}
    assert len(strategies) == 10


def test_the_twelve_models_are_trained_as_often_as_the_study_says(jobs):
    trained = named(jobs, "fine_tune")
    assert len({model for model, *_ in trained}) == len(named(jobs, "weights")) == 12
    by_recipe = {}
    for model, recipe, seed in trained:
        by_recipe.setdefault(recipe, []).append((model, seed))
    assert {recipe: len(one) for recipe, one in by_recipe.items() if recipe.startswith("clef")} == {
        "clef-random": 120, "clef-bm25": 120}  # fmt: skip
    others = {recipe: len(one) for recipe, one in by_recipe.items() if not recipe.startswith("clef")}
    of_xlm = {recipe: others.pop(recipe) for recipe in list(others) if "-xlm-" in recipe}  # its batches are of 16
    assert len(of_xlm) == 8 and set(of_xlm.values()) == {1}
    assert {recipe: len(one) for recipe, one in by_recipe.items() if recipe in others} == {
        recipe: 11 if recipe.endswith("passages") else 12 for recipe in others}  # fmt: skip
    assert len(others) == 16


def test_each_system_ranks_what_the_study_says(jobs):
    whole = {(task, system, seed) for rule in ("retrieve", "score_all") for task, system, seed in named(jobs, rule)}
    split = {(task, system, seed) for task, system, seed in named(jobs, "rerank")}
    assert {task for task, *_ in split} == {"politifact-tweet", "politifact-image", "snopes-tweet", "snopes-image"}
    # untrained 11; fine-tuned on CLEF 12 models, 2 kinds of negatives, of which one seed goes elsewhere; then 16 recipes
    assert len(split) == 4 * (11 + 12 * 2 + 12 * 2)
    assert len([one for one in whole if one[0] == "clef-dev"]) == 12 * 2 * 10
    assert len([one for one in whole if one[0] == "clef"]) == 11 + 12 * 2 * 10 + 12 * 16
    assert len([one for one in whole if one[0] not in ("clef", "clef-dev")]) == 4 * (11 + 12 * 2 + 12 * 2)
    assert len(named(jobs, "select_seed")) == 12 * 2


COLLECTIONS = {"beir": (26, 1), "bright": (12, 1), "miracl": (5, 1), "nanobeir": (13, 2), "mteb-retrieval": (10, 2)}


@pytest.mark.parametrize(
    "name", ["beir", *(pytest.param(name, marks=pytest.mark.long) for name in ("bright", "miracl"))]
)
def test_collections_of_the_hub_are_planned_whole(workspace, name):
    """From the fetching of each, and of the models, to the comparison."""
    planned = workspace.planned(f"config/{name}.yaml")
    counts = Counter(job.split()[0] for job in planned)
    each, models = COLLECTIONS[name]
    assert [counts[rule] for rule in ("prepare_dataset", "index", "search", "encode", "retrieve")] == [each] * 5
    assert counts["fetch_folder"] == each + models and counts["rerank"] == each * (models - 1)
    assert {"compare dense", "compare against-bm25-fusion"} & planned
