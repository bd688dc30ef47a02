"""Whose programs run to verify an archive, and which results are archived at all."""

import contextlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ranktrial.archive import expected, layout
from ranktrial.archive.jobs import (
    METADATA,
    ArchiveSettings,
    Job,
    changed_outputs,
    file_sha256,
    read_left_out,
    write_record,
)
from ranktrial.common import ledger
from ranktrial.common.files import sha256
from ranktrial.engine.job_records import records
from scripts.archive import verify
from scripts.archive.export_runs import export_runs
from tests.support import crafted
from tests.support.crafted import EFFECT, META, METRIC, QRELS, RUN, record, small
from tests.support.one_line import refused


def test_scripts_run_by_an_isolated_python(tmp_path, monkeypatch):
    """Nothing is taken from the folder where they run: no module, no sitecustomize, no matplotlibrc's neighbour."""
    for name in ("sitecustomize.py", "usercustomize.py", "json.py", "numpy.py"):
        (tmp_path / name).write_text("open('planted', 'w').close()\n")
    monkeypatch.setattr(expected, "own_file", (tmp_path / "clone").joinpath)
    script = tmp_path / "clone/scripts/archive/script.py"
    script.parent.mkdir(parents=True)
    script.write_text("import json, numpy\nprint(json.__file__)")
    done = subprocess.run(expected.isolated("script.py"), cwd=tmp_path, capture_output=True, text=True,
                          env=expected.environment(tmp_path) | {"PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": "json.py"})  # fmt: skip
    assert done.returncode == 0 and str(tmp_path) not in done.stdout and not (tmp_path / "planted").exists()


def test_a_script_multiplies_as_this_process_does_and_sees_no_token(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setenv("HF_TOKEN", "secret")
    environment = expected.environment(tmp_path)
    assert environment["OPENBLAS_CORETYPE"] == "Haswell" and "secret" not in environment.values()


def test_changed_sources_are_reported(tmp_path):
    files = dict(small().files)
    for name in ("workflow/Snakefile", "workflow/rules/synthesis.smk", "workflow/scripts/evaluation/score.py"):
        files[name] = files[name] + b"\n# changed\n"
    crafted.unpacked(files, tmp_path)
    changed_ones = ["Snakefile", "rules/synthesis.smk", "scripts/evaluation/score.py"]
    assert verify.differing_sources(tmp_path) == changed_ones


@pytest.fixture
def workspace(tmp_path):
    return Path(shutil.copytree(small().workspace, tmp_path / "workspace", symlinks=True))


WRITTEN = [
    RUN,
    QRELS,
    METRIC,
    EFFECT,
    META,
    "results/small/tables/means.tsv",
    "results/small/data/weather/statistics.json",
]


@pytest.mark.parametrize("name", WRITTEN)
def test_results_that_lack_something_are_not_archived(workspace, name):
    (workspace / name).unlink()
    with refused(name, "small.yaml: incomplete", "snakemake --configfile small.yaml -- "):
        crafted.archive(workspace, small().planned)


@pytest.mark.parametrize("name", WRITTEN)
def test_results_that_were_changed_are_not_archived(workspace, name):
    content = (workspace / name).read_bytes()
    dates = os.stat(workspace / name)
    (workspace / name).write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
    os.utime(workspace / name, ns=(dates.st_atime_ns, dates.st_mtime_ns))
    with refused(name, "no longer what their jobs wrote", "delete them"):
        crafted.archive(workspace, small().planned)


def test_a_ledger_tells_of_changes_that_no_job_read(workspace):
    page, tables = "results/small/report.html", "results/small/tables"
    jobs = [Job({"rule": "x", "input": [], "input_checksums": {}}, [path]) for path in (page, tables)]
    with contextlib.chdir(workspace):
        file_sha256.cache_clear()
        assert changed_outputs(jobs) == []
        ledger.record(Path(page))
        ledger.record(Path(tables))
        assert changed_outputs(jobs) == []
        ledger.record(Path(page), {"": "0" * 64})
        assert changed_outputs(jobs) == [page]
        Path(tables, "means.tsv").unlink()
        assert changed_outputs(jobs) == [page, f"{tables}/means.tsv"]


def test_data_that_was_replaced_after_the_run_is_not_reported_as_what_was_read(workspace):
    (workspace / "data/weather.qrels").write_text("q1 0 d1 1\n")
    with refused("data/weather.qrels", "no longer what the jobs read"):
        crafted.archive(workspace, small().planned)


@pytest.mark.parametrize("content", ["{", "[]", '{"results/small/summary.md": {"sha256": "x", "bytes": 1, "kind": "text"}}',
                                     json.dumps({METRIC: {"sha256": "0" * 64, "bytes": 1, "kind": "text"}}),
                                     json.dumps({"../x": {"sha256": "0" * 64, "bytes": 1, "kind": "text"}})])  # fmt: skip
def test_what_an_archive_left_out_is_read_strictly(workspace, content):
    (workspace / "results/small/left-out.json").write_text(content)
    with contextlib.chdir(workspace), refused("left-out.json"):
        read_left_out("small")


def test_what_the_options_of_systems_make_is_of_its_kind():
    assert layout.kind_of("results/small/passages/weather/150/corpus.jsonl", "small") == "text"
    assert layout.kind_of("results/small/bm25/weather/index-standard-best/segments_1", "small") == "index"
    assert layout.kind_of("results/small/fusion/weather/fused/seed-1.weights.json", "small") == "data"


def test_an_archive_tells_what_a_rewritten_file_was(workspace):
    """A home folder in a result is taken out; its job's hash is that of what the job wrote."""
    name = "results/small/logs/collect/means.log"
    (workspace / name).write_text(f"{workspace}/x\n")
    files = crafted.archive(workspace, small().planned)
    entry = record(files, layout.MANIFEST)["files"][name]
    assert entry["written"] == sha256(workspace / name) != entry["sha256"]


def test_a_log_of_another_experiment_is_not_archived(workspace):
    """It may have fetched what both share; an archive with a path of its own would be refused by those who read it."""
    elsewhere = "results/other/logs/import_run/ours.log"
    (workspace / elsewhere).parent.mkdir(parents=True)
    (workspace / elsewhere).write_text("host: node7\n")
    with contextlib.chdir(workspace):
        known = dict(records(METADATA))
        write_record(METADATA, RUN, known[RUN] | {"log": [elsewhere]})
    files = crafted.archive(workspace, small().planned)
    assert RUN in files and not [name for name in files if name.startswith("results/other")]
    assert elsewhere.encode() not in files[layout.JOBS] + files[layout.STATE]


def test_the_runs_that_are_exported_are_counted(workspace, monkeypatch, capsys):
    """Also those behind a run that was asked for, as those on dev from which its parameters were chosen."""
    monkeypatch.chdir(workspace)
    file_sha256.cache_clear()
    settings = ArchiveSettings("small", crafted.CONFIG, ["small.yaml"], crafted.settings_of_rules(small().planned), "9")
    exported = Path("results/small/exported-runs")
    export_runs([Path(METRIC)], exported, settings)
    assert len(list(exported.glob("*.trec.gz"))) == 1
    export_runs([Path(EFFECT)], exported, settings)
    assert len(list(exported.glob("*.trec.gz"))) == 2
    assert capsys.readouterr().out == f"{exported}: 1 runs\n{exported}: 2 runs\n"
