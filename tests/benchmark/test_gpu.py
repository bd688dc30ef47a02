"""`make benchmark-gpu` on a processor and tiny models: each task and side has its line, and ours agrees; never a time."""

import sys

import pytest

from tests.benchmark import gpu, inputs
from tests.support.tiny_bert import build


@pytest.mark.long
def test_each_side_of_each_task_has_its_line(tmp_path, monkeypatch):
    texts = [" ".join(f"term{(n * k) % 29}" for k in range(1, 12 + n % 7)) for n in range(40)]
    monkeypatch.setattr(inputs, "CHECKPOINT", build(tmp_path / "model", texts, seed=1))
    monkeypatch.setattr(inputs, "documents", lambda: texts)
    monkeypatch.setattr(inputs, "queries", lambda split="test": texts[:9])
    monkeypatch.setattr(sys, "argv", ["gpu", "--small", "--repeats", "1", "--folder", str(tmp_path / "gpu")])
    gpu.main()
    lines = [line.split("\t") for line in (tmp_path / "gpu" / "gpu.tsv").read_text().splitlines()]
    tasks = ["train a bi-encoder", "train a cross-encoder", "encode", "re-rank", "search"]
    assert [line[0] for line in lines] == [task for task in tasks for _ in range(2)]
    assert [line[2] for line in lines][1::2] == ["ours"] * 5
    assert float(lines[5][10].removeprefix("mean cosine ")) > 0.99999
    assert float(lines[7][10].removeprefix("correlation ")) > 0.99999
    assert lines[9][10].startswith("1000.00 of 1000")
