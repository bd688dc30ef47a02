"""Archives from strangers and archives that are written: paths, sizes, what is taken over, what is archived."""

import contextlib
import gzip
import json
import os
import shutil
import struct
import subprocess
import sys
import types
import zipfile
from pathlib import Path

import pytest

from scripts.archive import bounds, layout, verify
from scripts.archive.compare_archives import check_out
from scripts.archive.compare_archives import main as compare_main
from scripts.archive.confined import Confinement, strongest
from scripts.archive.integrity import check
from scripts.archive.jobs import file_sha256, read_left_out
from scripts.archive.manifest import manifest, seal
from scripts.archive.recompute import verdicts
from scripts.archive.records import Job
from scripts.archive.resume import resume
from scripts.archive.taken_over import Clone
from scripts.archive.unpack import unpack
from scripts.archive.whole import changed_outputs
from scripts.archive.zipping import write_zip
from scripts.common import ledger
from scripts.common.errors import UserError
from scripts.common.files import sha256
from tests.trust import crafted
from tests.trust.crafted import EFFECT, META, METRIC, QRELS, ROOT, RUN, record, small, with_record


def one_line(error, *words):
    assert "\n" not in str(error.value), str(error.value)
    for word in words:
        assert word in str(error.value), str(error.value)


# --- paths of an archive's choice -----------------------------------------------------------------------------------

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
    with pytest.raises(UserError) as error:
        check(folder)
    one_line(error, "manifest.json", "refused, the path")
    clone = crafted.clone(tmp_path / "clone")
    with contextlib.suppress(UserError):  # were it not checked before, what takes over would refuse it or do without it
        resume(folder, Clone(clone), made, True)
    written = [one.relative_to(clone) for one in clone.rglob("*") if one.is_file()]
    assert all(one.parts[0] in ("results", "config", "Snakefile") and b"planted" not in (clone / one).read_bytes() for one in written)
    assert not list(tmp_path.glob("*planted*")) and not Path("/tmp/ranktrial-planted").exists()


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "", "a b", "x\n", "downloads", "state", "é", "$(touch x)", 5, None, ["x"]])
def test_an_experiment_has_a_name_of_the_schema(tmp_path, name):
    text = json.dumps(crafted.forged_manifest(small().files, experiment=name)).encode()
    crafted.unpacked({layout.MANIFEST: text, layout.SEAL: seal(text).encode()}, tmp_path)
    with pytest.raises(UserError) as error:
        check(tmp_path)
    one_line(error, "experiment: ")


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
    "a record of nothing in it": (record_named("results/small/tables/new.tsv"), "is no file of the archive"),
    "a log elsewhere": (metric_record(log=["/etc/passwd"]), "the log '/etc/passwd' is in no folder of logs"),
    "a log in the home": (metric_record(log=["~/.ssh/id_rsa"]), "is in no folder of logs"),
    "a log above": (metric_record(log=["results/small/logs/../../../x"]), "is in no folder of logs"),
    "an unknown key": (metric_record(pickle="x"), "unknown key 'pickle'"),
    "an end in the future": (metric_record(endtime=4e9), "endtime: 4000000000.0 is no time"),
    "an end before the start": (metric_record(endtime=1e9), "ended before it started"),
    "an end as text": (metric_record(endtime="now"), "endtime: 'now' is no time"),
    "an end that is true": (metric_record(endtime=True), "is no time"),
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
    with pytest.raises(UserError) as error:
        resume(tmp_path / "a", Clone(clone), made, True)
    one_line(error, said)
    assert crafted.listing(clone) == before


RECORDS = [layout.JOBS, layout.STATE, layout.ORIGIN, layout.IDENTITIES]
NO_RECORDS = {"empty": b"", "no JSON": b"{", "a number": b"5", "NaN": b"[NaN]", "binary": b"\xff\xfe", "deep": b"[" * 100_000, "twice": b'{"a": 1, "a": 2}',
              "huge": b"[1" + b"0" * 5000 + b"]", "absent": None}  # fmt: skip


@pytest.mark.parametrize("content", NO_RECORDS.values(), ids=NO_RECORDS)
@pytest.mark.parametrize("name", RECORDS)
def test_records_that_are_none_are_one_line(tmp_path, name, content):
    files = {key: one for key, one in small().files.items() if key != name} | ({} if content is None else {name: content})
    crafted.unpacked(files, tmp_path)
    with pytest.raises(UserError) as error:
        verdicts(tmp_path, crafted.forged_manifest(files), ROOT, True, Confinement())
    one_line(error, name)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"5", b"\xff", b"[" * 100_000, b'{"format": 1}', b'{"format": "ranktrial-archive/1"}'])
def test_a_manifest_that_is_none_is_one_line(tmp_path, content):
    (tmp_path / layout.MANIFEST).write_bytes(content)
    (tmp_path / layout.SEAL).write_text(seal(content))
    with pytest.raises(UserError) as error:
        check(tmp_path)
    one_line(error, "manifest.json" if b"archive/1" in content else "")


# --- what is taken over ---------------------------------------------------------------------------------------------


def taken(tmp_path, clone, files=None, **how):
    made = crafted.unpacked(files or small().files, tmp_path / "a")
    return resume(tmp_path / "a", Clone(clone, how.pop("links", False)), made, how.pop("overwrite", False))


def test_an_honest_archive_is_taken_over_whole(tmp_path):
    clone = crafted.clone(tmp_path / "clone")
    written, config = taken(tmp_path, clone)
    assert config == Path("config/small.yaml") and (clone / METRIC).read_bytes() == small().files[METRIC]
    ended = record(small().files, layout.STATE)["records"][METRIC]["endtime"]
    assert os.stat(clone / METRIC).st_mtime == pytest.approx(ended, abs=1e-3)
    assert (clone / "results/state/sha256" / METRIC).read_text() == f"{sha256(clone / METRIC)}  {METRIC}\n"
    assert {path.parts[0] for path in (one.relative_to(clone) for one in clone.rglob("*"))} == {"Snakefile", "config", "results", ".snakemake"}
    assert written == len([name for name in small().files if name.startswith("results/") and "ir_metadata" not in name])


def test_a_configuration_is_never_put_over_another(tmp_path):
    clone = crafted.clone(tmp_path / "clone")
    (clone / "config/small.yaml").write_text("mine: 1\n")
    assert taken(tmp_path, clone)[1] == Path("config/small.small.yaml")
    assert (clone / "config/small.yaml").read_text() == "mine: 1\n"
    for name in ("config/small.small.yaml", "config/small.archive.yaml"):
        (clone / name).write_text("mine: 2\n")
    with pytest.raises(UserError, match="is here already and differs"):
        taken(tmp_path, clone)


@pytest.mark.parametrize("path", ["/etc/cron.d/x.yaml", "../x.yaml", "config/schema.yaml", "~/x.yaml", "Snakefile", "scripts/a/sitecustomize.py"])
def test_a_configuration_goes_into_config_only(tmp_path, path):
    state = record(small().files, layout.STATE) | {"config_files": [path]}
    files = with_record(small().files, layout.STATE, state)
    files[layout.configuration_name(path)] = files["config/small.yaml"]
    clone = crafted.clone(tmp_path / "clone")
    (clone / "config/schema.yaml").write_text("schema\n")
    place = taken(tmp_path, clone, files)[1]
    assert place.parent == Path("config") and place.suffix == ".yaml" and (clone / "config/schema.yaml").read_text() == "schema\n"
    assert (clone / "Snakefile").read_text() == "" and not list(tmp_path.glob("*.yaml"))


@pytest.mark.parametrize("name", [METRIC, "results/small/summary.md"])
def test_nothing_that_is_there_is_overwritten_unasked(tmp_path, name):
    clone = crafted.clone(tmp_path / "clone")
    (clone / name).parent.mkdir(parents=True)
    (clone / name).write_text("mine\n")
    (clone / "results/small/tables").mkdir(parents=True)
    (clone / "results/small/tables/mine.tsv").write_text("mine\n")
    before = crafted.listing(clone)
    with pytest.raises(UserError, match="differ from the archive's"):
        taken(tmp_path, clone)
    assert crafted.listing(clone) == before
    taken(tmp_path, clone, overwrite=True)
    assert (clone / name).read_bytes() == small().files[name]
    assert (clone / "results/small/tables/mine.tsv").read_text() == "mine\n"


def test_dates_of_other_files_are_left_alone(tmp_path):
    """Also of files for which an older record of another experiment states another date."""
    clone = crafted.clone(tmp_path / "clone")
    mine = clone / "results/other/summary.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    metadata = clone / "results/state/metadata"
    crafted.write_record(metadata, "results/other/summary.md", {"endtime": 1e9})
    before = mine.stat().st_mtime_ns
    taken(tmp_path, clone)
    assert mine.stat().st_mtime_ns == before


@pytest.mark.parametrize("where", ["results", "results/small", "results/small/metrics", METRIC, "config", "results/state"])
def test_links_in_the_clone_are_not_followed_unasked(tmp_path, where):
    clone, elsewhere = crafted.clone(tmp_path / "clone"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine").write_text("mine")
    shutil.rmtree(clone / where, ignore_errors=True)
    (clone / where).parent.mkdir(parents=True, exist_ok=True)
    (clone / where).symlink_to(elsewhere / "mine" if where == METRIC else elsewhere)
    before = crafted.listing(elsewhere)
    with pytest.raises(UserError) as error:
        taken(tmp_path, clone, overwrite=True)
    one_line(error, "link")
    assert crafted.listing(elsewhere) == before
    if where == "results":
        taken(tmp_path, clone, links=True)
        assert (elsewhere / METRIC.removeprefix("results/")).is_file()


@pytest.mark.parametrize(("where", "said"), [("results/small/metrics", "is no folder"), ("results/small/summary.md/x", "is no file")])
def test_a_file_where_a_folder_should_be(tmp_path, where, said):
    clone = crafted.clone(tmp_path / "clone")
    (clone / where).parent.mkdir(parents=True)
    (clone / where).write_text("mine")
    with pytest.raises(UserError) as error:
        taken(tmp_path, clone, overwrite=True)
    one_line(error, said)
    assert (clone / where).read_text() == "mine"


# --- the folder of a comparison -------------------------------------------------------------------------------------


def a_file(out):
    out.write_text("mine")


def a_link(out):
    (out.parent / "mine").mkdir()
    out.symlink_to(out.parent / "mine")


def a_folder_of_others(out):
    out.mkdir()
    (out / "comparison.md").write_text("mine")


def an_earlier_one_with_more(out):
    out.mkdir()
    (out / ".ranktrial-comparison").write_text(".ranktrial-comparison\ncomparison.md\n")
    (out / "thesis.tex").write_text("mine")


def an_earlier_one_with_a_folder(out):
    out.mkdir()
    (out / ".ranktrial-comparison").write_text("mine\n.ranktrial-comparison\n")
    (out / "mine").mkdir()


def a_linked_marker(out):
    out.mkdir()
    (out.parent / "list").write_text("thesis.tex\n")
    (out / ".ranktrial-comparison").symlink_to(out.parent / "list")


@pytest.mark.parametrize("make", [a_file, a_link, a_folder_of_others, an_earlier_one_with_more, an_earlier_one_with_a_folder, a_linked_marker])
def test_a_comparison_empties_only_its_own_folder(tmp_path, make):
    make(tmp_path / "out")
    before = crafted.listing(tmp_path)
    with pytest.raises(UserError) as error:
        check_out(tmp_path / "out")
    one_line(error, "OUT")
    assert crafted.listing(tmp_path) == before


@pytest.mark.parametrize("out", [".", "results", "results/state/x", "..", "/"])
def test_a_comparison_is_not_put_in_place_of_the_workflow(tmp_path, monkeypatch, out):
    (tmp_path / "clone").mkdir()
    monkeypatch.chdir(tmp_path / "clone")
    with pytest.raises(UserError, match="give another OUT"):
        check_out(Path(out))


@pytest.mark.parametrize("comparison", ["../../canary", "/tmp/ranktrial-planted", "a/b", ""])
@pytest.mark.parametrize("place", ["name", "task"])
def test_names_in_a_comparison_stay_names(tmp_path, monkeypatch, comparison, place):
    files = dict(small().files)
    if place == "name":
        files[layout.JOBS] = files[layout.JOBS].replace(b'"helps"', json.dumps(comparison).encode())
    else:
        files[EFFECT] = files[EFFECT].replace(b"weather", comparison.encode())
        files[META] = files[META].replace(b"weather", comparison.encode())
    a, b = crafted.resealed(files, tmp_path / "a.zip"), small().zip
    monkeypatch.setattr(sys, "argv", ["compare", "--a", str(a), "--b", str(b), "--out", str(tmp_path / "out")])
    monkeypatch.chdir(tmp_path)
    with contextlib.suppress(UserError):
        compare_main()
    assert {one.name for one in tmp_path.iterdir()} <= {"a.zip", "out"}
    assert not Path("/tmp/ranktrial-planted").exists()


def test_a_comparison_is_made_again_in_its_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        monkeypatch.setattr(sys, "argv", ["compare", "--a", str(small().zip), "--b", str(small().zip), "--out", "out"])
        compare_main()
    assert "same to the last digit" in (tmp_path / "out/comparison.md").read_text()


# --- zips that ask for too much -------------------------------------------------------------------------------------


def zipped(path, entries, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return path


def a_bomb(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("results/small/summary.md", "w") as file:
        for _ in range(100):
            file.write(bytes(1 << 20))


def many_bombs(path):
    zipped(path, [(f"results/small/tables/{n}.tsv", bytes(55 << 20)) for n in range(10)])


def twice(path):
    with pytest.warns(UserWarning, match="Duplicate"):
        zipped(path, [("README.md", "a"), ("README.md", "b")])


def upper_case(path):
    zipped(path, [("README.md", "a"), ("readme.MD", "b")])


def file_and_folder(path):
    zipped(path, [("config", "a"), ("config/x.yaml", "b")])


def a_folder(path):
    zipped(path, [("config/", "")])


def a_symbolic_link(path):
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("README.md")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")


def bzip2(path):
    zipped(path, [("README.md", "a" * 99)], zipfile.ZIP_BZIP2)


def encrypted(path):
    changed(path, b"PK\1\2", 8, struct.pack("<H", 1))


def unknown_method(path):
    changed(path, b"PK\1\2", 10, struct.pack("<H", 99))


def overlapping(path):
    """The second member's header is the first's: one content is read twice."""
    zipped(path, [("a.md", "x" * 50), ("b.md", "y" * 50)])
    content = bytearray(path.read_bytes())
    second = content.index(b"PK\1\2", content.index(b"PK\1\2") + 4)
    content[second + 42 : second + 46] = struct.pack("<L", 0)
    path.write_bytes(content)


def huge_size(path):
    changed(path, b"PK\1\2", 24, struct.pack("<L", 0xFFFFFFF0))


def many_members(path):
    changed(path, b"PK\5\6", 10, struct.pack("<H", 0xFFFF))


def no_end(path):
    zipped(path, [("README.md", "a")])
    path.write_bytes(path.read_bytes()[:-10])


def a_gap(path):
    """Bytes between the members and the directory."""
    zipped(path, [("README.md", "a")])
    content = path.read_bytes()
    start = content.index(b"PK\1\2")
    end = content.index(b"PK\5\6")
    moved = content[:start] + b"hidden" + content[start:end] + content[end : end + 16] + struct.pack("<L", start + 6) + content[end + 20 :]
    path.write_bytes(moved)


def changed(path, mark, offset, value):
    zipped(path, [("README.md", "a")])
    content = bytearray(path.read_bytes())
    place = content.index(mark) + offset
    content[place : place + len(value)] = value
    path.write_bytes(content)


ZIPS = {
    a_bomb: "more than 250 times its size", many_bombs: "more than 250 times its size", twice: "stands twice", upper_case: "upper and lower case only",
    file_and_folder: "is a file and a folder", a_folder: "is no plain file", a_symbolic_link: "is no plain file", bzip2: "packed by a method",
    encrypted: "is encrypted", unknown_method: "packed by a method", overlapping: "overlaps", huge_size: "its size",
    many_members: "damaged archive", no_end: "no end record", a_gap: "bytes that belong to no file",
}  # fmt: skip


@pytest.mark.parametrize(("make", "said"), ZIPS.items(), ids=lambda one: getattr(one, "__name__", ""))
def test_odd_zips_are_refused_before_anything_is_unpacked(tmp_path, make, said):
    make(tmp_path / "x.zip")
    with pytest.raises(UserError) as error:
        check(tmp_path / "x.zip")
    one_line(error, said)
    assert [one.name for one in tmp_path.iterdir()] == ["x.zip"]


def test_a_zip_of_more_members_than_any_experiment_has(tmp_path, monkeypatch):
    monkeypatch.setattr(bounds, "MEMBERS", 100)
    zipped(tmp_path / "x.zip", [(f"results/small/tables/{n}.tsv", "") for n in range(101)])
    with pytest.raises(UserError, match="states 101 files; at most 100"):
        check(tmp_path / "x.zip")


def test_a_directory_with_more_members_than_it_counts_is_not_read(tmp_path, monkeypatch):
    """The zip module goes by the directory's bytes and lets its count be."""
    monkeypatch.setattr(bounds, "DIRECTORY", 1000)
    zipped(tmp_path / "x.zip", [(f"results/small/tables/{n}.tsv", "") for n in range(100)])
    content = bytearray((tmp_path / "x.zip").read_bytes())
    content[-12:-10] = struct.pack("<H", 1)
    (tmp_path / "x.zip").write_bytes(content)
    with pytest.raises(UserError, match="refused"):
        check(tmp_path / "x.zip")


def test_large_incompressible_files_are_read_block_by_block(tmp_path):
    """A file that fits the limits is hashed and unpacked within little memory, whatever its size."""
    name, size = "results/small/models/m/r/seed-0/model.safetensors", 220 << 20
    big = tmp_path / "big"
    with open(big, "wb") as file:
        block = os.urandom(1 << 20)
        for _ in range(220):
            file.write(block)
    made = json.dumps(manifest({name: big}, {}, {}, "small")).encode()
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w"):
        pass
    write_zip(path, {name: big, layout.MANIFEST: made, layout.SEAL: seal(made).encode()})
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (200 << 20,) * 2); sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path; from scripts.archive.integrity import check; from scripts.archive.unpack import unpack\n"
        "found = check(Path(sys.argv[2])); unpack(Path(sys.argv[2]), Path(sys.argv[3]), found.manifest); print(found.damages)"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program, str(ROOT), str(path), str(tmp_path / "a")], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
    assert (tmp_path / "a" / name).stat().st_size == size


def test_a_run_that_unpacks_to_more_than_any_run(tmp_path):
    files = {**small().files, RUN: gzip.compress(bytes(100 << 20), 9)}
    jobs = record(files, layout.JOBS)
    made = crafted.forged_manifest(files)
    for job in jobs:
        for section in ("inputs", "outputs"):
            job[section] |= {RUN: made["files"][RUN]["sha256"]} if RUN in job[section] else {}
    crafted.unpacked(with_record(files, layout.JOBS, jobs), tmp_path)
    with pytest.raises(UserError) as error:
        verdicts(tmp_path, made, ROOT, True, Confinement())
    one_line(error, RUN, "more than 250 times its size")


def test_an_archive_that_the_disk_cannot_hold_is_refused(tmp_path):
    made = record(small().files, layout.MANIFEST)
    made["files"]["README.md"]["bytes"] = 1 << 60
    with pytest.raises(UserError, match=r"bytes; .* has .* left"):
        unpack(small().zip, tmp_path / "a", made)


def test_a_file_that_changes_between_checking_and_unpacking(tmp_path):
    made = check(small().zip).manifest
    other = crafted.resealed({**small().files, METRIC: b"other"}, tmp_path / "x.zip")
    with pytest.raises(UserError, match="changed while it was read"):
        unpack(other, tmp_path / "a", made)


@pytest.mark.parametrize("kind", ["link to a file", "link to a folder", "pipe"])
def test_an_unpacked_archive_holds_plain_files_only(tmp_path, kind):
    crafted.unpacked(small().files, tmp_path / "a")
    place = tmp_path / "a/results/small/summary.md"
    place.unlink()
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("/etc/passwd" if kind == "link to a file" else "/etc")
    assert [one for one in check(tmp_path / "a").damages if "summary.md: is " in one]


# --- running what came with an archive ------------------------------------------------------------------------------


def arguments(**changes):
    return types.SimpleNamespace(**{"sources": "archive", "trust_sources": False, "report": None} | changes)


def test_an_archives_own_sources_do_not_run_unasked(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", open(os.devnull))  # noqa: SIM115
    with pytest.raises(UserError, match="not run unasked"):
        verify.recompute(small().zip, check(small().zip).manifest, arguments())
    assert "WARNING: SOURCES=archive runs programs that came with the archive" in capsys.readouterr().out


def test_a_stranger_can_write_to_one_folder_only_and_sees_no_network_and_no_token(tmp_path, monkeypatch):
    confinement = strongest()
    if confinement.by == "nothing":
        pytest.skip("neither bubblewrap nor unshare confines anything on this system")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    script = tmp_path / "script.py"
    script.write_text(
        "import os, socket, sys, json\n"
        "said = {'token': 'HF_TOKEN' in os.environ, 'network': [n for _, n in socket.if_nameindex() if n != 'lo']}\n"
        "for name in (*sys.argv[1:], os.path.expanduser('~/x'), '/proc/1/root/tmp/x'):\n"
        "    try:\n        open(name, 'w').close()\n        said[name] = True\n    except OSError:\n        said[name] = False\n"
        "print(json.dumps(said))"
    )
    outside = tmp_path / "outside"
    outside.mkdir()
    with confinement.folder("test") as folder:
        names = [str(folder / "x"), str(outside / "x"), str(ROOT / "planted"), "/etc/planted"]
        done = subprocess.run(confinement.command([str(script), *names], folder), cwd=folder, capture_output=True, text=True,
                              env=confinement.environment(folder))  # fmt: skip
        said = json.loads(done.stdout)
    assert not said["token"] and not said["network"]
    assert [said[name] for name in names] == [True, False, False, False]
    assert not list(outside.iterdir()) and not (ROOT / "planted").exists()


def test_scripts_run_by_an_isolated_python(tmp_path):
    """Nothing is taken from the folder where they run: no module, no sitecustomize, no matplotlibrc's neighbour."""
    confinement = Confinement()
    for name in ("sitecustomize.py", "usercustomize.py", "json.py", "numpy.py"):
        (tmp_path / name).write_text("open('planted', 'w').close()\n")
    script = tmp_path / "sub/script.py"
    script.parent.mkdir()
    script.write_text("import json, numpy\nprint(json.__file__)")
    done = subprocess.run(confinement.command([str(script)], tmp_path), cwd=tmp_path, capture_output=True, text=True,
                          env=confinement.environment(tmp_path) | {"PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": "json.py"})  # fmt: skip
    assert done.returncode == 0 and str(tmp_path) not in done.stdout and not (tmp_path / "planted").exists()


def test_changed_sources_are_told(tmp_path):
    files = dict(small().files)
    for name in ("workflow/Snakefile", "workflow/rules/synthesis.smk", "workflow/scripts/evaluation/score.py", "workflow/config/schema.yaml"):
        files[name] = files[name] + b"\n# changed\n"
    crafted.unpacked(files, tmp_path)
    changed_ones = ["Snakefile", "config/schema.yaml", "rules/synthesis.smk", "scripts/evaluation/score.py"]
    assert verify.differing_sources(tmp_path, ROOT) == changed_ones


# --- archives that are written --------------------------------------------------------------------------------------


@pytest.fixture
def workspace(tmp_path):
    return Path(shutil.copytree(small().workspace, tmp_path / "workspace", symlinks=True))


WRITTEN = [RUN, QRELS, METRIC, EFFECT, META, "results/small/tables/means.tsv", "results/small/data/weather/statistics.json"]


@pytest.mark.parametrize("name", WRITTEN)
def test_results_that_lack_something_are_not_archived(workspace, name):
    (workspace / name).unlink()
    with pytest.raises(UserError) as error:
        crafted.archive(workspace, small().planned)
    one_line(error, name, "small.yaml: incomplete", "snakemake --configfile small.yaml -- ")


@pytest.mark.parametrize("name", WRITTEN)
def test_results_that_were_changed_are_not_archived(workspace, name):
    content = (workspace / name).read_bytes()
    dates = os.stat(workspace / name)
    (workspace / name).write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
    os.utime(workspace / name, ns=(dates.st_atime_ns, dates.st_mtime_ns))
    with pytest.raises(UserError) as error:
        crafted.archive(workspace, small().planned)
    one_line(error, name, "no longer what their jobs wrote", "delete them")


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


def test_data_that_was_replaced_after_the_run_is_not_told_as_what_was_read(workspace):
    (workspace / "data/weather.qrels").write_text("q1 0 d1 1\n")
    with pytest.raises(UserError) as error:
        crafted.archive(workspace, small().planned)
    one_line(error, "data/weather.qrels", "no longer what the jobs read")


@pytest.mark.parametrize("content", ["{", "[]", '{"results/small/summary.md": {"sha256": "x", "bytes": 1, "kind": "text"}}',
                                     json.dumps({METRIC: {"sha256": "0" * 64, "bytes": 1, "kind": "text"}}),
                                     json.dumps({"../x": {"sha256": "0" * 64, "bytes": 1, "kind": "text"}})])  # fmt: skip
def test_what_an_archive_left_out_is_read_strictly(workspace, content):
    (workspace / "results/small/left-out.json").write_text(content)
    with contextlib.chdir(workspace), pytest.raises(UserError) as error:
        read_left_out("small")
    one_line(error, "left-out.json")


def test_texts_cut_into_pieces_are_texts():
    assert layout.kind_of("results/small/pieces/weather/150/corpus.jsonl", "small") == "text"


def test_an_archive_tells_what_a_rewritten_file_was(workspace):
    """A home folder in a result is taken out; its job's hash is that of what the job wrote."""
    name = "results/small/logs/means.log"
    (workspace / name).write_text(f"{workspace}/x\n")
    files = crafted.archive(workspace, small().planned)
    entry = record(files, layout.MANIFEST)["files"][name]
    assert entry["written"] == sha256(workspace / name) != entry["sha256"]
