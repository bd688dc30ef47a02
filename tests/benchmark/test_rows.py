"""The benchmark's rows on small inputs: both sides run and agree, and a result that is wrong is found. Never a time."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ranktrial.models import loading  # noqa: F401 - first: it sets what the libraries read while they are imported
from tests.benchmark import inputs, limits
from tests.benchmark import row as benchmark_row
from tests.benchmark.__main__ import main
from tests.benchmark.limits import copy_rate, of_encoder, product_rate
from tests.benchmark.pairing import compare
from tests.benchmark.row import lacking, names, row
from tests.support.tiny_bert import build

pytestmark = pytest.mark.long

TEXTS = [f"the price of oats in august {number} ash elm fig rain" for number in range(120)]


@pytest.fixture
def small_inputs(tmp_path, monkeypatch) -> Path:
    """A tiny model and texts where the default experiment's would be."""
    monkeypatch.setattr(inputs, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(inputs, "CHECKPOINT", build(tmp_path / "model", TEXTS, seed=1))
    monkeypatch.setattr(inputs, "MAX_LENGTH", 24)
    questions = {f"q{number}": f"oats {number}" for number in range(40)}
    for domain in inputs.DOMAINS:
        data = tmp_path / "results" / "data" / domain
        (data / "queries").mkdir(parents=True)
        (data / "qrels").mkdir()
        with open(data / "corpus.jsonl", "w") as file:
            for number, text in enumerate(TEXTS):
                file.write(json.dumps({"_id": f"d{number}", "title": "", "text": text}) + "\n")
        for split in ("train", "test"):
            lines = [json.dumps({"_id": name, "text": text}) + "\n" for name, text in questions.items()]
            (data / "queries" / f"{split}.jsonl").write_text("".join(lines))
        judged = [f"{name} 0 d{number} 1\n" for number, name in enumerate(questions)]
        for split in ("train", "test"):
            (data / "qrels" / f"{split}.qrels").write_text("".join(judged))
    folder = tmp_path / "row"
    folder.mkdir()
    return folder


WRONG = {  # what is added to a right result
    "encoding": {"vectors": 0.01},
    "reranking": {"scores": np.array([0.0, 1.0] * 50)},
    "exact_search": {"scores": 0.01},
    "feeding": {"tokens": 1},
    "scoring": {"run-0.trec.gz": 1e-5},
    "scoring_ranx": {"run-0.trec.gz": 1e-5},
    "randomisation": {"p": np.array([0.5, 0.0])},
    "comparisons": {"summaries": 1e-6},
    "training": {"losses": 5.0},
    "training_quality": {"quality": 0.5},
    "training_cross_encoder": {"losses": 5.0},
    "reranking_base": {"scores": np.array([0.0, 1.0] * 10)},
    "forest": {"drawn": 1e-6},
    "bm25_index": {"documents": 1},
    "bm25_index_one_thread": {"documents": 1},
}
SLOW = {("reranking", "ours, int8"), ("reranking_base", "ours, int8")}  # an export takes long, and another row has one


@pytest.mark.parametrize("name", names())
def test_both_sides_do_the_same_and_a_wrong_result_is_found(name, small_inputs):
    module = row(name)
    if why := lacking(module):
        pytest.skip(why)
    assert module.TITLE and module.UNIT and module.prepare(small_inputs, small=True) > 0
    sides = {side: ready for side, ready in module.SIDES.items() if (name, side) not in SLOW}
    results = {side: ready(small_inputs)() for side, ready in sides.items()}
    first, *others = results
    assert first == "plain" and others[0] == "ours"
    for side in others:
        assert module.agree(side, results[first], results[side])
    if name in WRONG:
        wrong = {key: value + WRONG[name].get(key, 0) for key, value in results[first].items()}
        with pytest.raises(AssertionError):
            module.agree("ours", results[first], wrong)
    if hasattr(module, "operations"):
        assert module.operations(small_inputs) > 1e6


def test_on_the_same_batches_a_cross_encoder_gets_the_weights_that_the_library_gives_it(small_inputs, monkeypatch):
    """One batch an epoch, without dropout: nothing is left to chance, so quality is that of the documentation's example."""
    rate, epochs = 1e-2, 5
    module = row("training_cross_encoder")
    for key, value in {"RATE": rate, "BATCH": 32, "EPOCHS": epochs}.items():
        monkeypatch.setattr(row("training"), key, value)
    module.prepare(small_inputs, small=True)
    config = small_inputs / "model" / "config.json"
    dropout = dict.fromkeys(("hidden_dropout_prob", "attention_probs_dropout_prob"), 0.0)
    config.write_text(json.dumps(json.loads(config.read_text()) | dropout))
    weights, losses = [], []
    for by in (module.by_library, module.by_us):
        model, train = by(small_inputs)
        before = {name: value.clone() for name, value in model.state_dict().items()}
        losses.append(train())
        weights.append(model.state_dict())
        moved = max((value - before[name]).abs().max() for name, value in weights[-1].items())
        assert moved > rate and len(losses[-1]) == epochs
    assert np.abs(losses[0] - losses[1]).max() < 1e-4  # the library rounds those that it logs
    # Gradients of the keys' biases are rounding alone, of which Adam makes whole steps.
    kept = [name for name in weights[0] if "key.bias" not in name]
    assert max((weights[0][name] - weights[1][name]).abs().max() for name in kept) < rate / 100


def test_operations_of_an_encoder_by_hand(tmp_path):
    sizes = {"hidden_size": 4, "intermediate_size": 16, "num_hidden_layers": 2}
    (tmp_path / "config.json").write_text(json.dumps(sizes))
    one_token = 2 * (4 * 16 + 2 * 64)  # four products of 4 x 4 and two of 4 x 16
    of_three = 3 * (one_token + 4 * 4 * 3)  # each token with three others, for weights and for sums
    assert of_encoder(tmp_path, [3]) == 2 * of_three
    assert of_encoder(tmp_path, [3, 3]) == 4 * of_three


def test_sides_take_turns_in_processes_of_their_own(tmp_path):
    module = row("comparisons")
    module.prepare(tmp_path, small=True)
    measured = compare("comparisons", module, tmp_path, repeats=2)
    assert list(measured) == ["plain", "ours"] and measured["ours"].agreement
    for side in measured.values():
        assert len(side.runs) == 2 and min(side.runs) <= side.seconds <= max(side.runs)
        assert side.peak_rss_bytes > 10e6


def test_a_row_that_repeats_its_work_runs_once(tmp_path, monkeypatch):
    module = row("comparisons")
    module.prepare(tmp_path, small=True)
    monkeypatch.setattr(module, "ONCE", True, raising=False)
    assert [len(side.runs) for side in compare("comparisons", module, tmp_path, repeats=3).values()] == [1, 1]


def test_the_command_writes_its_table_and_refuses_what_it_does_not_know(tmp_path):
    command = [sys.executable, "-m", "tests.benchmark", "--small", "--repeats", "1", "--folder", str(tmp_path)]
    root = Path(__file__).parents[2]
    done = subprocess.run([*command, "comparisons"], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert [line[:2] for line in lines] == [["row", "side"], ["comparisons", "plain"], ["comparisons", "ours"]]
    reported = json.loads((tmp_path / "benchmark.json").read_text())
    assert reported["small"] and [line["side"] for line in reported["rows"]] == ["plain", "ours"]
    assert reported["machine"]["processor"]
    refused = subprocess.run([*command, "comparison"], cwd=root, capture_output=True, text=True)
    assert refused.returncode == 1 and refused.stderr.startswith(
        "error: unknown row 'comparison'; expected one of bm25"
    )
    assert len(refused.stderr.splitlines()) == 1


def test_a_row_whose_package_is_absent_is_skipped_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(row("scoring_ranx"), "NEEDS", "absent_package")
    rows = ["scoring_ranx", "comparisons", "--small", "--repeats", "1", "--folder", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["benchmark", *rows])
    main()
    reported = capsys.readouterr()
    assert [line.split("\t")[0] for line in reported.out.splitlines()] == ["row", "comparisons", "comparisons"]
    (skipped,) = [line for line in reported.err.splitlines() if "scoring_ranx" in line]
    assert skipped.startswith("scoring_ranx: skipped, absent_package is not installed: .venv/bin/python -m pip install")


def test_on_a_gpu_int8_is_left_out_and_half_precision_agrees(monkeypatch):
    """What can be seen without one: which sides run there, and how nearly results of bf16 have to agree."""
    assert product_rate() > 1e8 and copy_rate() > 1e8
    for module in (limits, benchmark_row):
        monkeypatch.setattr(module, "on_gpu", lambda: True)
    for name, result in (("encoding", "vectors"), ("reranking", "scores")):
        module = row(name)
        assert benchmark_row.sides(module) == ["plain", "ours"]
        exact = np.eye(4) if name == "encoding" else np.arange(4.0)
        assert "bf16" in module.agree("ours", {result: exact}, {result: exact * (1 + 2**-12)})
        with pytest.raises(AssertionError, match="of bf16"):
            module.agree("ours", {result: exact}, {result: exact[::-1]})
