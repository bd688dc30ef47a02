"""Features as a user gets them: files of a section, the export, external features, and what a change makes anew."""

import json
import subprocess
import sys

import pytest

from ranktrial.ir.feature_file import feature_names, read_about, read_features
from tests.support.beir import write_beir
from tests.workflow.conftest import REPOSITORY, copy

pytestmark = pytest.mark.long

TEXTS = {
    "d1": ("Lions", "lions hunt zebras"),
    "d2": ("Tigers", "tigers swim"),
    "d3": ("Zebras", "zebras run faster than lions"),
}
LETOR = "2 qid:1 1:3 2:0.5\n0 qid:1 1:0 2:0\n"
OF = ["BM25", "BM25.title", {"BM25": {"k1": 0.9, "b": 0.4}}, "comparative_structure", {"system": "fields"}]
CONFIG = {
    "experiment": "f",
    "measures": ["nDCG@10"],
    "datasets": {"zoo": {"format": "beir", "location": "zoo"}, "theirs": {"format": "letor", "location": "letor.txt"}},
    "tasks": ["zoo", "theirs"],
    "systems": {
        "bm25": {"type": "bm25", "tasks": ["zoo"]},
        "fields": {"type": "bm25", "fields": "best", "tasks": ["zoo"]},
        "other": {"type": "external", "runs": {"theirs": "run.txt"}},
    },
    "comparisons": {},
    "features": {
        "own": {"first_stage": "bm25", "tasks": ["zoo"], "of": OF},
        "given": {"letor": {"theirs": "letor.txt"}},
    },
}
OWN, GIVEN = "results/f/features/zoo/own.parquet", "results/f/features/theirs/given.parquet"
EXPORT = "results/f/features/zoo/own.letor.txt"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    made = copy(REPOSITORY, tmp_path_factory.mktemp("features") / "ranktrial")
    documents = [{"_id": name, "title": title, "text": text} for name, (title, text) in TEXTS.items()]
    write_beir(made.folder / "zoo", documents, {"q": "lions and zebras"}, {"test": ["q\td1\t1"]})
    (made.folder / "letor.txt").write_text(LETOR)
    (made.folder / "run.txt").write_text("1 Q0 1-1 1 2.0 x\n1 Q0 1-2 2 1.0 x\n")
    made.write_config(CONFIG)
    made.run("--cores", "2", OWN, GIVEN, EXPORT)
    return made


def test_features_are_files_of_their_task(workspace):
    (rows,) = read_features(workspace.folder / OWN)
    assert feature_names(workspace.folder / OWN) == [
        *("BM25", "BM25.title", "BM25(k1=0.9;b=0.4)", "comparative_structure", "system.fields")
    ]
    assert dict(zip(rows.documents, rows.values[:, 3].tolist(), strict=True)) == {"d1": 0, "d3": 1}
    assert set(rows.documents) == {"d1", "d3"} and sorted(map(str, rows.grades)) == ["1", "None"]
    assert set(read_about(workspace.folder / OWN)["indices"]) == {"together", "best"}
    (theirs,) = read_features(workspace.folder / GIVEN)
    assert theirs.values.tolist() == [[3, 0.5], [0, 0]] and theirs.grades == [2, 0]
    assert (workspace.folder / EXPORT).read_text().splitlines()[1].partition(" ")[2].startswith("qid:1 1:")


def test_another_feature_computes_that_file_alone_anew(workspace):
    config = json.loads(json.dumps(CONFIG))
    config["features"]["own"]["of"].append("DPH")
    workspace.write_config(config, "more.yaml")
    jobs = workspace.planned("more.yaml", OWN, GIVEN, EXPORT)
    assert jobs == {"compute_features zoo own", "export_features zoo own"}


def test_a_feature_file_of_another_index_is_refused_by_the_export(workspace):
    """By hand: Snakemake itself would compute the features anew."""
    folder = workspace.folder / "results/f/bm25/zoo/term-counts"
    other = workspace.folder / "other-counts"
    other.mkdir()
    for path in sorted(folder.rglob("*")):
        target = other / path.relative_to(folder)
        target.mkdir() if path.is_dir() else target.write_bytes(path.read_bytes())
    (other / "contents" / "terms.txt").write_text(
        (other / "contents" / "terms.txt").read_text().replace("lion", "lioo")
    )
    done = subprocess.run(
        [sys.executable, "scripts/features/jobs.py", "export_features", "--features", OWN, "--terms", str(other), "--letor", "x.txt"],
        cwd=workspace.folder, env={"PYTHONPATH": "."}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1 and "own.parquet: its features were computed from another index" in done.stderr
    assert not (workspace.folder / "x.txt").exists()
