"""The archive of the tiny experiment: written, searched for secrets, verified, changed, taken over and compared."""

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from ranktrial.archive import layout
from ranktrial.archive.integrity import check, unpack, write_zip
from ranktrial.archive.layout import seal
from ranktrial.common import job_code as imports
from ranktrial.common.job_code import job_code
from tests.workflow.conftest import copy, tiny_config

SECRETS = {"HF_TOKEN": "hf_planted_in_the_environment", "CLUSTER_PASSWORD": "planted-password-1"}
TOKEN_OF_A_FILE = "hf_planted_in_a_file_of_the_home"
ACTOR = {"name": "Ann Example", "orcid": "0000-0002-1825-0097", "team": "examples", "role": "experimenter"}
NAME = "results/tiny/tiny.crate.zip"


def run(workspace, script, *arguments, **environment):
    """Run a script of the archive stage as the Makefile does."""
    command = [workspace.python, f"scripts/archive/{script}.py", *map(str, arguments)]
    return subprocess.run(command, cwd=workspace.folder, capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": "."} | environment)  # fmt: skip


def planted(workspace, home):
    """Home folder, working folder and secrets in the log of a job, as a careless tool may print them."""
    (home / ".cache/huggingface").mkdir(parents=True)
    (home / ".cache/huggingface/token").write_text(TOKEN_OF_A_FILE + "\n")
    log = next(workspace.folder.glob("results/tiny/logs/fine_tune/**/*.log"))
    times = os.stat(log)
    with open(log, "a") as file:
        file.write(f"{home}/data {workspace.folder}/results {' '.join(SECRETS.values())} {TOKEN_OF_A_FILE}\n")
    os.utime(log, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.fixture(scope="module")
def archived(finished, tmp_path_factory):
    """The finished experiment in somebody's home folder, and its archive."""
    home = tmp_path_factory.mktemp("home") / "ann"
    workspace = copy(finished.folder, home / "work" / "ranktrial")
    workspace.write_config({**tiny_config(), "actor": ACTOR})
    planted(workspace, home)
    done = run(workspace, "front", "--config", "tiny.yaml", HOME=str(home), **SECRETS)
    assert done.returncode == 0, done.stdout + done.stderr
    return SimpleNamespace(workspace=workspace, path=workspace.folder / NAME, home=home, said=done.stdout)


def contents(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def content(archived):
    return contents(archived.path)


def test_what_is_in_it(archived, content):
    manifest = json.loads(content[layout.MANIFEST])
    kinds = {entry["kind"] for entry in manifest["files"].values()}
    assert kinds >= {"run", "qrels", "metric", "effect", "meta-analysis", "figure", "table", "report", "log", "benchmark",
                     "timing", "source", "configuration", "provenance", "description", "origin of a run"}  # fmt: skip
    assert {entry["kind"] for entry in manifest["absent"].values()} == {"checkpoint", "embedding", "index", "text"}
    for name, entry in manifest["absent"].items():
        assert entry["sha256"] == hashlib.sha256((archived.workspace.folder / name).read_bytes()).hexdigest()
    assert yaml.safe_load(content["config/tiny.yaml"])["actor"] == ACTOR
    assert yaml.safe_load(content[layout.RESOLVED])["models"]["bert"]["batch_size"] == 32  # a default
    assert json.loads(content[layout.SEEDS])["systems"]["hard"] == [1, 2]
    assert yaml.safe_load(content["CITATION.cff"])["authors"][0]["name"] == "Ann Example"
    assert hashlib.sha256(archived.path.read_bytes()).hexdigest() in archived.said
    assert archived.path.with_name("tiny.crate.zip.sha256").read_text().split()[0] in archived.said


def test_each_job_is_reported_with_its_files_times_and_machine(archived, content):
    jobs = json.loads(content[layout.JOBS])
    trained = next(job for job in jobs if job["rule"] == "fine_tune" and job["wildcards"]["recipe"] == "hard")
    assert trained["settings"]["epochs"] == 3 and trained["environment"] == "neural.yaml"
    assert trained["start"] < trained["end"] and trained["host"] and trained["slurm_job"] is None
    assert trained["machine"]["device"] and trained["machine"]["versions"]["torch"]
    assert float(trained["resources"]["s"]) > 0
    scored = next(job for job in jobs if job["rule"] == "score")
    for path, sha256 in {**scored["inputs"], **scored["outputs"]}.items():
        assert hashlib.sha256((archived.workspace.folder / path).read_bytes()).hexdigest() == sha256
    assert all(sha256 for job in jobs for sha256 in job["outputs"].values())
    modules = imports.behind("evaluation/score.py")
    assert len(modules) > 5 and {*modules} <= scored["inputs"].keys()
    assert scored["code"] == job_code("evaluation/score.py")


@pytest.mark.long
def test_archiving_twice_gives_the_same_bytes(archived):
    before = archived.path.read_bytes()
    done = run(archived.workspace, "front", "--config", "tiny.yaml", HOME=str(archived.home), **SECRETS)
    assert done.returncode == 0, done.stderr
    assert archived.path.read_bytes() == before


def test_no_secret_and_no_folder_of_the_user_is_in_it(archived, content):
    forbidden = [*SECRETS.values(), TOKEN_OF_A_FILE, str(archived.home), str(archived.workspace.folder)]
    plain = {name: gzip.decompress(one) if name.endswith(".gz") else one for name, one in content.items()}
    for name, one in {**plain, "the zip": archived.path.read_bytes()}.items():
        for word in forbidden:
            assert word.encode() not in one, (name, word)
    log = next(one for name, one in content.items() if "/logs/fine_tune/" in name and b"***" in one)
    assert log.decode().splitlines()[-1] == "~/data results *** *** ***"


@pytest.mark.long
def test_it_is_a_valid_provenance_run_crate(archived, tmp_path, monkeypatch):
    """Against the validator's own copy of the profile; the two JSON-LD contexts, which lie on the web, are stood in for.

    That of RO-Crate 1.1 by the later one that comes with rocrate (Bioschemas' terms have another prefix there), that
    of Workflow Run by the terms that are used.
    """
    import rocrate
    from rocrate_validator import models, services
    from rocrate_validator.utils import document_loader
    from rocrate_validator.utils.http import HttpRequester

    base = "https://w3id.org/ro/terms/workflow-run"
    later = (Path(rocrate.__file__).parent / "data/ro-crate.jsonld").read_text()
    known = {
        f"{base}/context": {"@context": {term: f"{base}#{term}" for term in ("sha256", "resourceUsage")}},
        "https://w3id.org/ro/crate/1.1/context": json.loads(later.replace("bioschemas.org/terms/", "bioschemas.org/")),
    }

    def get(requester, url, **_):
        return SimpleNamespace(
            status_code=200, headers={"Content-Type": "application/ld+json"}, json=lambda: known[url]
        )

    monkeypatch.setattr(document_loader, "_fetch_json_ld", known.__getitem__)
    monkeypatch.setattr(HttpRequester, "get", get, raising=False)
    unpack(archived.path, tmp_path / "crate", check(archived.path).manifest)
    asked = services.ValidationSettings(
        rocrate_uri=tmp_path / "crate", profile_identifier="provenance-run-crate", offline=True,
        requirement_severity=models.Severity.REQUIRED, skip_availability_check=True, cache_path=tmp_path / "cache",
    )  # fmt: skip
    assert [issue.message for issue in services.validate(asked).get_issues()] == []
    page = tmp_path / "crate" / layout.CRATE
    page.write_text(page.read_text().replace('"instrument": {', '"tool": {'))
    assert services.validate(asked).has_issues()  # the validator does look


def test_hashes_are_checked_with_the_standard_library_alone(archived, tmp_path):
    unpack(archived.path, tmp_path / "folder", check(archived.path).manifest)
    command = [sys.executable, "-S", "-m", "scripts.archive.verify", "--archive"]
    for place in (archived.path, tmp_path / "folder"):
        done = subprocess.run([*command, place], cwd=Path(__file__).parents[2], capture_output=True, text=True)
        assert done.returncode == 0 and "files are as they were written" in done.stdout, done.stdout + done.stderr
    (tmp_path / "folder/results/tiny/summary.md").write_text("better")
    done = subprocess.run(
        [*command, tmp_path / "folder"], cwd=Path(__file__).parents[2], capture_output=True, text=True
    )
    assert done.returncode == 1 and "changed: results/tiny/summary.md: changed" in done.stdout


def test_everything_recomputes(archived, tmp_path):
    done = run(archived.workspace, "verify", "--archive", archived.path, "--recompute", "--report", tmp_path / "r.tsv")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the sources here, which are the same as the archive's" in done.stdout
    verdicts = {}
    for line in (tmp_path / "r.tsv").read_text().splitlines()[1:]:
        path, kind, verdict, reason = line.split("\t")
        assert reason or verdict == "identical", path
        if path == "results/tiny/tables/extreme-queries.tsv":
            assert reason == "made by collect, which reads texts"  # which the archive lacks
            continue
        verdicts.setdefault(kind, set()).add(verdict)
    for kind in ("effect", "meta-analysis", "figure", "table", "report", "metric"):
        assert verdicts[kind] == {"identical"}, kind
    assert verdicts["run"] == verdicts["qrels"] == {"cannot be recomputed here"}
    assert "made by import_run from a file from outside that is not in the archive" in done.stdout


KINDS = {
    "run": "results/tiny/runs/weather/plain/seed-0.trec.gz",
    "qrels": "results/tiny/data/weather/qrels/test.qrels",
    "metric": "results/tiny/metrics/weather/hard/seed-1.tsv",
    "effect": "results/tiny/effects/theirs.tsv",
    "meta-analysis": "results/tiny/meta/theirs.json",
    "figure": "results/tiny/figures/theirs.svg",
    "table": "results/tiny/tables/means.tsv",
    "configuration": "config/tiny.yaml",
    "source": "workflow/scripts/evaluation/score.py",
    "log": "results/tiny/logs/collect/means.log",
    "timing": "results/tiny/runs/weather/plain/seed-0.timing.json",
    "provenance": "provenance/jobs.json",
    "manifest": "manifest.json",
    "seal": "manifest.sha256",
    "README": "README.md",
    "crate": "ro-crate-metadata.json",
}


@pytest.mark.parametrize("name", KINDS.values(), ids=KINDS)
def test_one_changed_byte_is_found_and_named(archived, content, tmp_path, name):
    """In the zip as it lies on the disk, and in a zip that was made anew around a changed file."""
    changed = tmp_path / "changed.zip"
    packed = bytearray(archived.path.read_bytes())
    with zipfile.ZipFile(archived.path) as archive:
        info = archive.getinfo(name)
    packed[info.header_offset + 30 + len(info.filename) + info.compress_size // 2] ^= 1
    changed.write_bytes(packed)
    assert any(said.startswith(name) for said in check(changed).damages)
    middle = len(content[name]) // 2
    write_zip(changed, {**content, name: content[name][:middle] + b"?" + content[name][middle + 1 :]})
    assert any(name in said for said in check(changed).damages)


def test_a_changed_archive_is_said_to_be_one(archived, content, tmp_path):
    write_zip(tmp_path / "changed.zip", {**content, KINDS["metric"]: b"changed"})
    found = run(archived.workspace, "verify", "--archive", tmp_path / "changed.zip")
    assert found.returncode == 1 and f"changed: {KINDS['metric']}" in found.stdout, found.stdout


@pytest.mark.long
def test_a_number_that_was_changed_with_all_its_hashes_does_not_recompute(archived, content, tmp_path):
    name = KINDS["metric"]
    lines = content[name].decode().splitlines()
    lines[1] = re.sub(r"\t[\d.]+", "\t0.123456", lines[1], count=1)
    forged = {**content, name: ("\n".join(lines) + "\n").encode()}
    manifest = json.loads(content[layout.MANIFEST])
    manifest["files"][name] |= {"sha256": hashlib.sha256(forged[name]).hexdigest(), "bytes": len(forged[name])}
    forged[layout.MANIFEST] = json.dumps(manifest).encode()
    forged[layout.SEAL] = seal(forged[layout.MANIFEST]).encode()
    write_zip(tmp_path / "forged.zip", forged)
    assert check(tmp_path / "forged.zip").damages == []
    done = run(archived.workspace, "verify", "--archive", tmp_path / "forged.zip", "--recompute")
    assert done.returncode == 1
    assert f"different: {name}: line 2: 0.123456 became" in done.stdout
    assert "different: results/tiny/effects/hard-helps.tsv" in done.stdout


@pytest.fixture
def clone(prepared, tmp_path):
    """A fresh clone with the data in place and no results."""
    workspace = copy(prepared.folder, tmp_path / "clone")
    workspace.write_config({**tiny_config(), "actor": ACTOR})
    return workspace


def test_an_experiment_goes_on_in_another_clone(archived, clone):
    done = run(clone, "resume", "--archive", archived.path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not in the archive:" in done.stdout
    explorer = clone.folder / "results/state/sha256/results/tiny/explorer"  # as where the results were moved away
    explorer.write_text(f"{'0' * 64}  results/tiny/explorer/index.html\n")
    assert clone.planned() == set()
    assert (
        run(clone, "front", "--config", "tiny.yaml").returncode == 0
    )  # archived again, with the hashes of what is not here
    first, second = (check(path) for path in (archived.path, clone.folder / NAME))
    assert second.manifest["absent"] == first.manifest["absent"]
    jobs = [json.loads(contents(path)[layout.JOBS]) for path in (archived.path, clone.folder / NAME)]
    assert [job["outputs"] for job in jobs[0]] == [job["outputs"] for job in jobs[1]]
    config = {**tiny_config(), "actor": ACTOR}
    config["recipes"]["random"]["learning_rate"] = 0.002
    archived.workspace.write_config(config, "changed.yaml")
    clone.write_config(config, "changed.yaml")
    part = archived.workspace.planned("changed.yaml")
    assert "fine_tune bert random seed-1" in part and "fine_tune bert hard seed-1" not in part
    # The texts are not there: what needs them makes them, and all they feed; the explorer waits until they are.
    assert clone.planned("changed.yaml") > part - {"explorer"}
    done = run(clone, "resume", "--archive", archived.path, "--fill")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "were made again, with the same SHA-256" in done.stdout
    assert clone.planned() == {"explorer"}  # it holds texts and is in no archive
    assert clone.planned("changed.yaml") == part


def test_results_that_differ_are_not_overwritten_without_consent(archived, clone):
    other = clone.folder / "results/tiny/summary.md"
    other.parent.mkdir(parents=True)
    other.write_text("mine\n")
    done = run(clone, "resume", "--archive", archived.path)
    assert done.returncode == 1 and done.stderr.startswith("error: 1 files already exist and differ")
    assert other.read_text() == "mine\n" and len(list((clone.folder / "results/tiny").rglob("*"))) == 1
    assert run(clone, "resume", "--archive", archived.path, "--overwrite").returncode == 0
    assert other.read_bytes() == contents(archived.path)["results/tiny/summary.md"]


def test_a_damaged_archive_is_not_taken_over(archived, clone, tmp_path):
    (tmp_path / "damaged.zip").write_bytes(archived.path.read_bytes() + b"x")
    done = run(clone, "resume", "--archive", tmp_path / "damaged.zip")
    assert done.returncode == 1 and "damaged, nothing was taken over" in done.stderr
    assert not (clone.folder / "results").exists()


@pytest.mark.long
def test_the_full_archive_holds_models_and_texts(archived, clone):
    done = run(archived.workspace, "front", "--config", "tiny.yaml", "--extent", "full")
    assert done.returncode == 0, done.stdout + done.stderr
    full = archived.workspace.folder / "results/tiny/tiny.full.zip"
    kinds = {entry["kind"] for entry in check(full).manifest["files"].values()}
    assert kinds >= {"checkpoint", "embedding", "index", "text"} and not check(full).manifest["absent"]
    assert run(clone, "resume", "--archive", full).returncode == 0
    config = {**tiny_config(), "actor": ACTOR}
    config["recipes"]["random"]["learning_rate"] = 0.002
    for workspace in (archived.workspace, clone):
        workspace.write_config(config, "changed.yaml")
    assert clone.planned() == {"explorer"}  # in no archive, and made where the texts are
    assert clone.planned("changed.yaml") == archived.workspace.planned("changed.yaml")


@pytest.mark.long
def test_two_archives_are_compared(archived, again, tmp_path, monkeypatch):
    run_file = again.folder / "theirs.trec"
    run_file.write_text("".join(f"q{n} Q0 d{min(n, 52)} 1 {n} theirs\n" for n in range(45, 60)))  # now right for eight
    monkeypatch.setenv("SLURM_JOB_ID", "4711")  # as Slurm tells a job
    assert again.snakemake().returncode == 0
    assert run(again, "front", "--config", "tiny.yaml").returncode == 0
    done = run(again, "compare_archives", "--a", archived.path, "--b", again.folder / NAME, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    jobs = json.loads(contents(again.folder / NAME)[layout.JOBS])
    assert {job["rule"]: job["slurm_job"] for job in jobs}["import_run"] == "4711"
    assert "1 of 3 effects moved, most theirs on weather" in done.stdout
    header, *rows = [line.split("\t") for line in (tmp_path / "out/effects.tsv").read_text().splitlines()]
    moved = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    assert float(moved["hard-helps"]["difference"]) == 0
    theirs = moved["theirs"]
    assert float(theirs["difference"]) == pytest.approx(float(theirs["b"]) - float(theirs["a"]), abs=1e-12)
    assert float(theirs["ci_low"]) <= float(theirs["difference"]) <= float(theirs["ci_high"]) and theirs["n"] == "15"
    assert (tmp_path / "out/theirs.png").is_file() and not (tmp_path / "out/hard-helps.png").exists()
    inputs = (tmp_path / "out/inputs.tsv").read_text()
    assert "configuration\tactor.name\tAnn Example\tnone" in inputs
    assert "Ann Example" in (tmp_path / "out/comparison.md").read_text()
    same = run(again, "compare_archives", "--a", archived.path, "--b", archived.path, "--out", tmp_path / "same")
    assert "All 3 effects are the same to the last digit. 0 differences" in same.stdout


def test_runs_leave_with_their_origin(archived, content):
    done = run(archived.workspace, "front", "--config", "tiny.yaml", "--extent", "runs")
    assert done.returncode == 0, done.stdout + done.stderr
    folder = archived.workspace.folder / "results/tiny/exported-runs"
    runs = sorted(path.name for path in folder.glob("*.trec.gz"))
    assert len(runs) == 8 and "weather.hard.seed-2.trec.gz" in runs
    assert len(list(folder.glob("*.ir_metadata.yaml"))) == 8
    page = yaml.safe_load((folder / "weather.reranker.seed-1.ir_metadata.yaml").read_text())
    assert list(page) == ["platform", "research goal", "implementation", "method", "actor", "data"]
    assert page["actor"] == ACTOR and page["method"]["retrieval"][1]["reranks"] == "plain"
    assert page["data"]["training data"][0]["name"] == "weather"
    inside = content["results/tiny/runs/weather/reranker/seed-1.ir_metadata.yaml"]
    assert yaml.safe_load(inside)["method"] == page["method"]


def test_an_unknown_and_an_unfinished_experiment(archived, clone):
    shutil.copy(clone.folder / "tiny.yaml", clone.folder / "config/tiny.yaml")
    unknown = run(clone, "front", "--experiment", "tinny")
    assert unknown.returncode == 1
    assert re.fullmatch(
        r"error: tinny: no configuration in config/ has this experiment; there are .*tiny .*\n", unknown.stderr
    )
    unfinished = run(clone, "front", "--experiment", "tiny")
    assert unfinished.returncode == 1
    assert re.match(
        r"error: config/tiny.yaml: unfinished, \d+ files are to be made: results/tiny/summary.md \(missing\)",
        unfinished.stderr,
    )
    assert unfinished.stderr.count("\n") == 1 and not (clone.folder / "results/tiny/summary.md").exists()
    missing = run(clone, "front", "--config", "none.yaml")
    assert missing.stderr == "error: none.yaml: no such file\n"
