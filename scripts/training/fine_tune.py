"""Fine-tune a bi-encoder or a cross-encoder.

Reads a checkpoint to start from, the corpus, the training queries and the negatives; writes the trained checkpoint
(safetensors, with what loading needs), the timing and the training log (TSV: step, epoch, loss, learning_rate,
seconds, and micro_batch, the texts that passed the model at once). Corpus and queries may be files of pieces. The
folder `--resume` holds checkpoints while the training lasts: the same training, killed and started again, goes on from
the newest complete one and ends with the same weights.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_folder, atomic_text
from scripts.common.timing import write_timing
from scripts.ir.collection import pieces_of
from scripts.models.losses import SHAPES, resolve_loss
from scripts.models.neural import backbone, encode, load_bi_encoder, load_cross_encoder, precision
from scripts.training.examples import columns, read_rows, with_texts

LOG = ("step", "epoch", "loss", "learning_rate", "seconds", "micro_batch")


def read_examples(negatives: Path, corpus: Path, queries: Path, shape: str) -> dict[str, list]:
    """The columns of the training set, as texts; of pairs where the texts were split, as all pairs of their pieces."""
    rows = read_rows(negatives)
    documents = pieces_of(corpus, {name for row in rows for name in (row.positive, row.negative)})
    return with_texts(columns(rows, shape), pieces_of(queries), documents)


def load(start: Path, settings: dict):
    """The model to train; what its weights lack is drawn from the seed, and one batch warms it up."""
    from transformers import set_seed

    set_seed(settings["seed"])
    if settings["type"] == "cross-encoder":
        model = load_cross_encoder(start, settings["max_length"], fresh_head=True)
        model.predict([("warm", "up")] * settings["batch_size"], show_progress_bar=False)
    else:
        model = load_bi_encoder(start, settings["max_length"])
        encode(model, ["warm-up"] * settings["batch_size"], settings["batch_size"], "query")
    return model


def write_log(path: Path, rows: list[dict]) -> None:
    """Write the training log."""
    with atomic_text(path) as file:
        file.write("\t".join(LOG) + "\n")
        file.writelines("\t".join(str(row[name]) for name in LOG) + "\n" for row in rows)


def main() -> None:
    names = ("start", "corpus", "queries", "negatives", "checkpoint", "timing", "training-log", "resume")
    options = parser(__doc__, *names).parse_args()
    settings = options.settings
    loss = resolve_loss(settings["loss"], settings["type"], settings.get("long_documents") == "split")
    shape = SHAPES[settings["type"]][loss]
    made = read_examples(options.negatives, options.corpus, options.queries, shape)
    model = load(options.start, settings)

    from scripts.training.trainer import fingerprint, train

    weights = sorted(backbone(options.start).glob("*.safetensors"))
    outcome = train(model, made, shape, loss, settings, options.resume, fingerprint(settings, made, weights))
    with atomic_folder(options.checkpoint) as folder:
        model.save_pretrained(str(folder), create_model_card=False)
    write_log(options.training_log, outcome.rows)
    examples = len(next(iter(made.values())))
    passes = min(outcome.steps * settings["batch_size"], settings["epochs"] * examples)
    write_timing(
        options.timing,
        **settings | {"loss": loss, "micro_batch": outcome.micro_batch or settings["batch_size"]},
        examples=examples,
        steps=outcome.steps,
        resumed_at_step=outcome.resumed_at,
        seconds=outcome.seconds,
        seconds_per_step=outcome.seconds / outcome.steps,
        examples_per_second=passes / outcome.seconds,
        precision=precision(),
    )
    shutil.rmtree(options.resume, ignore_errors=True)
    last = outcome.rows[-1]["loss"]
    print(f"{outcome.steps} steps in {outcome.seconds:.1f} s, last loss {last:.4f}", file=sys.stderr)


if __name__ == "__main__":
    run(main)
