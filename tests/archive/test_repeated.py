"""How well one archive reproduces another: a run, its scores and the effect that changed, and what is the same."""

import gzip
import json
import re
from pathlib import Path

import pytest

from ranktrial.archive import layout
from ranktrial.archive.differences import Side, differences, repeated, reproduced, shared_comparisons
from ranktrial.common.errors import UserError
from ranktrial.reports.writing.printed import markdown_document
from scripts.archive.compare_archives import compare
from tests.support import crafted
from tests.support.crafted import EFFECT, METRIC, RUN, small


def unpacked(folder: Path) -> dict:
    """The crafted archive in `folder`; returns its manifest."""
    files = {name: one for name, one in small().files.items() if not name.startswith("workflow/")}
    crafted.unpacked(files, folder)
    manifest = json.loads(files[layout.MANIFEST])
    manifest["files"] = {name: entry for name, entry in manifest["files"].items() if name in files}
    return manifest


@pytest.fixture
def folders(tmp_path):
    """Two archives: in B query q0 of `ours` has its two best documents swapped, and what follows from that."""
    manifests = [unpacked(tmp_path / name) for name in "AB"]
    other = tmp_path / "B"
    lines = gzip.decompress((other / RUN).read_bytes()).decode().splitlines()
    first, second = lines[0].split(), lines[1].split()
    first[2], second[2] = second[2], first[2]
    (other / RUN).write_bytes(gzip.compress("\n".join([" ".join(first), " ".join(second), *lines[2:], ""]).encode()))
    table = (other / METRIC).read_text()
    before, after = "q0\t1.0\t", f"q0\t{0.6309297535714575}\t"
    assert before in table
    (other / METRIC).write_text(table.replace(before, after))
    return [tmp_path / "A", other], manifests


def test_measures_of_reproduction(folders):
    a, b = [Side(folder, manifest) for folder, manifest in zip(*folders, strict=True)]
    found = repeated(a, b, shared_comparisons(a, b))
    ours, theirs = sorted(found.rankings, key=lambda row: row.system)
    assert (ours.task, ours.system, ours.seed, ours.queries) == ("weather", "ours", "0", 10)
    assert ours.kendalls_tau_union == pytest.approx(
        (9 * 1 + (1 - 2 * 1 / 3)) / 10
    )  # one of three pairs is turned round
    assert theirs.kendalls_tau_union == 1 and theirs.rank_biased_overlap == 1 > ours.rank_biased_overlap
    errors = {(row.system, row.measure): row.root_mean_square_error for row in found.scores}
    assert errors["ours", "nDCG@10"] == pytest.approx((1 - 0.6309297535714575) / 10**0.5)
    assert errors["theirs", "nDCG@10"] == errors["ours", "Judged@10"] == 0
    [effect] = found.effects
    assert effect.effect_ratio == 1 and effect.delta_relative_improvement == 0  # the effects' file is the same
    page = re.sub(" +", " ", markdown_document("", reproduced(found, 20)))
    assert "2 runs are in both archives; 1 of them rank differently." in page
    assert "| weather | ours | 0 | 0.9333 |" in page and "| helps | weather | nDCG@10 | 1.0000 | 0.0000 |" in page


def test_the_comparison_holds_them(folders, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    compare(*folders, ["a", "b"], out)
    for name in ("rankings", "scores", "reproduced-effects"):
        assert len((out / f"{name}.tsv").read_text().splitlines()) > 1
    assert "## How well B reproduces A" in (out / "comparison.md").read_text()


def test_a_run_that_cannot_be_read_is_one_line(folders):
    (folders[0][1] / RUN).write_bytes(gzip.compress(b"q0 Q0 d1 1 nan ours\n"))
    a, b = [Side(folder, manifest) for folder, manifest in zip(*folders, strict=True)]
    with pytest.raises(UserError, match=f"^{RUN}:1: score 'nan' is not finite$"):
        repeated(a, b, {})


def test_an_effect_without_means_is_left_out(folders):
    path = folders[0][1] / EFFECT
    header, row = [line.split("\t") for line in path.read_text().splitlines()]
    row[header.index("control_mean")] = ""
    path.write_text("\n".join("\t".join(line) for line in (header, row)) + "\n")
    a, b = [Side(folder, manifest) for folder, manifest in zip(*folders, strict=True)]
    assert repeated(a, b, shared_comparisons(a, b)).effects == []


def test_each_file_of_the_users_own_and_each_package_beside_a_program_that_changed_is_named(folders):
    """The user's own are those whose content the settings of jobs state, whatever they are for."""
    other, changed = folders[0][1], "c" * 64
    text = (other / layout.JOBS).read_text()
    own = {path: sha256 for job in json.loads(text) for path, sha256 in job["settings"].get("sha256_of", {}).items()}
    assert own.keys() == {"data/weather.qrels", "ours.trec", "theirs.trec"}
    for name in (layout.JOBS, layout.IDENTITIES):
        text = (other / name).read_text()
        for path, sha256 in own.items():
            text = text.replace(f'"{path}": "{sha256}"', f'"{path}": "{changed}"')
        (other / name).write_text(text)
    for folder, version in zip(folders[0], ("1.0", "1.1"), strict=True):
        jobs = json.loads((folder / layout.JOBS).read_text())
        jobs[0]["settings"] = {"system": "mine", "versions": {"torch": version}}
        jobs[0]["inputs"]["rankers/rank.pl"] = version[-1] * 64
        (folder / layout.JOBS).write_text(json.dumps(jobs))
    found = {(one.section, one.what.removeprefix("datasets.weather.read.")): (one.a, one.b)
             for one in differences(*folders[0])}  # fmt: skip
    assert found == {
        ("data and models", "data/weather.qrels"): (own["data/weather.qrels"], changed),
        ("files", "ours.trec"): (own["ours.trec"], changed),
        ("files", "theirs.trec"): (own["theirs.trec"], changed),
        ("files", "rankers/rank.pl"): ("0" * 64, "1" * 64),
        ("packages", "mine: packages.torch"): ("1.0", "1.1"),
    }
