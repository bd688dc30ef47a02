"""What models of published sizes take on this device: `python -m tests.benchmark.sizes` (make sizes) trains, encodes and
re-ranks with each by the scripts of a job, and prints seconds and peak memory.

Weights are drawn: neither time nor memory depends on their values. Texts are longer than what models keep, so that every
text and pair has all its tokens, which is the most that a batch can need.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ranktrial.ir.trec import write_run
from tests.benchmark import inputs, lucene

WORDS = 300  # of a document; each is at least two tokens
DOCUMENTS, TRAINING_QUERIES, SEARCHES, DEPTH = 10_000, 1_024, 25, 200


@dataclass(frozen=True)
class Size:
    """A BERT: its layers, width and heads."""

    layers: int
    width: int
    heads: int


RANKING, LABELS = "MultipleNegativesRankingLoss", "BinaryCrossEntropyLoss"
SIZES = {"base": Size(12, 768, 12), "large": Size(24, 1024, 16)}


@dataclass(frozen=True)
class Task:
    """One call of a script with one model."""

    name: str
    size: str
    tokens: int
    settings: dict[str, Any]

    def line(self, timing: dict[str, Any]) -> str:
        """Its line of the table."""
        settings = " ".join(f"{key} {value}" for key, value in self.settings.items())
        done = {"train": "steps", "encode": "documents", "rerank": "pairs"}[self.name]
        count = timing.get(done) or SEARCHES * DEPTH
        memory = timing["peak_gpu_bytes"] or timing["peak_rss_bytes"]
        return (
            f"{self.name}\t{self.size}\t{self.tokens}\t{settings}\t{timing['precision']}\t{count} {done}\t"
            f"{timing['seconds']:.2f} s\t{count / timing['seconds']:.1f} per second\t{memory / 1e9:.1f} GB"
        )


def tasks() -> Iterator[Task]:
    """All that is measured, in order."""
    by_tokens = {"batch_tokens": inputs.TOKENS}
    for size in SIZES:
        for tokens in (128, 512):
            yield Task("train", size, tokens, {"type": "bi-encoder", "loss": RANKING, "batch_size": 32})
            yield Task("train", size, tokens, {"type": "cross-encoder", "loss": LABELS, "batch_size": 32})
            yield Task("encode", size, tokens, {"type": "bi-encoder", "batch_size": 32, **by_tokens})
            yield Task("rerank", size, tokens, {"type": "cross-encoder", "batch_size": 32, **by_tokens})
    yield Task("encode", "base", 128, {"type": "bi-encoder", "batch_size": 32})
    yield Task("rerank", "base", 128, {"type": "cross-encoder", "batch_size": 32})
    for groups in ({}, {"micro_batch": 32}):
        yield Task("train", "base", 512, {"type": "bi-encoder", "loss": RANKING, "batch_size": 256, **groups})


def write_texts(folder: Path) -> None:
    """A corpus, training queries with a relevant document each and negatives, and a run to re-rank."""
    from ranktrial.ir.collection import Document, write_corpus

    folder.mkdir(parents=True, exist_ok=True)
    texts = lucene.texts(DOCUMENTS, WORDS, seed=1)
    write_corpus(folder / "corpus.jsonl", (Document(f"d{n}", "", text) for n, text in enumerate(texts)))
    asked = list(lucene.texts(TRAINING_QUERIES, WORDS, seed=2))
    lines = [json.dumps({"_id": f"q{n}", "text": text}) for n, text in enumerate(asked)]
    (folder / "queries.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "test.jsonl").write_text("\n".join(lines[:SEARCHES]) + "\n")
    qrels = [f"q{n} 0 d{n} 1" for n in range(TRAINING_QUERIES)]
    (folder / "train.qrels").write_text("\n".join(qrels) + "\n")
    (folder / "none.qrels").write_text("")
    found = {f"q{n}": {f"d{n + DEPTH * n + k}": float(DEPTH - k) for k in range(DEPTH)} for n in range(SEARCHES)}
    write_run(folder / "first.trec.gz", found, "first")


def build(folder: Path, kind: str, size: Size) -> None:
    """A BERT of that size with drawn weights and the tokenizer of the benchmark's model."""
    from ranktrial.models import loading  # noqa: F401, I001 - first: it sets what the libraries read while they are imported
    import torch
    import transformers

    from ranktrial.models.adapters import adapter

    config = transformers.BertConfig(
        hidden_size=size.width, num_hidden_layers=size.layers, num_attention_heads=size.heads,
        intermediate_size=4 * size.width,
    )  # fmt: skip
    torch.manual_seed(1)
    plain = folder.with_name(folder.name + "-plain")
    transformers.BertModel(config).save_pretrained(plain)
    transformers.AutoTokenizer.from_pretrained(inputs.checkpoint()).save_pretrained(plain)
    if kind == "bi-encoder":
        shutil.copytree(plain, folder)
        shutil.copytree(inputs.checkpoint() / "1_Pooling", folder / "1_Pooling")
        modules = [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        ]
        (folder / "modules.json").write_text(json.dumps(modules))
        pooling = {"word_embedding_dimension": size.width, "pooling_mode_mean_tokens": True}
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    else:
        adapter(kind).load(plain, 512, to_train=True).save_pretrained(str(folder), create_model_card=False)


def command(task: Task, texts: Path, model: Path, out: Path) -> list[str]:
    """What a job of the workflow would call."""
    files: dict[str, Path] = {"corpus": texts / "corpus.jsonl", "timing": out / "timing.json"}
    settings = {"max_length": task.tokens, **task.settings}
    if task.name == "train":
        script = "training/fine_tune.py"
        settings = {
            "epochs": 1, "learning_rate": 1e-5, "warmup": 0.1, "weight_decay": 0.01, "checkpoint_steps": 100_000,
            "seed": 1, **settings,
        }  # fmt: skip
        files |= {"start": model, "queries": texts / "queries.jsonl", "negatives": texts / "negatives.tsv",
                  "checkpoint": out / "trained", "training-log": out / "log.tsv"}  # fmt: skip
    elif task.name == "encode":
        script, files = "inference/encode.py", files | {"checkpoint": model, "index": out / "index"}
    else:
        script = "inference/rerank.py"
        settings |= {"depth": DEPTH, "tag": "sizes", "backend": "torch"}
        files |= {"checkpoint": model, "queries": texts / "test.jsonl", "first-stage": texts / "first.trec.gz",
                  "run": out / "run.trec.gz"}  # fmt: skip
    options = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    return [f"scripts/{script}", *options, "--settings", json.dumps(settings)]


def draw_negatives(texts: Path) -> None:
    """One random negative for each training query, as the workflow draws it."""
    settings = {
        "labels": "human", "queries": "all", "exclude_evaluation": True, "seed": 1, "from": "random", "per_query": 1,
    }  # fmt: skip
    files = {
        "corpus": "corpus.jsonl", "queries": "queries.jsonl", "qrels": "train.qrels", "evaluation-qrels": "none.qrels",
        "negatives": "negatives.tsv",
    }  # fmt: skip
    options = [word for name, file in files.items() for word in (f"--{name}", str(texts / file))]
    lucene.run([sys.executable, "scripts/training/negatives.py", *options, "--settings", json.dumps(settings)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("results/sizes"), help="for texts, models and the table")
    options = parser.parse_args()
    folder: Path = options.folder.absolute()
    shutil.rmtree(folder, ignore_errors=True)
    write_texts(folder / "texts")
    draw_negatives(folder / "texts")
    out = folder / "out"
    for task in tasks():
        model = folder / f"{task.settings['type']}-{task.size}"
        if not model.is_dir():
            build(model, task.settings["type"], SIZES[task.size])
        out.mkdir()
        try:
            lucene.run([sys.executable, *command(task, folder / "texts", model, out)])
            line = task.line(json.loads((out / "timing.json").read_text()))
        except RuntimeError as error:
            line = f"{task.name}\t{task.size}\t{task.tokens}\t{task.settings}\t{error}"
        with open(folder / "sizes.tsv", "a") as file:
            file.write(line + "\n")
        print(line, flush=True)
        shutil.rmtree(out)


if __name__ == "__main__":
    main()
