"""The settings of one fine-tuning: the model's kind and how it is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from scripts.models.losses import REGULARIZERS
from scripts.models.teaching import KEYS


@dataclass(frozen=True)
class Settings:
    """What fine_tune.py is given. All but micro-batch, gpus and nodes decides the weights."""

    type: Annotated[str, "kind of the model"]
    max_length: Annotated[int, "tokens that the model keeps of a text or of a pair"]
    loss: Annotated[str, "a loss of sentence-transformers that fits the kind, or auto"]
    epochs: Annotated[float, "passes through the training set, also parts of one"]
    batch_size: Annotated[int, "rows of the training set a step"]
    learning_rate: Annotated[float, "the highest of the schedule"]
    warmup: Annotated[float, "share of the steps in which the learning rate rises"]
    schedule: Annotated[Literal["linear", "cosine", "constant"], "what the learning rate does after the warm-up"]
    weight_decay: Annotated[float, "of AdamW"]
    checkpoint_steps: Annotated[int, "steps between checkpoints from which a killed training goes on"]
    seed: Annotated[int, "of fresh weights, of the batches' order and of dropout"]
    micro_batch: Annotated[int | None, "texts that pass at once; null: the whole batch while memory lasts"] = None
    head_learning_rate: Annotated[float | None, "the highest of the prediction head's; null: that of all"] = None
    margin: Annotated[float | None, "of a loss that has one; null: its own default"] = None
    document_regularizer_weight: Annotated[float | None, "of SpladeLoss, for documents; null: its own default"] = None
    query_regularizer_weight: Annotated[float | None, "of SpladeLoss, for queries; null: its own default"] = None
    teacher: Annotated[str | None, "the system whose scores are learnt from; null: there is none"] = None
    temperature: Annotated[float | None, "of a loss of distributions with a teacher; null: its own default"] = None
    scale: Annotated[float | None, "of similarities before a teacher's scores; null: 20 of cosines, else 1"] = None
    datasets: Annotated[list[str] | None, "the names of several that are learnt from; null: there is one"] = None
    multi_dataset_batch_sampler: Annotated[
        Literal["proportional", "round_robin"], "how batches of several datasets follow one another"
    ] = "proportional"
    draw: Annotated[Literal["once", "epoch"], "epoch: each epoch has rows of its own"] = "once"
    max_query_length: Annotated[int | None, "tokens kept of a query, before it is paired; null: no limit"] = None
    max_document_length: Annotated[int | None, "tokens kept of a document, before it is paired"] = None
    lora: Annotated[dict[str, Any] | None, "the adapter to train, by peft's keys and merge; null: all weights"] = None
    gradient_checkpointing: Annotated[bool, "layers' activations are computed again instead of kept"] = False
    precision: Annotated[Literal["fp32", "bf16"] | None, "of products of matrices; null: as the device computes"] = None
    matryoshka_dims: Annotated[list[int] | None, "the loss is a sum over vectors of these first dimensions"] = None
    prompts: Annotated[dict[str, str] | None, "put before texts, by role; null: those that the model stores"] = None
    long_documents: Annotated[Literal["passages"] | None, "passages: corpus and queries are files of passages"] = None
    evaluate: Annotated[dict[str, Any] | None, "how it is evaluated on dev; see dev_evaluation.py"] = None
    gpus: Annotated[int, "processes of each node that share the training, each with a device of its own"] = 1
    nodes: Annotated[int, "nodes of a Slurm job that share the training, with gpus processes on each"] = 1
    load_best_model_at_end: Annotated[bool, "the weights that were best on dev are kept, not the last"] = False
    early_stopping_patience: Annotated[int | None, "evaluations without a gain after which it ends"] = None
    early_stopping_threshold: Annotated[float, "the least that counts as a gain"] = 0.0

    @property
    def of_loss(self) -> dict[str, float]:
        """Extra arguments of the loss, beside its margin; empty where it keeps its own."""
        given = {name: getattr(self, name) for name in (*REGULARIZERS, *KEYS)}
        return {name: value for name, value in given.items() if value is not None}
