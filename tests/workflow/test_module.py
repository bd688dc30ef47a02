"""The workflow in another repository: deployed from a repository of git, whole, and as a part of another workflow."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import sysconfig

import pytest
import yaml

from ranktrial.common.version import VERSION
from tests.workflow.conftest import PARTS, REPOSITORY, Workspace

CONFIG = {
    "experiment": "theirs",
    "measures": ["nDCG@10"],
    "mirrors": ["data"],
    "datasets": {"weather": {"format": "qrels", "location": "weather.qrels"}},
    "systems": {name: {"type": "external", "runs": {"weather": f"{name}.trec"}} for name in ("a", "b")},
    "tasks": ["weather"],
    "comparisons": {"b-helps": {"control": "a", "treatment": "b"}},
}
ADDRESS, TAG = "https://github.com/example/ranktrial", f"v{VERSION}"
# As snakedeploy 0.17 writes it.
DEPLOYED = f"""from snakemake.utils import min_version


min_version("6.10.0")


configfile: "config/config.yaml"


# declare {ADDRESS} as a module
module ranktrial:
    snakefile:
        github("example/ranktrial", path="workflow/Snakefile", tag="{TAG}")
    config:
        config


# use all rules from {ADDRESS}
use rule * from ranktrial
"""
PART = """
module ranktrial:
    snakefile: "{snakefile}"
    config: CONFIG

use rule * from ranktrial as ranks_*

onstart:
    ranktrial.onstart()

onerror:
    ranktrial.onerror()

rule all:
    default_target: True
    input:
        rules.ranks_all.input,
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


def git(folder, *words):
    names = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    done = subprocess.run(["git", "-C", folder, *names, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def tagged(sources, bare, tag):
    """Commit all of a folder and push it to the bare repository with a tag."""
    git(sources, "add", "--all", "--force")
    git(sources, "commit", "--quiet", "--message", tag)
    git(sources, "tag", tag)
    git(sources, "push", "--quiet", bare, "main", tag)
    return git(sources, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The working tree in a bare repository, which git takes for one on GitHub; the environment that says so."""
    folder = tmp_path_factory.mktemp("published")
    sources, bare = folder / "sources", folder / "bare.git"
    sources.mkdir()
    for name in [*PARTS, "workflow", "pyproject.toml", "setup.py", "README.md", "LICENSE", "CITATION.cff"]:
        if (REPOSITORY / name).is_dir():
            shutil.copytree(REPOSITORY / name, sources / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(REPOSITORY / name, sources / name)
    git(folder, "init", "--quiet", "--bare", "--initial-branch=main", bare)
    git(folder, "init", "--quiet", "--initial-branch=main", sources)
    tagged(sources, bare, TAG)
    (folder / "gitconfig").write_text(f'[url "file://{bare}"]\n\tinsteadOf = {ADDRESS}\n')
    return sources, {"GIT_CONFIG_GLOBAL": str(folder / "gitconfig"), "XDG_CACHE_HOME": str(folder / "cache")}


@pytest.fixture(scope="module")
def installed(published, tmp_path_factory):
    """An environment with the package of that repository, beside the packages of this one; its folder of programs."""
    venv = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    paths = {"base": str(venv), "platbase": str(venv)}
    (packages,) = {sysconfig.get_path(name, "venv", vars=paths) for name in ("purelib", "platlib")}
    (venv / "beside.pth").write_text(sysconfig.get_path("purelib"))
    shutil.move(venv / "beside.pth", packages)
    pip = [venv / "bin/python", "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, f"ranktrial @ git+{ADDRESS}@{TAG}"], env=os.environ | published[1], check=True)
    return venv / "bin", packages


@pytest.fixture
def paper(importer, published, installed):
    """A repository with what snakedeploy writes; the function runs a program of the environment in it."""
    (importer / "workflow").mkdir()
    (importer / "workflow/Snakefile").write_text(DEPLOYED)
    (importer / "config").mkdir()
    (importer / "config/config.yaml").write_text(yaml.safe_dump(CONFIG))
    git(importer, "init", "--quiet")
    git(importer, "add", "--all")
    git(importer, "commit", "--quiet", "--message", "paper")
    bin, packages = installed

    def run(*words):
        # Snakemake and its jobs are forks of the warm process, with the installed package
        command = [Workspace.python, "-m", *words] if words[0] == "snakemake" else [bin / words[0], *words[1:]]
        warm = {"PYTHONPATH": packages} if words[0] == "snakemake" else {}
        return subprocess.run(
            command, cwd=importer, capture_output=True, text=True, env=os.environ | published[1] | warm
        )

    return importer, run


def test_a_deployed_workflow_runs_whole_is_archived_and_verified(paper, published):
    folder, run = paper
    done = run("snakemake", "--cores", "2")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "scoring             " in done.stderr and "results/theirs/report.html" in done.stdout
    results = folder / "results/theirs"
    assert [name for name in DONE if not (results / name).is_file()] == []
    commits = git(published[0], "rev-parse", TAG), git(folder, "rev-parse", "HEAD")
    report = (results / "report.html").read_text()
    assert all(commit in report for commit in commits)
    again = run("snakemake", "--cores", "2")
    assert again.returncode == 0 and "Nothing to be done" in again.stdout + again.stderr
    assert "finished at" in run("ranktrial", "status").stdout
    archived = run("ranktrial", "archive", "--config", "config/config.yaml")
    assert archived.returncode == 0, archived.stderr[-3000:]
    verified = run("ranktrial", "verify", "--archive", "results/theirs/theirs.crate.zip", "--recompute")
    assert verified.returncode == 0, verified.stdout[-3000:] + verified.stderr[-3000:]
    assert "the sources here, which are the same as the archive's" in verified.stdout
    origin = json.loads(subprocess.run(
        ["unzip", "-p", results / "theirs.crate.zip", "provenance/origin.json"], capture_output=True, check=True).stdout)  # fmt: skip
    assert origin["commit"] == commits[0] and origin["experiment_repository"]["commit"] == commits[1]
    assert run("ranktrial", "check-results").returncode == 0


def refused(done):
    errors = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("error: ")]
    assert done.returncode != 0 and len(errors) == 1, done.stdout + done.stderr
    return errors[0]


def test_rules_of_another_version_and_a_mistake_are_one_line(paper, published):
    folder, run = paper
    (folder / "config/config.yaml").write_text(yaml.safe_dump(CONFIG | {"depht": 10}))
    assert "config/config.yaml: unknown key 'depht'" in refused(run("snakemake", "--dry-run"))
    sources, _ = published
    (sources / "scripts/evaluation/score.py").write_text("other = 1\n")
    commit = tagged(sources, sources.parent / "bare.git", "v9.0.0")
    (folder / "workflow/Snakefile").write_text(DEPLOYED.replace(TAG, "v9.0.0"))
    error = refused(run("snakemake", "--dry-run"))
    assert commit[:12] in error and f"ranktrial {VERSION}" in error
    assert error.endswith(f'pip install "ranktrial[workflow] @ git+{ADDRESS}@v9.0.0"')


@pytest.mark.long
def test_as_a_part_of_another_workflow_with_renamed_rules_and_a_dictionary_of_configuration(importer):
    text = PART.format(snakefile=REPOSITORY / "Snakefile")
    (importer / "Snakefile").write_text(f"CONFIG = {CONFIG!r}\n{text}")

    def snakemake():
        return subprocess.run(
            [Workspace.python, "-m", "snakemake", "--cores", "2"], cwd=importer, capture_output=True, text=True,
            env=os.environ | {"PYTHONPATH": str(importer / "library")},
        )  # fmt: skip

    done = snakemake()
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    results = importer / "results/theirs"
    assert [name for name in DONE if not (results / name).is_file()] == []
    assert json.loads((results / "meta/b-helps.json").read_text())["k"] == 1
    assert (importer / "own.txt").read_text() == "own\n", "the search path of the other workflow's rules is kept"
    assert (results / "logs/collect/means.log").read_text().startswith("host: ")
    again = snakemake()
    assert again.returncode == 0 and "Nothing to be done" in again.stdout + again.stderr


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
