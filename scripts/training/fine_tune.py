"""Fine-tune a model of any model type that can be trained (see ranktrial/models/adapters.py).

Reads a checkpoint to start from, the corpus, the training queries and the negatives; writes the trained checkpoint
(safetensors, with all files that loading needs), the timing and the training log. Corpus and queries may be files of
passages. With a teacher, it also reads the teacher's scores of the examples, which are then the training targets. For
several datasets, there is one corpus, queries, negatives and scores file per dataset, in the same order.

The log is a TSV with the columns step, epoch, loss, learning_rate, seconds and micro_batch (the number of texts that
pass through the model at once); also head_learning_rate if the head has its own, and the measure if the model is
evaluated on dev: BM25's run of the dev queries, the dev queries and their judgements are then read too.

The folder beside the checkpoint, `.resume`, contains checkpoints while the training runs: if the same training is
killed and started again, it resumes from the newest complete one and ends with the same weights.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ranktrial.common import plugins
from ranktrial.common.command_line import job
from ranktrial.common.digests import content_sha256
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_folder, atomic_text
from ranktrial.common.job_code import code_digest
from ranktrial.common.keys import stated
from ranktrial.common.timing import Seconds, write_timing
from ranktrial.ir.collection import passages_of
from ranktrial.models import lora
from ranktrial.models.adapters import MODEL_TYPES, Adapter, adapter
from ranktrial.models.cutting import Cut, cut_columns, cutter, tokenizer_of
from ranktrial.models.kernels import choose
from ranktrial.models.loaded import load_prompted
from ranktrial.models.loading import routed_modules
from ranktrial.models.losses import LISTS, resolve_loss, shape_of
from ranktrial.models.prompts import fact, of_datasets, prompts_of
from ranktrial.models.running import computed_in, import_library, training_precision
from ranktrial.training.examples import (
    WITHOUT_SCORES,
    Table,
    columns_of,
    joined,
    kept_apart,
    labelled_by,
    read_table,
    with_texts,
)
from ranktrial.training.processes import first, together
from ranktrial.training.tracking import check_installed
from ranktrial.training.trainer import freeze_encoder
from ranktrial.training.training_settings import Settings

if TYPE_CHECKING:
    from ranktrial.training.trainer import Outcome

LOG = ("step", "epoch", "loss", "learning_rate", "seconds", "micro_batch")
EVALUATION = ("ranktrial.training", "dev_evaluation")


def read_examples(table: Table, corpus: Path, queries: Path, shape: str, scores: Path | None = None) -> dict[str, list]:
    """The columns of the training set as texts, labelled with a teacher's scores if the shape requires it.

    If texts were split, a pair becomes all pairs of their passages.
    """
    documents = passages_of(corpus, {name for row in table.rows for name in (row.positive, row.negative)})
    by_id = columns_of(table, WITHOUT_SCORES.get(shape, shape))
    if scores is not None:
        by_id = labelled_by(by_id, scores)
    return with_texts(by_id, passages_of(queries), documents)


def load(start: Path, settings: Settings):
    """The model to train; missing weights are initialised from the seed, and one warm-up batch is passed through it."""
    import_library()
    from transformers import set_seed

    from ranktrial.models.trained_products import train_fast

    choose(settings.kernels)
    model_type = adapter(settings.type)
    set_seed(settings.seed)
    model = load_prompted(model_type, start, settings, to_train=True)
    if settings.prompts_by_dataset:
        model.prompts.update(of_datasets(settings.datasets or (), settings.prompts_by_dataset))
    if model.new_modules and first():
        print(f"{start}: new, drawn from seed {settings.seed}: {', '.join(model.new_modules)}", file=sys.stderr)
    if lora.is_adapted(model):  # training continues from the base with the adapter merged
        lora.merge(model)
    head = model_type.training().head
    if settings.freeze:
        freeze_encoder(model, head(model) if head else (), model.new_modules.values())
    if settings.lora:
        if routed_modules(model):
            raise UserError("lora: a model whose queries pass modules of their own takes none; leave it out")
        lora.add(model, settings.lora, model.new_modules.values(), head(model) if head else ())
    train_fast(model)
    model_type.warm_up(model, settings.batch_size)
    return model


def write_log(path: Path, rows: list[dict]) -> None:
    """Write the training log."""
    columns = [*LOG, *(name for name in rows[0] if name not in LOG)]
    with atomic_text(path) as file:
        file.write("\t".join(columns) + "\n")
        file.writelines("\t".join(str(row[name]) for name in columns) + "\n" for row in rows)


def evaluated_by(files: list[Path], settings: Settings) -> Any:
    """The DevSet on which the model is evaluated during training; None if it is not evaluated.

    Its module is loaded by name, so that a training without evaluation does not depend on the code of the measures (its
    rule declares the dependency).
    """
    if settings.evaluate is None:
        return None
    module = plugins.load(*EVALUATION)
    return module.read_dev_set(*files, settings.evaluate)


def code_of(settings: Settings) -> str:
    """The digest of the code of a training, as its rule has it."""
    loads = [(MODEL_TYPES, settings.type), *([EVALUATION] if settings.evaluate else [])]
    return code_digest("training/fine_tune.py", *(plugins.source(*load) for load in loads))


def facts_by_dataset(
    settings: Settings, tables: list[Table], rows: list[int], reached: list[int]
) -> dict[str, dict[str, int]]:
    """For each of several datasets, the number of queries, of examples, and of examples used per epoch."""
    facts = zip(settings.datasets or [], tables, rows, reached, strict=bool(settings.datasets))
    return {
        name: {"queries": table.queries, "examples": count, "examples_per_epoch": seen}
        for name, table, count, seen in facts
    }


def seconds_of(seconds: Seconds, gpus: int, nodes: int) -> Seconds:
    """The seconds, without the energy (joules) that would be incomplete with several GPUs or nodes."""
    counted = {name: value for name, value in seconds.joules.items() if nodes == 1 and (gpus == 1 or name != "gpu")}
    return Seconds(float(seconds), counted)


class Files(NamedTuple):
    """The files of a training; each list has one file per dataset, and those of dev are empty without an evaluation."""

    start: Path
    corpus: list[Path]
    queries: list[Path]
    negatives: list[Path]
    scores: list[Path]
    dev: list[Path]
    checkpoint: Path
    timing: Path
    training_log: Path

    @property
    def resume(self) -> Path:
        """The folder of the checkpoints from which a training is resumed."""
        return Path(f"{self.checkpoint}.resume")


def fine_tune(
    dev_run: list[Path], dev_queries: list[Path], dev_qrels: list[Path], start: Path, corpus: list[Path],
    queries: list[Path], negatives: list[Path], scores: list[Path], checkpoint: Path, timing: Path, training_log: Path,
    settings: Settings,
) -> None:  # fmt: skip
    """Fine-tune a model of any model type that can be trained (see ranktrial/models/adapters.py)."""
    check_installed()
    dev = [*dev_run, *dev_queries, *dev_qrels]
    files = Files(start, corpus, queries, negatives, scores, dev, checkpoint, timing, training_log)
    with together(settings.gpus, "scripts.training.fine_tune", settings.nodes):
        train_model(files, settings)


def train_model(files: Files, settings: Settings) -> None:
    """Train as the settings state; with several processes, only the first one writes."""
    tables = [read_table(path) for path in files.negatives]
    loss, shape = loss_and_shape(settings, bool(files.scores))
    columns = texts_of(files, tables, shape)
    dev = evaluated_by([*files.dev, *files.corpus], settings)
    model = load(files.start, settings)
    model_type = adapter(settings.type)
    prompts = {} if settings.prompts_by_dataset else prompts_of(model_type, model)
    cut = cutter_of(model_type, model, settings)
    columns = [cut_columns(one, cut) for one in columns]
    sets = zip(tables, files.corpus, files.queries, strict=True)
    relevant = settings.relevant_apart
    apart = joined(kept_apart(*one, cut, relevant) for one in sets) if shape == LISTS else None

    from ranktrial.training import several
    from ranktrial.training.checkpoints import fingerprint
    from ranktrial.training.trainer import train

    rows = several.rows_of(columns, settings)
    schedules = several.schedules(columns, settings, apart)
    by_dataset = facts_by_dataset(settings, tables, rows, several.reached(schedules, settings))
    for name, facts in by_dataset.items():
        print(f"{name}: {', '.join(f'{count} {what}' for what, count in facts.items())}", file=sys.stderr)
    decisive = [*columns, dict(apart)] if apart else columns
    start, code = content_sha256(files.start), code_of(settings)
    mark = fingerprint(settings, decisive, start, code, dev.fingerprint if dev else None)
    evaluations = dev.evaluations(model_type, model, settings) if dev else None
    outcome = train(model, columns, schedules, loss, settings, files.resume, mark, evaluations)
    if first():
        examples = examples_of(tables, sum(rows), by_dataset)
        passed = sum(several.used(schedules, settings, outcome.steps))
        write(files, settings, model, prompts, loss, examples, passed, outcome)


def cutter_of(model_type: Adapter, model: Any, settings: Settings) -> Cut | None:
    """The truncation of texts, checked to leave room for the prompts of each dataset."""
    cut, stored = None, prompts_of(model_type, model)
    for prompts in settings.prompts_by_dataset or ({},):
        cut = cutter(
            tokenizer_of(model_type, model), settings, in_pairs=not model_type.SEARCHES, prompts=stored | prompts
        )
    return cut


def loss_and_shape(settings: Settings, scored: bool) -> tuple[str, str]:
    """The loss and the shape of its examples. Raises UserError for a teacher without scores, or the reverse."""
    taught = settings.teacher is not None
    if taught != scored:
        raise UserError("a teacher and its --scores go together: give both or none")
    loss = resolve_loss(settings.loss, settings.type, settings.long_documents == "passages", taught)
    return loss, shape_of(loss, settings.type, taught)


def texts_of(files: Files, tables: list[Table], shape: str) -> list[dict[str, list]]:
    """The columns of each dataset's training set."""
    scores = [[path] for path in files.scores] or [[] for _ in tables]
    sources = zip(tables, files.corpus, files.queries, scores, strict=True)
    return [read_examples(table, corpus, queries, shape, *by) for table, corpus, queries, by in sources]


def examples_of(tables: list[Table], examples: int, by_dataset: dict[str, dict[str, int]]) -> dict[str, Any]:
    """What timings record about the training set."""
    counted = [table.without_candidate for table in tables if table.without_candidate is not None]
    return {
        "queries": sum(table.queries for table in tables),
        **({"queries_without_candidate": sum(counted)} if counted else {}),
        "examples": examples,
        **({"by_dataset": by_dataset} if by_dataset else {}),
    }


def write(
    files: Files, settings: Settings, model, prompts: Any, loss: str, examples: dict[str, Any], passed: int,
    outcome: Outcome,
) -> None:  # fmt: skip
    """Write checkpoint, log and timing; `passed` is the number of examples in all steps."""
    counts = lora.counts(model)
    with atomic_folder(files.checkpoint) as folder:
        saved = lora.save(model, folder, files.start, merged=bool(settings.lora and settings.lora.merge))
    write_log(files.training_log, outcome.rows)
    write_timing(
        files.timing,
        **(stated(with_scale(settings, model), "prompts") | fact(prompts))
        | {"loss": loss, "micro_batch": outcome.micro_batch or settings.batch_size}
        | computed_in(model)
        | {"precision": training_precision(settings.precision, model)}
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
    shutil.rmtree(files.resume, ignore_errors=True)
    last = outcome.rows[-1]["loss"]
    print(f"{outcome.steps} steps in {outcome.seconds:.1f} s, last loss {last:.4f}", file=sys.stderr)


def with_scale(settings: Settings, model) -> Settings:
    """The settings; for a student that searches, with the scale of its similarities, which depends on the model."""
    if settings.teacher is None or not adapter(settings.type).SEARCHES:
        return settings
    from ranktrial.models.distillation import scale_of

    return replace(settings, scale=scale_of(model, settings.scale))


if __name__ == "__main__":
    job(fine_tune)
