"""Archives from strangers: what resume writes into a clone, and where a comparison of two goes."""

import contextlib
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from ranktrial.archive import layout
from ranktrial.archive.taken_over import Clone, enter
from ranktrial.common.errors import UserError
from ranktrial.common.files import sha256
from ranktrial.common.ledger import read_entry, write_entry
from scripts.archive.compare_archives import main as compare_main
from scripts.archive.resume import resume
from tests.support import crafted
from tests.support.crafted import EFFECT, META, METRIC, record, small, with_record
from tests.support.one_line import refused


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
    assert {path.parts[0] for path in (one.relative_to(clone) for one in clone.rglob("*"))} == {
        "Snakefile",
        "config",
        "results",
        ".snakemake",
    }
    assert written == len([name for name in small().files if name.startswith("results/") and "ir_metadata" not in name])


def test_a_configuration_is_never_put_over_another(tmp_path):
    clone = crafted.clone(tmp_path / "clone")
    (clone / "config/small.yaml").write_text("mine: 1\n")
    assert taken(tmp_path, clone)[1] == Path("config/small.small.yaml")
    assert (clone / "config/small.yaml").read_text() == "mine: 1\n"
    for name in ("config/small.small.yaml", "config/small.archive.yaml"):
        (clone / name).write_text("mine: 2\n")
    with pytest.raises(UserError, match="already exists and differs"):
        taken(tmp_path, clone)


@pytest.mark.parametrize(
    "path", ["/etc/cron.d/x.yaml", "../x.yaml", "~/x.yaml", "Snakefile", "scripts/a/sitecustomize.py"]
)
def test_a_configuration_goes_into_config_only(tmp_path, path):
    state = record(small().files, layout.STATE) | {"config_files": [path]}
    files = with_record(small().files, layout.STATE, state)
    files[layout.configuration_name(path)] = files["config/small.yaml"]
    clone = crafted.clone(tmp_path / "clone")
    place = taken(tmp_path, clone, files)[1]
    assert place.parent == Path("config") and place.suffix == ".yaml"
    assert (clone / "Snakefile").read_text() == "" and not list(tmp_path.glob("*.yaml"))


@pytest.mark.parametrize("name", [METRIC, "results/small/summary.md"])
def test_nothing_that_is_there_is_overwritten_without_consent(tmp_path, name):
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


@pytest.mark.parametrize(
    "where", ["results", "results/small", "results/small/metrics", METRIC, "config", "results/state"]
)
def test_links_in_the_clone_are_not_followed_without_consent(tmp_path, where):
    clone, elsewhere = crafted.clone(tmp_path / "clone"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine").write_text("mine")
    shutil.rmtree(clone / where, ignore_errors=True)
    (clone / where).parent.mkdir(parents=True, exist_ok=True)
    (clone / where).symlink_to(elsewhere / "mine" if where == METRIC else elsewhere)
    before = crafted.listing(elsewhere)
    with refused("link"):
        taken(tmp_path, clone, overwrite=True)
    assert crafted.listing(elsewhere) == before
    if where == "results":
        taken(tmp_path, clone, links=True)
        assert (elsewhere / METRIC.removeprefix("results/")).is_file()


@pytest.mark.parametrize(
    ("where", "said"), [("results/small/metrics", "is not a folder"), ("results/small/summary.md/x", "is not a file")]
)
def test_a_file_where_a_folder_should_be(tmp_path, where, said):
    clone = crafted.clone(tmp_path / "clone")
    (clone / where).parent.mkdir(parents=True)
    (clone / where).write_text("mine")
    with refused(said):
        taken(tmp_path, clone, overwrite=True)
    assert (clone / where).read_text() == "mine"


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


@pytest.mark.parametrize(
    "make",
    [a_file, a_link, a_folder_of_others, an_earlier_one_with_more, an_earlier_one_with_a_folder, a_linked_marker],
)
def test_a_comparison_empties_only_its_own_folder(tmp_path, monkeypatch, make):
    make(tmp_path / "out")
    before = crafted.listing(tmp_path)
    monkeypatch.setattr(sys, "argv", ["compare", "--a", "a.zip", "--b", "b.zip", "--out", str(tmp_path / "out")])
    with refused("OUT"):
        compare_main()
    assert crafted.listing(tmp_path) == before


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


def test_a_folder_that_a_job_entered_as_a_whole_stays_one_entry(tmp_path):
    """As where texts that the archive left out were made again beside its judgements."""
    folder, other = tmp_path / "results/x/data", tmp_path / "results/x/tables"
    write_entry(folder, {"results/x/data/a": "0" * 64, "results/x/data/b": "0" * 64})
    enter(folder / "b", {"results/x/data/b": "1" * 64})
    assert read_entry(folder) == {"results/x/data/a": "0" * 64, "results/x/data/b": "1" * 64}
    enter(other / "c", {"results/x/tables/c": "2" * 64})
    assert read_entry(other / "c") == {"results/x/tables/c": "2" * 64}
    enter(other, {"results/x/tables/c": "3" * 64})
    assert read_entry(other) == {"results/x/tables/c": "3" * 64}
