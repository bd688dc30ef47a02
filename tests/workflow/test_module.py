"""The workflow as a module of another repository's workflow, run to the end there: small experiments on external runs."""

import json
import os
import random
import re
import shutil
import subprocess

import pytest
import yaml

from tests.workflow.conftest import REPOSITORY, Workspace, copy

CONFIG = {
    "experiment": "theirs",
    "measures": ["nDCG@10"],
    "mirrors": ["data"],
    "datasets": {"weather": {"format": "qrels", "location": "weather.qrels"}},
    "systems": {name: {"type": "external", "runs": {"weather": f"{name}.trec"}} for name in ("a", "b")},
    "tasks": ["weather"],
    "comparisons": {"b-helps": {"control": "a", "treatment": "b"}},
}
MODULE = """
module ranktrial:
    snakefile: "{snakefile}"
    config: {config}

use rule * from ranktrial{renamed}

onstart:
    ranktrial.onstart()

onerror:
    ranktrial.onerror()

rule all:
    default_target: True
    input:
        rules.{all_rule}.input,
        "own.txt",

rule own:
    output:
        "own.txt",
    shell:
        "python -c 'import own; print(own.WORD)' >{{output}}"
"""
DONE = ["summary.md", "report.html", "figures/b-helps.svg", "tables/effects/b-helps.tsv", "config.yaml"]


@pytest.fixture
def importer(tmp_path):
    """Another repository: its data, runs and a module of Python of its own, without any file of this workflow."""
    rng = random.Random(5)
    (tmp_path / "data").mkdir()
    qrels = "".join(f"q{q} 0 d{q % 10} 1\n" for q in range(20))
    (tmp_path / "data/weather.qrels").write_text(qrels)
    for name in ("a", "b"):
        runs = (f"q{q} Q0 d{d} 1 {rng.random()} {name}\n" for q in range(20) for d in range(10))
        (tmp_path / f"{name}.trec").write_text("".join(runs))
    (tmp_path / "library").mkdir()
    (tmp_path / "library/own.py").write_text("WORD = 'own'")
    return tmp_path


def snakemake(folder, *arguments):
    return subprocess.run(
        [Workspace.python, "-m", "snakemake", "--cores", "2", *arguments], cwd=folder, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(folder / "library")},
    )  # fmt: skip


def runs_to_the_end_and_then_has_nothing_to_do(folder, *arguments):
    done = snakemake(folder, *arguments)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    results = folder / "results/theirs"
    assert [name for name in DONE if not (results / name).is_file()] == []
    assert json.loads((results / "meta/b-helps.json").read_text())["k"] == 1
    assert (folder / "own.txt").read_text() == "own\n", "the search path of the other workflow's rules is kept"
    assert (results / "logs/collect/means.log").read_text().startswith("host: ")
    again = snakemake(folder, *arguments)
    assert again.returncode == 0 and "Nothing to be done" in again.stdout + again.stderr


@pytest.mark.long
def test_with_a_dictionary_of_configuration_and_renamed_rules(importer):
    text = MODULE.format(
        snakefile=REPOSITORY / "Snakefile", config="CONFIG", renamed=" as ranks_*", all_rule="ranks_all"
    )
    (importer / "Snakefile").write_text(f"CONFIG = {CONFIG!r}\n{text}")
    runs_to_the_end_and_then_has_nothing_to_do(importer)


def test_with_a_file_of_configuration_that_holds_more_and_a_clone_below(importer):
    (importer / "vendor").mkdir()
    (importer / "vendor/ranktrial").symlink_to(REPOSITORY)
    text = MODULE.format(snakefile="vendor/ranktrial/Snakefile", config='config["ranking"]', renamed="", all_rule="all")
    text = text.replace("rule all:", "rule everything:")
    (importer / "Snakefile").write_text('configfile: "config/paper.yaml"\n' + text)
    (importer / "config").mkdir()
    (importer / "config/paper.yaml").write_text(yaml.safe_dump({"authors": ["x"], "ranking": CONFIG}))
    runs_to_the_end_and_then_has_nothing_to_do(importer)


def test_a_mistake_is_one_line(importer):
    wrong = CONFIG | {"depht": 10}
    text = MODULE.format(snakefile=REPOSITORY / "Snakefile", config=repr(wrong), renamed="", all_rule="all")
    (importer / "Snakefile").write_text(text.replace("rule all:", "rule everything:"))
    done = snakemake(importer)
    errors = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("error: ")]
    assert done.returncode != 0 and len(errors) == 1 and "unknown key 'depht'" in errors[0]


def test_the_repository_is_laid_out_as_the_workflow_catalog_asks():
    shown = yaml.safe_load((REPOSITORY / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert set(shown) == {"mandatory-flags", "software-stack-deployment"} and shown["mandatory-flags"]["desc"]
    assert shown["software-stack-deployment"] == {
        "conda": False, "apptainer": False, "apptainer+conda": False, "report": True,
    }  # fmt: skip
    instructions = (REPOSITORY / "config/README.md").read_text()
    examples = {path.name for path in (REPOSITORY / "config").glob("*.yaml")}
    assert [name for name in sorted(examples) if f"`{name}`" not in instructions] == []
    assert {"snakemake", "workflow"} <= set(re.findall(r"\w+", (REPOSITORY / "README.md").read_text().lower()))


def test_the_snakefile_of_the_catalog_plans_the_same(importer):
    clone = copy(REPOSITORY, importer)
    shutil.copytree(REPOSITORY / "workflow", importer / "workflow")
    clone.write_config(CONFIG)
    plans = [clone.snakemake("--dry-run", "--snakefile", name) for name in ("Snakefile", "workflow/Snakefile")]
    jobs = [re.findall(r"^Job \d+: (.*)$", plan.stdout + plan.stderr, re.MULTILINE) for plan in plans]
    assert [plan.returncode for plan in plans] == [0, 0]
    assert sorted(jobs[0]) == sorted(jobs[1]) and len(jobs[0]) > 10
