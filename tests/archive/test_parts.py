"""Parts of archiving that stand alone: commands without a shell, tolerance, what a log's head tells, origin."""

import subprocess
from dataclasses import replace

import pytest

from ranktrial.archive.description import crate
from ranktrial.archive.differences import Difference, differing, flattened
from ranktrial.archive.identities import OWN, conda_packages, environments
from ranktrial.archive.ir_metadata import ir_metadata
from ranktrial.archive.jobs import Job, arguments, benchmark_path, head_of_log, jobs_behind, wildcards_of, write_record
from ranktrial.archive.recompute import compare
from ranktrial.archive.sources import origin_of_sources, source_files
from ranktrial.common.job_code import job_code
from ranktrial.configuration.sections.dataset import Dataset
from ranktrial.engine.job_records import records
from ranktrial.engine.rule_helpers import settings
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.experiment.systems._lexical import Settings


def test_a_recorded_command_becomes_arguments():
    command = (
        "python -P -m scripts.reports.figure --effects results/x/effects/a.tsv --svg results/x/figures/a.svg"
        ' --settings \'{"title": "a b"}\' --log results/x/logs/a.log'
    )
    assert arguments(command) == ["scripts.reports.figure", "--effects", "results/x/effects/a.tsv", "--svg",
                                  "results/x/figures/a.svg", "--settings", '{"title": "a b"}']  # fmt: skip


@pytest.mark.parametrize("label", ["BM25", "Jane's", 'a "b"', 'Jane\'s "b"', "a\\b", "{x}", "é"])
def test_settings_and_code_are_read_back_from_snakemakes_record(label):
    text, code = settings(label=label), job_code("evaluation/score.py")
    job = Job({"params": sorted([repr(text), repr(code)])})
    assert job.settings == {"label": label} and job.code == code


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf results",
        "python -P -m scripts.training.fine_tune --start results/x",
        "python -c 'import os'",
        "python -P -m scripts.reports...evil --x results/y",
        "python -P -m scripts/reports/figure --x results/y",
        "python -P -m scripts.reports.figure.evil --x results/y",
        "python -P -m scripts.evaluation.score --metrics /etc/passwd",
        "python -P -m scripts.evaluation.score --metrics ../x",
        "python -P -m scripts.evaluation.score --metrics $(touch x)",
        "python -P -m scripts.reports.figure --svg $(dirname results/x/figures/a.svg)",
        "touch x; python -P -m scripts.evaluation.score --metrics x",
    ],
)
def test_other_commands_are_not_run(command):
    assert arguments(command) is None


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        ("a\t0.5\n", "a\t0.5\n", "identical"),
        ("a\t0.5\n", "a\t0.50000000000001\n", "equal within tolerance"),
        ("a\t0.5\n", "a\t0.5000001\n", "different"),
        ("a\t0.5\n", "b\t0.5\n", "different"),
        ("a\t1e-13\n", "a\t0.0\n", "equal within tolerance"),
        ("a\t0.5\n", "a\t0.5\nb\t1\n", "different"),
        ("<dc:date>2026</dc:date>1", "<dc:date>2027</dc:date>1", "identical"),
        ("<strong>Commit</strong>: ab</li>\n1", "<strong>Commit</strong>: cd</li>\n1", "identical"),
        ("<strong>Commit</strong>: ab</li>\n1", "<strong>Commit</strong>: ab</li>\n2", "different"),
    ],
)
def test_tolerance(tmp_path, ours, theirs, verdict):
    for name, text in (("a.tsv", ours), ("b.tsv", theirs)):
        (tmp_path / name).write_text(text)
    assert compare(tmp_path / "a.tsv", tmp_path / "b.tsv")[0] == verdict


def test_the_head_of_a_log_tells_where_its_job_ran(tmp_path):
    log = tmp_path / "x.log"
    log.write_text("host: node7\nslurm job: 4711\ndriver: NVRM version: 550.54\n30 queries\n")
    assert head_of_log(str(log)) == {"host": "node7", "slurm_job": "4711", "driver": "NVRM version: 550.54"}
    log.write_text("host: node7\nslurm job: none\ndriver: none\n")
    assert head_of_log(str(log)) == {"host": "node7", "slurm_job": None, "driver": None}
    log.write_text("30 queries\n")
    assert head_of_log(str(log)) == {"host": None, "slurm_job": None, "driver": None}


def test_wildcards_and_the_benchmark_are_found_by_the_rules_patterns():
    job = Job({}, ["results/x/runs/t/s/seed-1.trec.gz"])
    assert wildcards_of(
        job, [r"results/x/runs/(?P<task>[^/]+)/(?P<system>[^/]+)/seed\-(?P<seed>[0-9]+)\.trec\.gz$"]
    ) == {"task": "t", "system": "s", "seed": "1"}
    assert benchmark_path(job, "b/{task,[^/]+}/{seed,[0-9]{1,2}}.tsv", {"task": "t", "seed": "1"}) == "b/t/1.tsv"


def test_only_the_jobs_behind_the_targets_count(tmp_path):
    def record(rule, inputs):
        known = {"rule": rule, "shellcmd": rule, "log": [f"{rule}.log"], "input": inputs}
        others = {"code": rule, "params": [], "input_checksums": {}, "starttime": 1.0, "endtime": 2.0}
        return known | others | {"record_format_version": 6}

    write_record(tmp_path, "a", record("one", []))
    write_record(tmp_path, "a2", record("one", []))
    write_record(tmp_path, "b" * 300, record("two", ["a"]))  # a long name is spread over folders
    write_record(tmp_path, "stale", record("three", ["a"]))
    found = jobs_behind(["b" * 300], dict(records(tmp_path)))
    assert [(job.record["rule"], job.outputs) for job in found] == [("one", ["a", "a2"]), ("two", ["b" * 300])]


def test_the_origin_of_changed_sources(tmp_path):
    def git(*arguments):
        subprocess.run(
            ["git", "-C", tmp_path, "-c", "user.name=x", "-c", "user.email=x", *arguments],
            check=True,
            capture_output=True,
        )

    (tmp_path / "scripts/a").mkdir(parents=True)
    (tmp_path / "scripts/a/x.py").write_text("1\n")
    assert origin_of_sources(tmp_path, source_files(tmp_path))[0]["commit"] is None
    git("init")
    git("remote", "add", "origin", "https://example.org/x.git")
    git("add", ".")
    git("commit", "-m", "x")
    found, difference = origin_of_sources(tmp_path, source_files(tmp_path))
    assert len(found["commit"]) == 40 and not found["dirty"] and not difference
    assert found["repository"] == "https://example.org/x.git"
    (tmp_path / "scripts/a/x.py").write_text("2\n")
    (tmp_path / "scripts/a/new.py").write_text("3\n")
    found, difference = origin_of_sources(tmp_path, source_files(tmp_path))
    assert found["dirty"] and found["new"] == ["scripts/a/new.py"]
    assert "-1\n+2" in difference


def test_a_conda_environment_tells_its_packages_as_installed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "envs" / "report.yaml"
    file.parent.mkdir()
    file.write_text("dependencies:\n  - numpy=2\n")
    prefix = tmp_path / ".snakemake/conda/abc_"
    (prefix / "conda-meta").mkdir(parents=True)
    (prefix / "conda-meta/numpy-2.1.json").write_text('{"name": "numpy", "version": "2.1"}')
    metadata = prefix / "lib/python3.11/site-packages/tqdm-4.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: tqdm\nVersion: 4.70\n")
    prefix.with_suffix(".yaml").write_text(file.read_text())
    assert conda_packages(prefix) == {"numpy": "2.1", "tqdm": "4.70"}
    found = environments([file])
    assert found["conda report.yaml"]["packages"] == {"numpy": "2.1", "tqdm": "4.70"}
    assert found[OWN]["packages"]["snakemake"]


def test_differences_are_reported_by_dotted_keys():
    a, b = (
        flattened({"systems": {"x": {"k1": 0.9}}, "depth": 10}),
        flattened({"systems": {"x": {"k1": 1.2}}, "seed": 1}),
    )
    assert differing("configuration", a, b) == [
        Difference("configuration", "systems.x.k1", "0.9", "1.2"),
        Difference("configuration", "depth", "10", "none"),
        Difference("configuration", "seed", "none", "1"),
    ]


def test_a_run_says_what_was_left_out_for_its_queries():
    job = {"command": "", "machine": None, "host": None, "driver": None, "inputs": {}, "outputs": {}}
    datasets = {
        "d": Dataset(format="beir", own_document="drop", excluded="pairs.tsv"),
        "e": Dataset(format="beir"),
        "j": Dataset(format="beir", runs_of="d"),
    }
    tasks = {
        name: Task(name, name, "test", name, "beir", ("AP",), runs_of=entry.runs_of) for name, entry in datasets.items()
    }
    bm25 = System("bm25", "bm25", settings=Settings(analyzer="english", fields="together", parameters={"k1": 0.9}))
    one = Experiment(experiment="e", measures=("AP",), datasets=datasets, systems={"bm25": bm25}, tasks=tasks)
    said = {name: ir_metadata(one, task, bm25, job, {}, {})["data"].get("other") for name, task in tasks.items()}
    left_out = [{"name": "documents left out for a query", "own_document": "drop", "excluded": "pairs.tsv"}]
    assert said == {"d": left_out, "e": None, "j": left_out}


def test_a_run_of_a_server_is_not_said_to_be_lucenes():
    job = {"command": "", "machine": None, "host": None, "driver": None, "inputs": {}, "outputs": {}}
    task = Task("d", "d", "test", "d", "beir", ("AP",))
    here = Settings(analyzer="english", fields="together", parameters={"k1": 0.9})
    systems = {
        "here": System("here", "bm25", settings=here),
        "there": System("there", "bm25", settings=replace(here, url="http://h:9200")),
    }
    datasets = {"d": Dataset(format="beir")}
    one = Experiment(experiment="e", measures=("AP",), datasets=datasets, systems=systems, tasks={"d": task})
    methods = [
        ir_metadata(one, task, system, job, {}, {})["method"]["retrieval"][0]["method"] for system in systems.values()
    ]
    assert methods == ["BM25 (Lucene)", "BM25 (Elasticsearch)"]


def test_jobs_of_one_rule_name_the_scripts_that_they_ran():
    """A figure is drawn by one of several scripts: each job has its own as instrument, and the step has all."""
    usual = {"command": "", "start": "s", "end": "e", "log": None, "inputs": {}, "outputs": {}, "machine": None}
    usual |= {"host": None, "slurm_job": None, "driver": None, "resources": None}
    jobs = [{"rule": rule, "wildcards": {}, **usual} for rule in ("figure", "figure", "score")]
    tools = ["workflow/scripts/bars.py", "workflow/scripts/forest.py", "workflow/scripts/score.py"]
    about = {"experiment": "e", "actor": None, "extent": "crate", "start": "s", "end": "e", "snakemake": "9"}
    about |= {"configuration": "workflow/e.yaml", "licence": "MIT"}
    entities = {entity["@id"]: entity for entity in crate(about, {}, jobs, tools)["@graph"]}
    ran = [entities[f"#job-{place}"]["instrument"]["@id"] for place in range(3)]
    assert ran == tools and [entities[tool]["name"] for tool in tools] == tools
    assert [used["@id"] for used in entities["workflow/Snakefile#figure"]["workExample"]] == tools[:2]
    assert entities["workflow/Snakefile#score"]["workExample"] == {"@id": tools[2]}
