"""A dataset's job depends on the reader of its format and on all that this imports, and on no other reader."""

from tests.workflow.conftest import REPOSITORY, copy

CONFIG = {
    "experiment": "tiny",
    "datasets": {"judged": {"format": "qrels", "location": "judged.qrels"}},
    "systems": {"theirs": {"type": "external", "runs": {"judged": "theirs.trec"}}},
    "tasks": ["judged"],
}
KEPT = "from ranktrial.datasets.formats._judgements import"
HELPER = '"""What a reader needs."""\n'
PREPARED = "results/tiny/data/judged/statistics.json"


def test_what_a_reader_imports_reruns_its_datasets(tmp_path):
    workspace = copy(REPOSITORY, tmp_path / "ranktrial")
    workspace.write_config(CONFIG)
    (workspace.folder / "judged.qrels").write_text("q1 0 d1 1\n")
    (workspace.folder / "theirs.trec").write_text("q1 Q0 d1 1 0.5 theirs\n")
    formats = workspace.folder / "ranktrial/datasets/formats"
    reader, helper = formats / "qrels.py", formats / "_helper.py"
    helper.write_text(HELPER)
    needed = "from ranktrial.datasets.formats import _helper  # noqa: F401\n"
    reader.write_text(reader.read_text().replace(KEPT, f"{needed}{KEPT}", 1))
    assert needed in reader.read_text()
    workspace.run(PREPARED, "--cores", "1")
    job = "prepare_judgements judged"
    assert job not in workspace.planned()
    for path, again in ((formats / "beir.py", False), (helper, True), (reader, True)):
        before = path.read_text()
        path.write_text(before + "EDITED = True\n")
        assert (job in workspace.planned()) is again, path
        path.write_text(before)
