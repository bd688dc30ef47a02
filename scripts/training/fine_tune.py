"""Fine-tune a model of any kind that can be trained (see scripts/models/adapters.py).

Reads a checkpoint to start from, the corpus, the training queries and the negatives; writes the trained checkpoint
(safetensors, with what loading needs), the timing and the training log (TSV: step, epoch, loss, learning_rate,
seconds, and micro_batch, the texts that passed the model at once; head_learning_rate where the head has its own, and
the measure where it is evaluated on dev: then BM25's run of the dev queries, these and their judgements are read too).
Corpus and queries may be files of passages. With a teacher it also reads its scores of the examples, from which the
model then learns. Of several datasets there are as many corpora, queries, negatives and scores, in one order. The
folder `--resume` holds checkpoints while the training lasts: the same training, killed and started again, goes on from
the newest complete one and ends with the same weights.
"""

from __future__ import annotations

import shutil
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.common import plugins
from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.files import atomic_folder, atomic_text
from scripts.common.keys import stated
from scripts.common.timing import Seconds, write_timing
from scripts.ir.collection import passages_of
from scripts.models import lora
from scripts.models.adapters import Adapter, adapter
from scripts.models.cutting import Cut, cut_columns, cutter, tokenizer_of
from scripts.models.freezing import freeze_encoder
from scripts.models.kernels import choose
from scripts.models.loaded import load_prompted
from scripts.models.loading import routed_modules
from scripts.models.losses import LISTS, resolve_loss, shape_of
from scripts.models.prompts import fact, of_datasets, prompts_of
from scripts.models.running import computed_in, import_library, training_precision
from scripts.training.examples import Table, columns_of, read_table, with_texts
from scripts.training.in_batch import NOTHING_APART, excluded_texts, joined
from scripts.training.processes import first, together
from scripts.training.taught import WITHOUT_SCORES, labelled_by
from scripts.training.training_settings import Settings

if TYPE_CHECKING:
    from scripts.training.trainer import Outcome

LOG = ("step", "epoch", "loss", "learning_rate", "seconds", "micro_batch")


def read_examples(table: Table, corpus: Path, queries: Path, shape: str, scores: Path | None = None) -> dict[str, list]:
    """The columns of the training set, as texts, labelled by the scores of a teacher where the shape has such.

    If texts were split, a pair becomes all pairs of their passages.
    """
    documents = passages_of(corpus, {name for row in table.rows for name in (row.positive, row.negative)})
    by_id = columns_of(table, WITHOUT_SCORES.get(shape, shape))
    if scores is not None:
        by_id = labelled_by(by_id, scores)
    return with_texts(by_id, passages_of(queries), documents)


def load(start: Path, settings: Settings):
    """The model to train; what its weights lack is drawn from the seed, and one batch warms it up."""
    import_library()
    from transformers import set_seed

    from scripts.models.trained_products import train_fast

    choose(settings.kernels)
    kind = adapter(settings.type)
    set_seed(settings.seed)
    model = load_prompted(kind, start, settings, to_train=True)
    if settings.prompts_by_dataset:
        model.prompts.update(of_datasets(settings.datasets or (), settings.prompts_by_dataset))
    if model.new_modules and first():
        print(f"{start}: new, drawn from seed {settings.seed}: {', '.join(model.new_modules)}", file=sys.stderr)
    if lora.is_adapted(model):  # a training that starts from an adapter starts from what it makes of its base
        lora.merge(model)
    head = kind.training().head
    if settings.freeze:
        freeze_encoder(model, head(model) if head else (), model.new_modules.values())
    if settings.lora:
        if routed_modules(model):
            raise UserError("lora: a model whose queries pass modules of their own takes none; leave it out")
        lora.add(model, settings.lora, model.new_modules.values(), head(model) if head else ())
    train_fast(model)
    kind.warm_up(model, settings.batch_size)
    return model


def write_log(path: Path, rows: list[dict]) -> None:
    """Write the training log."""
    columns = [*LOG, *(name for name in rows[0] if name not in LOG)]
    with atomic_text(path) as file:
        file.write("\t".join(columns) + "\n")
        file.writelines("\t".join(str(row[name]) for name in columns) + "\n" for row in rows)


def evaluated_by(options: Namespace, settings: Settings) -> Any:
    """The DevSet that the model is evaluated by while it is trained; None if it is not.

    Its module is loaded by name, so that the code of measures is none of a training that computes none (its rule says).
    """
    if settings.evaluate is None:
        return None
    module = plugins.load("scripts.training", "dev_evaluation")
    files = (*options.dev_run, *options.dev_queries, *options.dev_qrels, *options.corpus)
    return module.read_dev_set(*files, settings.evaluate)


def facts_by_dataset(
    settings: Settings, tables: list[Table], rows: list[int], reached: list[int]
) -> dict[str, dict[str, int]]:
    """Of several datasets each one's queries, examples, and how many of these an epoch learns from."""
    facts = zip(settings.datasets or [], tables, rows, reached, strict=bool(settings.datasets))
    return {
        name: {"queries": table.queries, "examples": count, "examples_per_epoch": seen}
        for name, table, count, seen in facts
    }


def seconds_of(seconds: Seconds, gpus: int, nodes: int) -> Seconds:
    """The seconds; without the joules of what was not counted: further graphics cards, and other nodes."""
    counted = {name: value for name, value in seconds.joules.items() if nodes == 1 and (gpus == 1 or name != "gpu")}
    return Seconds(float(seconds), counted)


def main() -> None:
    files = ("corpus*", "queries*", "negatives*", "scores*")
    of_dev = ("dev-run*", "dev-queries*", "dev-qrels*")
    written = ("checkpoint", "timing", "training-log", "resume")
    options = parser(__doc__, "start", *files, *of_dev, *written, settings=Settings).parse_args()
    with together(options.settings.gpus, "scripts.training.fine_tune", options.settings.nodes):
        fine_tune(options)


def fine_tune(options: Namespace) -> None:
    """Train as the options say; of several processes the first alone writes."""
    settings: Settings = options.settings
    tables = [read_table(path) for path in options.negatives]
    loss, shape = loss_and_shape(settings, bool(options.scores))
    columns = texts_of(options, tables, shape)
    dev = evaluated_by(options, settings)
    model = load(options.start, settings)
    kind = adapter(settings.type)
    prompts = {} if settings.prompts_by_dataset else prompts_of(kind, model)
    cut = cutter_of(kind, model, settings)
    columns = [cut_columns(one, cut) for one in columns]
    sets = zip(tables, options.corpus, options.queries, strict=True)
    apart = joined(excluded_texts(*one, cut) for one in sets) if shape == LISTS else NOTHING_APART

    from scripts.training import several
    from scripts.training.checkpoints import fingerprint
    from scripts.training.trainer import train

    rows = several.rows_of(columns, settings)
    reached = several.reached(rows, settings)
    by_dataset = facts_by_dataset(settings, tables, rows, reached)
    for name, facts in by_dataset.items():
        print(f"{name}: {', '.join(f'{count} {what}' for what, count in facts.items())}", file=sys.stderr)
    weights = sorted(options.start.rglob("*.safetensors"))
    decisive = [*columns, dict(apart)] if apart else columns
    mark = fingerprint(settings, decisive, weights, prompts, dev.fingerprint if dev else None)
    evaluations = dev.evaluations(kind, model, settings) if dev else None
    outcome = train(model, columns, shape, loss, settings, options.resume, mark, evaluations, apart)
    if first():
        examples = examples_of(tables, sum(rows), by_dataset)
        write(options, model, prompts, loss, examples, settings.epochs * sum(reached), outcome)


def cutter_of(kind: Adapter, model: Any, settings: Settings) -> Cut | None:
    """What cuts texts, which leaves room for the prompts of each dataset."""
    cut, stored = None, prompts_of(kind, model)
    for prompts in settings.prompts_by_dataset or ({},):
        cut = cutter(tokenizer_of(kind, model), settings, in_pairs=not kind.SEARCHES, prompts=stored | prompts)
    return cut


def loss_and_shape(settings: Settings, scored: bool) -> tuple[str, str]:
    """The loss and the shape of its examples. Raises UserError for a teacher without scores, or scores without one."""
    taught = settings.teacher is not None
    if taught != scored:
        raise UserError("a teacher and its --scores go together: give both or none")
    loss = resolve_loss(settings.loss, settings.type, settings.long_documents == "passages", taught)
    return loss, shape_of(loss, settings.type, taught)


def texts_of(options: Namespace, tables: list[Table], shape: str) -> list[dict[str, list]]:
    """The columns of each dataset's training set."""
    scores = [[path] for path in options.scores] or [[] for _ in tables]
    sources = zip(tables, options.corpus, options.queries, scores, strict=True)
    return [read_examples(table, corpus, queries, shape, *by) for table, corpus, queries, by in sources]


def examples_of(tables: list[Table], examples: int, by_dataset: dict[str, dict[str, int]]) -> dict[str, Any]:
    """What a timing says of the training set."""
    counted = [table.without_candidate for table in tables if table.without_candidate is not None]
    return {
        "queries": sum(table.queries for table in tables),
        **({"queries_without_candidate": sum(counted)} if counted else {}),
        "examples": examples,
        **({"by_dataset": by_dataset} if by_dataset else {}),
    }


def write(
    options: Namespace, model, prompts: Any, loss: str, examples: dict[str, Any], passes: float, outcome: Outcome
) -> None:
    """Write checkpoint, log and timing; `passes` is how many examples all epochs have, the last of them whole."""
    settings: Settings = options.settings
    counts = lora.counts(model)
    with atomic_folder(options.checkpoint) as folder:
        saved = lora.save(model, folder, options.start, merged=bool(settings.lora and settings.lora.merge))
    write_log(options.training_log, outcome.rows)
    passed = min(outcome.steps * settings.batch_size, passes)
    write_timing(
        options.timing,
        **(stated(with_scale(settings, model), "prompts") | fact(prompts))
        | {"loss": loss, "micro_batch": outcome.micro_batch or settings.batch_size}
        | computed_in(model)
        | {"precision": training_precision(settings.precision)}
        | ({"new_modules": [*model.new_modules]} if model.new_modules else {}),
        **examples,
        steps=outcome.steps,
        resumed_at_step=outcome.resumed_at,
        seconds=seconds_of(outcome.seconds, settings.gpus, settings.nodes),
        seconds_per_step=outcome.seconds / outcome.steps,
        examples_per_second=passed / outcome.seconds,
        **outcome.evaluated,
        **counts,
        saved_bytes=saved,
    )
    shutil.rmtree(options.resume, ignore_errors=True)
    last = outcome.rows[-1]["loss"]
    print(f"{outcome.steps} steps in {outcome.seconds:.1f} s, last loss {last:.4f}", file=sys.stderr)


def with_scale(settings: Settings, model) -> Settings:
    """The settings; of a student that searches with the scale of its similarities, which only the model says."""
    if settings.teacher is None or not adapter(settings.type).SEARCHES:
        return settings
    from scripts.models.distillation import scale_of

    return replace(settings, scale=scale_of(model, settings.scale))


if __name__ == "__main__":
    run(main)
