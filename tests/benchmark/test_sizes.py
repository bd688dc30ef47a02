"""`make sizes` on tiny models: each kind of job runs and has its line, never a time."""

import sys

import pytest

from tests.benchmark import inputs, sizes
from tests.support.tiny_bert import build


@pytest.mark.long
def test_each_kind_of_job_has_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "CHECKPOINT", build(tmp_path / "model", ["term1 term2 term3"], seed=1))
    for name, value in {"DOCUMENTS": 60, "TRAINING_QUERIES": 8, "SEARCHES": 2, "DEPTH": 5, "WORDS": 20}.items():
        monkeypatch.setattr(sizes, name, value)
    monkeypatch.setattr(sizes, "SIZES", {"base": sizes.Size(1, 32, 2)})
    few = [task for task in sizes.tasks() if task.tokens == 128][:4]
    monkeypatch.setattr(sizes, "tasks", lambda: iter(few))
    monkeypatch.setattr(sys, "argv", ["sizes", "--folder", str(tmp_path / "sizes")])
    sizes.main()
    lines = [line.split("\t") for line in (tmp_path / "sizes" / "sizes.tsv").read_text().splitlines()]
    assert [line[0] for line in lines] == ["train", "train", "encode", "rerank"]
    assert [line[5] for line in lines] == ["1 steps", "1 steps", "60 documents", "10 pairs"]
    assert all(line[4] == "fp32" and line[8].endswith(" GB") for line in lines)
