"""The keys of a training, declared once, for configurations and for the training job. Reads and writes no files.

A recipe (ranktrial/configuration/sections/recipe.py) has further keys, which state what a model learns from; the job's
settings (ranktrial/training/training_settings.py) are these keys and the model's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from ranktrial.common.keys import NULL, Count, Length, Needs, Not, Rule, Share, Size, Written

Epochs = Annotated[float, Rule(exclusive_minimum=0, maximum=100_000)]
Queries = Annotated[
    str, Rule(title="a whole number of training queries above 0, or all", pattern="^([1-9][0-9]{0,8}|all)$")
]
EpochsByQueries = Annotated[dict[Queries, Epochs], Rule(min_properties=1)]
Rate = Annotated[float, Rule(exclusive_minimum=0, maximum=10)]
Weight = Annotated[float, Rule(minimum=0, maximum=1_000_000)]
Processes = Annotated[int, Rule(minimum=1, maximum=64)]
Dimensions = Annotated[tuple[Length, ...], Rule(min_items=1, max_items=20, unique_items=True)]
LayerName = Annotated[str, Rule(title="the end of a layer's name", pattern="^[A-Za-z0-9_.]{1,200}$")]
LayerNames = Annotated[tuple[LayerName, ...], Rule(min_items=1, unique_items=True)]


@dataclass(frozen=True, kw_only=True)
class Lora:
    """A low-rank adapter, with peft's keys."""

    r: Annotated[int, "rank of the adapter", Rule(minimum=1, maximum=4096)] = 8
    lora_alpha: Annotated[Size, "scaling: the adapter's update is multiplied by lora_alpha / r"] = 16
    lora_dropout: Annotated[float, "dropout of the adapter's input", Rule(minimum=0, exclusive_maximum=1)] = 0
    target_modules: Annotated[
        Literal["all-linear"] | LayerNames,
        "all-linear: every linear layer except a head's; or the ends of layer names, such as [query, value]",
    ] = "all-linear"
    merge: Annotated[
        bool, "true: the checkpoint has ordinary weights; false: the base weights and a separate adapter"
    ] = False


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The evaluation of a model on dev during training."""

    measure: Annotated[str, "measure, averaged over the dev queries"] = "nDCG@10"
    every: Annotated[
        Count | None,
        "steps between two evaluations; null: one at the end of each epoch; there is always one after the last step",
        NULL,
    ] = None
    candidates: Annotated[
        int, "number of BM25's top documents per query that are re-ranked", Rule(minimum=1, maximum=200)
    ] = 100


def _are_several(names: str | tuple[str, ...]) -> bool:
    return not isinstance(names, str) and len(names) > 1


def _is_one(names: str | tuple[str, ...]) -> bool:
    return not _are_several(names)


@dataclass(frozen=True, kw_only=True)
class Training:
    """How a model is trained. All keys except micro_batch, gpus and nodes affect the weights."""

    multi_dataset_batch_sampler: Annotated[
        Literal["proportional", "round_robin"],
        "order of batches when one training uses several datasets (the library's key); proportional: all batches "
        "of each, in random order; round_robin: in turn, until the dataset with the fewest batches is exhausted",
        Needs("several datasets in train_on, as [[a, b]]", path="train_on", such=_are_several),
    ] = "proportional"
    long_documents: Annotated[
        Literal["truncate", "passages"],
        "truncate: at the model's max_length; passages: each pair of a query passage and a document passage is a "
        "training pair",
    ] = "truncate"
    loss: Annotated[
        str,
        "a loss of sentence-transformers, or MarginRankingLoss or PairwiseSoftmaxLoss (cross-encoders); auto is "
        "MultipleNegativesRankingLoss (ContrastiveLoss if texts are split) for bi-encoders, SpladeLoss for "
        "sparse-encoders, BinaryCrossEntropyLoss for cross-encoders and MultiVectorMultipleNegativesRankingLoss "
        "for multi-vectors; with a teacher, DistillKLDivLoss (auto) or MarginMSELoss, for cross-encoders also "
        "MSELoss",
    ] = "auto"
    teacher: Annotated[
        str | None,
        "a system with a cross-encoder whose scores of positives and negatives are the training targets; null: the "
        "labels are the targets",
        Not("long_documents: passages", "it scores whole documents"),
        NULL,
    ] = None
    temperature: Annotated[
        Size | None,
        "DistillKLDivLoss: temperature by which the scores of teacher and student are divided; "
        "null: the library's, 2 for sparse-encoders and 1 for others",
        Needs("teacher"),
        NULL,
    ] = None
    scale: Annotated[
        Size | None,
        "factor by which the student's similarities are multiplied before the loss; null: 20 for "
        "cosine similarities, 1 for others",
        Needs("teacher"),
        NULL,
    ] = None
    epochs: Annotated[
        float,
        Written(Epochs | EpochsByQueries),
        "number of epochs, or one per number of training queries, such as {32: 32, 128: 8, all: 1}: the one for "
        "the largest number that does not exceed queries",
        Rule(title="a number above 0 and at most 100000, or a mapping of numbers of queries (or all) to such numbers"),
    ] = 1
    steps_per_epoch: Annotated[
        Count | None,
        "steps per epoch; the next epoch continues where the last one ended, and all examples are reshuffled once "
        "all were seen; null: an epoch is one pass over all examples",
        Not("negatives.draw: epoch", "an epoch is then all that is drawn for it"),
        Not("several datasets in train_on", "their batches make an epoch", path="train_on", such=_are_several),
        NULL,
    ] = None
    batch_size: Annotated[Length, "rows of the training set per step"] = 32
    relevant_apart: Annotated[
        bool,
        "losses with in-batch negatives: no batch contains both a query and another query's document that is relevant "
        "to it; false: as in the library, it is a negative then",
    ] = True
    micro_batch: Annotated[
        Length | None,
        "texts (or pairs) that pass through the model at once, to save memory; batch and loss stay the same and "
        "training takes about a third longer; null: the whole batch, halved when out of memory",
        NULL,
    ] = None
    learning_rate: Annotated[Rate, "peak learning rate of the schedule"] = 2e-5
    head_learning_rate: Annotated[
        Rate | None,
        "learning rate of the prediction head (cross-encoders), with the same schedule; null: learning_rate, as "
        "for all weights",
        NULL,
    ] = None
    freeze: Annotated[
        Literal["encoder"] | None,
        "encoder: only the prediction head is trained (cross-encoders), with learning_rate; null: all weights are "
        "trained",
        Not("lora", "it freezes all weights of its base"),
        Not("head_learning_rate", "learning_rate is that of the head, which alone is trained"),
        NULL,
    ] = None
    margin: Annotated[
        Size | None,
        "margin of MarginRankingLoss (1 by default), TripletLoss, ContrastiveLoss or OnlineContrastiveLoss; null: the "
        "loss's default",
        NULL,
    ] = None
    document_regularizer_weight: Annotated[
        Weight | None, "SpladeLoss: weight of the documents' FLOPS regulariser; null: the library's 3e-5", NULL
    ] = None
    query_regularizer_weight: Annotated[
        Weight | None, "SpladeLoss: weight of the queries' FLOPS regulariser; null: the library's 5e-5", NULL
    ] = None
    lora: Annotated[
        Lora | None, "train a low-rank adapter (LoRA) instead of all weights, with peft's keys; {} uses the defaults"
    ] = None
    matryoshka_dims: Annotated[
        Dimensions | None,
        "bi-encoders: the loss is summed over the vectors truncated to these numbers of dimensions "
        "(MatryoshkaLoss); see truncate_dim of a system",
    ] = None
    gpus: Annotated[
        Processes,
        "number of processes that share a training, one GPU each (without GPUs, on the CPU); batches and loss do "
        "not change; with several nodes, per node",
    ] = 1
    nodes: Annotated[
        Processes,
        "number of nodes of a Slurm job that share a training, with gpus GPUs on each",
    ] = 1
    gradient_checkpointing: Annotated[
        bool, "recompute activations in the backward pass: less memory, about a third longer, same weights"
    ] = False
    precision: Annotated[
        Literal["fp32", "tf32", "bf16"] | None,
        "precision of matrix products; bf16 is faster and needs a GPU or processor (avx512_bf16) that supports it; "
        "default on a GPU that supports it bf16, or tf32 for models below 60 million parameters; otherwise fp32",
    ] = None
    warmup: Annotated[Share, "warm-up: share of the steps during which the learning rate rises"] = 0.1
    schedule: Annotated[Literal["linear", "cosine", "constant"], "learning-rate schedule after warm-up"] = "linear"
    weight_decay: Annotated[float, "weight decay of AdamW", Rule(minimum=0, maximum=10)] = 0.01
    evaluate: Annotated[
        Evaluation | None,
        "evaluate the model during training on the dev queries of train_on, by re-ranking BM25's top documents and "
        "the relevant ones; {} means nDCG@10 after each epoch",
        Needs("one dataset in train_on", path="train_on", such=_is_one),
    ] = None
    load_best_model_at_end: Annotated[
        bool,
        "true: keep the weights with the highest value on dev, the earliest in a tie; false: keep the last",
        Needs("evaluate"),
    ] = False
    early_stopping_patience: Annotated[
        Count | None,
        "early stopping: number of evaluations without improvement after which training ends; null: training runs "
        "for all its epochs",
        Needs("evaluate"),
        NULL,
    ] = None
    early_stopping_threshold: Annotated[
        float,
        "minimum increase of the measure over its best value that counts as an improvement",
        Rule(minimum=0, maximum=1000),
        Needs("early_stopping_patience"),
    ] = 0
    checkpoint_steps: Annotated[
        Count, "steps between two checkpoints for resuming; there is always one at the end of each epoch"
    ] = 500
