"""Archives from strangers: paths, names and records that no archive of ours has."""

import contextlib
import json
from pathlib import Path

import pytest

from ranktrial.archive import layout
from ranktrial.archive.integrity import check
from ranktrial.archive.layout import seal
from ranktrial.archive.recompute import verdicts
from ranktrial.archive.taken_over import Clone
from ranktrial.common.errors import UserError
from scripts.archive.resume import resume
from tests.support import crafted
from tests.support.crafted import METRIC, record, small, with_record
from tests.support.one_line import refused

OUTSIDE = {
    "absolute": "/tmp/ranktrial-planted", "above": "../planted", "inside out": "results/small/../../planted", "home": "~/planted",
    "a module of Python": "sitecustomize.py", "a module of the clone": "scripts/evaluation/score.py", "the Snakefile": "Snakefile",
    "Snakemake's state": "results/state/metadata/eA==", "the ledger": "results/state/sha256/x", "another experiment": "results/other/summary.md",
    "no kind of result": "results/small/run.sh", "git": ".git/hooks/pre-commit", "a newline": "results/small/tables/a\nb.tsv",
    "a backslash": "results\\small\\x.tsv", "a folder": "results/small/tables/", "a dot": "results/small/./tables/x.tsv",
    "nothing": "", "a long name": "results/small/tables/" + "x" * 300, "Snakemake's cache": ".snakemake/iocache/latest.pkl",
    "a nested configuration": "config/a/b.yaml", "the terminal": "results/small/tables/\x1b[2J.tsv",
}  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE.values(), ids=OUTSIDE)
def test_a_file_where_no_archive_has_one_is_refused(tmp_path, name):
    made = crafted.forged_manifest({**small().files, name: b"planted"})
    text = json.dumps(made).encode()
    folder = tmp_path / "unpacked"
    crafted.unpacked({**small().files, layout.MANIFEST: text, layout.SEAL: seal(text).encode()}, folder)
    with refused("manifest.json", "refused, the path"):
        check(folder)
    clone = crafted.clone(tmp_path / "clone")
    with contextlib.suppress(UserError):  # were it not checked before, what takes over would refuse it or do without it
        resume(folder, Clone(clone), made, True)
    written = [one.relative_to(clone) for one in clone.rglob("*") if one.is_file()]
    assert all(
        one.parts[0] in ("results", "config", "Snakefile") and b"planted" not in (clone / one).read_bytes()
        for one in written
    )
    assert not list(tmp_path.glob("*planted*")) and not Path("/tmp/ranktrial-planted").exists()


@pytest.mark.parametrize(
    "name", ["../x", "a/b", ".hidden", "", "a b", "x\n", "downloads", "state", "é", "$(touch x)", 5, None, ["x"]]
)
def test_an_experiment_has_a_name_of_the_schema(tmp_path, name):
    text = json.dumps(crafted.forged_manifest(small().files, experiment=name)).encode()
    crafted.unpacked({layout.MANIFEST: text, layout.SEAL: seal(text).encode()}, tmp_path)
    with refused("experiment: "):
        check(tmp_path)


def record_named(name, **values):
    def change(state):
        state["records"][name] = {**state["records"][METRIC], **values}

    return change


def metric_record(**values):
    return lambda state: state["records"][METRIC].update(values)


BAD_STATES = {
    "a record elsewhere": (record_named("/etc/passwd"), "refused, the path '/etc/passwd' is absolute"),
    "a record above": (record_named("results/small/../../x"), "leads out of its folder"),
    "a record of another experiment": (record_named("results/other/summary.md"), "is on no list of results"),
    "a record of a script": (record_named("scripts/evaluation/score.py"), "is on no list of results"),
    "a record of nothing in it": (record_named("results/small/meta/new.json"), "is not a file of the archive"),
    "a log elsewhere": (metric_record(log=["/etc/passwd"]), "the log '/etc/passwd' is not in a folder of logs"),
    "a log in the home": (metric_record(log=["~/.ssh/id_rsa"]), "is not in a folder of logs"),
    "a log above": (metric_record(log=["results/small/logs/../../../x"]), "is not in a folder of logs"),
    "an unknown key": (metric_record(pickle="x"), "unknown key 'pickle'"),
    "an end in the future": (metric_record(endtime=4e9), "endtime: 4000000000.0 is not a time"),
    "an end before the start": (metric_record(endtime=1e9), "ended before it started"),
    "an end as text": (metric_record(endtime="now"), "endtime: 'now' is not a time"),
    "an end that is true": (metric_record(endtime=True), "is not a time"),
    "inputs of another type": (metric_record(input="x"), "is not a list"),
    "params of another type": (metric_record(params=[{}]), "is not text"),
    "checksums of another type": (metric_record(input_checksums=[1]), "is not a mapping"),
    "no records": (lambda state: state.pop("records"), "key 'records' is missing"),
    "no configuration": (lambda state: state.update(config_files=[]), "config_files: is empty"),
    "a configuration that is not there": (lambda state: state.update(config_files=["other.yaml"]), "other.yaml"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "said"), BAD_STATES.values(), ids=BAD_STATES)
def test_records_for_snakemake_are_those_that_a_run_leaves(tmp_path, change, said):
    state = record(small().files, layout.STATE)
    change(state)
    made = crafted.unpacked(with_record(small().files, layout.STATE, state), tmp_path / "a")
    clone = crafted.clone(tmp_path / "clone")
    before = crafted.listing(clone)
    with refused(said):
        resume(tmp_path / "a", Clone(clone), made, True)
    assert crafted.listing(clone) == before


RECORDS = [layout.JOBS, layout.STATE, layout.ORIGIN, layout.IDENTITIES]
NO_RECORDS = {"empty": b"", "no JSON": b"{", "a number": b"5", "NaN": b"[NaN]", "binary": b"\xff\xfe", "deep": b"[" * 100_000, "twice": b'{"a": 1, "a": 2}',
              "huge": b"[1" + b"0" * 5000 + b"]", "absent": None}  # fmt: skip


@pytest.mark.parametrize("content", NO_RECORDS.values(), ids=NO_RECORDS)
@pytest.mark.parametrize("name", RECORDS)
def test_records_that_are_none_are_one_line(tmp_path, name, content):
    files = {key: one for key, one in small().files.items() if key != name} | (
        {} if content is None else {name: content}
    )
    crafted.unpacked(files, tmp_path)
    with refused(name):
        verdicts(tmp_path, crafted.forged_manifest(files), True)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"5", b"\xff", b"[" * 100_000, b'{"format": 1}', b'{"format": "ranktrial-archive/2"}']
)
def test_a_manifest_that_is_none_is_one_line(tmp_path, content):
    (tmp_path / layout.MANIFEST).write_bytes(content)
    (tmp_path / layout.SEAL).write_text(seal(content))
    with refused("manifest.json" if b"archive/1" in content else ""):
        check(tmp_path)
