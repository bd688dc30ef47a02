"""Cross-encoders: a query and a document pass through the model together, and its logit is their score."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ranktrial.common.errors import UserError
from ranktrial.models.batch_sizes import BATCHES, CHUNK, texts_per_batch
from ranktrial.models.encoders import tokenizer
from ranktrial.models.judging_keys import Judging
from ranktrial.models.losses import LISTS, PAIRS, RANKED, TRIPLETS, with_margin
from ranktrial.models.teaching import SCORED, SCORED_PAIRS

if TYPE_CHECKING:
    import numpy as np
    import torch
    from sentence_transformers import CrossEncoder

    from ranktrial.models.adapters import Scorer, TextPair, Training
    from ranktrial.models.model_files import ModelConfig
    from ranktrial.models.onnx_export import Exportable

NAME = "cross-encoder"
LOADED_BY, PIPELINE_TAG = "CrossEncoder", "text-ranking"
SEARCHES = False
BACKENDS = ("torch", "onnx")
EXPORTS = True
BY_TOKENS = True
PROMPTED = ("query",)
DESCRIPTION = "query and document pass through the model together; max_length applies to such a pair"
LOSSES = {
    "BinaryCrossEntropyLoss": PAIRS,
    "MSELoss": PAIRS,
    "LambdaLoss": RANKED,
    "RankNetLoss": RANKED,
    "ListNetLoss": RANKED,
    "ListMLELoss": RANKED,
    "PListMLELoss": RANKED,
    "MultipleNegativesRankingLoss": LISTS,
    "CachedMultipleNegativesRankingLoss": LISTS,
    "MarginRankingLoss": TRIPLETS,
    "PairwiseSoftmaxLoss": TRIPLETS,
}
DISTILLED = {"MarginMSELoss": SCORED, "DistillKLDivLoss": SCORED, "MSELoss": SCORED_PAIRS}
MARGINS = {"MarginRankingLoss": "margin"}
Keys = Judging
HAS_HEAD = True
DEFAULT_LOSS = "BinaryCrossEntropyLoss"
DEFAULT_LOSS_OF_PASSAGES = "BinaryCrossEntropyLoss"
DEFAULT_DISTILLED = "DistillKLDivLoss"


def load(folder: Path, max_length: int, to_train: bool = False) -> CrossEncoder:
    """Load a cross-encoder that gives each pair one score and keeps `max_length` tokens of a pair.

    Raises UserError if it cannot be loaded, for example if the weights have no scoring head. If the model is loaded
    `to_train`, a missing head is initialised from torch's random state instead.
    """
    from ranktrial.models import language_models, loading
    from ranktrial.models.running import import_library

    config = loading.check(folder)
    causal = language_models.is_language_model(config)
    if not to_train and not has_head(config):
        raise UserError(f"{folder}: its weights have no scoring head, so scores would be random; give it a recipe")
    import_library()
    loading.quiet()
    if causal:
        from sentence_transformers import CrossEncoder

        model = loading.load(CrossEncoder, folder, dtype=language_models.dtype(to_train), num_labels=1)
    else:
        model = _load_classifier(folder, config, to_train)
    loading.limit(model, folder, max_length)
    _choose_label(model, folder, config)
    if causal:
        language_models.prepare(model, folder, config, to_train)
    return model


def _load_classifier(folder: Path, config: ModelConfig, to_train: bool) -> CrossEncoder:
    """A classifier with as many labels as its config.json states or, if it states none, as its weights file has."""
    from sentence_transformers import CrossEncoder

    from ranktrial.models import labels, loading
    from ranktrial.models.from_files import OtherShapes

    stated = labels.stated_count(config) if has_head(config) else 1
    try:
        return loading.load(CrossEncoder, folder, may_be_new=to_train, num_labels=stated or 1)
    except OtherShapes as error:
        if stated or len(error.rows) != 1:
            raise
        return loading.load(CrossEncoder, folder, may_be_new=to_train, num_labels=error.rows.pop())


def _choose_label(model: CrossEncoder, folder: Path, config: ModelConfig) -> None:
    """Make a model with several labels give one score. Raises UserError if the label that counts is not specified."""
    from ranktrial.models import labels

    if of := labels.relevance(folder, model.num_labels, config):
        from ranktrial.models.cross_encoding import give_one_score

        give_one_score(model, of)


def has_head(config: ModelConfig) -> bool:
    """Whether a model's weights include the head that scores a pair; without it, a cross-encoder must be trained."""
    endings = ("ForSequenceClassification", "ForCausalLM")
    return any(name.endswith(endings) for name in config.get("architectures") or [])


def prompts(model: CrossEncoder) -> dict[str, str]:
    """The single prompt of a pair: the library puts it before the query, or where the chat template places it."""
    name = model.default_prompt_name
    return {} if name is None else {"query": model.prompts[name]}


def give_prompts(model: CrossEncoder, prompts: dict[str, str]) -> None:
    """Set the prompt of a pair, which is stored when the model is saved."""
    model.prompts = {**model.prompts, **prompts}
    model.default_prompt_name = "query" if prompts["query"] else None


def head(model: CrossEncoder) -> list[torch.nn.Parameter]:
    """The parameters of the prediction head: all except those of the encoder."""
    whole = model.transformers_model
    encoder = {id(parameter) for parameter in getattr(whole, whole.base_model_prefix).parameters()}
    return [parameter for parameter in whole.parameters() if id(parameter) not in encoder]


def exportable(model: CrossEncoder, folder: Path) -> Exportable:
    """The part of a loaded model that is exported to ONNX: the logit of a pair.

    Raises UserError for a language model that judges by token logits.
    """
    from ranktrial.models import language_models
    from ranktrial.models.cross_encoding import first_token_alone
    from ranktrial.models.onnx_export import Exportable

    if language_models.judges(model):
        raise UserError("cannot be exported to ONNX: a language model that judges by words has no graph of a score")
    first_token_alone(model.transformers_model)
    return Exportable(
        model=model,
        compute=lambda whole, features: whole(features)["scores"].reshape(-1, 1),
        features=model.preprocess([("a text", "and another one"), ("two", "texts")]),
        tokenizer=model.tokenizer if tokenizer(model) else None,
        record={"prompts": prompts(model)},
    )


def warm_up(model: CrossEncoder, batch_size: int) -> None:
    """Score one batch."""
    model.predict([("warm", "up")] * batch_size, show_progress_bar=False)


def training() -> Training:
    """The library's trainer and losses for cross-encoders and three losses of our own; all use a pair's score."""
    from sentence_transformers import CrossEncoderTrainer, CrossEncoderTrainingArguments
    from sentence_transformers.cross_encoder import losses

    from ranktrial.models.adapters import Training
    from ranktrial.models.cross_encoding import MarginRankingLoss, PairwiseSoftmaxLoss
    from ranktrial.models.distillation import DistillKLDivLoss, softened

    ours = {made.__name__: made for made in (MarginRankingLoss, PairwiseSoftmaxLoss, DistillKLDivLoss)}

    def loss(
        name: str, model: CrossEncoder, margin: float | None = None, temperature: float | None = None
    ) -> torch.nn.Module:
        made = ours[name] if name in ours else getattr(losses, name)
        return made(model, **with_margin(MARGINS, name, margin), **softened(temperature))

    return Training(
        trainer=CrossEncoderTrainer,
        arguments=CrossEncoderTrainingArguments,
        loss=loss,
        outputs=("scores",),
        head=head,
        prompts=lambda model, columns: prompts(model).get("query"),
    )


def load_scorer(
    folder: Path,
    max_length: int,
    batch_size: int,
    backend: str,
    batch_tokens: int | None = None,
    prompts: dict[str, str] | None = None,
) -> Scorer:
    """Load a cross-encoder that scores pairs with torch, or with ONNX on the CPU.

    Raises UserError if `batch_tokens` is given for a language model, whose prompt surrounds each pair.
    """
    from ranktrial.models.adapters import Scorer

    if backend != "torch":
        from ranktrial.models.onnx_pairs import OnnxCrossEncoder
        from ranktrial.models.prompts import fact

        encoder = OnnxCrossEncoder(folder, max_length)
        encoder.prompts = {**encoder.prompts, **(prompts or {})}
        put = {role: prompt for role, prompt in encoder.prompts.items() if prompt}
        score = partial(encoder.score, batch_size=batch_size)
        return Scorer(score, {**encoder.facts, **fact(put)}, encoder.tokenizer, put)

    from ranktrial.models import language_models
    from ranktrial.models.cross_encoding import first_token_alone
    from ranktrial.models.gpu import at_once
    from ranktrial.models.loaded import rank_fast, size_batches

    model = load(folder, max_length)
    if prompts:
        give_prompts(model, prompts)
    first_token_alone(model.transformers_model)
    rank_fast(model)
    if language_models.judges(model):
        if batch_tokens:
            raise UserError("batch_tokens: a language model has a prompt around each pair; leave it out")
        return scorer(model, batch_size)
    size_batches(sys.modules[__name__], model, batch_tokens)
    chunk = (
        CHUNK if batch_tokens is None else max(CHUNK, BATCHES * texts_per_batch(batch_size, batch_tokens, max_length))
    )
    return scorer(model, batch_size)._replace(chunk=chunk, at_once=at_once(model, chunk))


def scorer(model: CrossEncoder, batch_size: int) -> Scorer:
    """A Scorer of pairs for a loaded model, which may still be in training."""
    from ranktrial.models import language_models
    from ranktrial.models.adapters import Scorer
    from ranktrial.models.prompts import fact
    from ranktrial.models.running import computed_in

    put = {role: prompt for role, prompt in prompts(model).items() if prompt}
    around, facts = put, {**computed_in(model), **fact(put)}
    if of := getattr(model, "relevance", None):
        facts["score"] = of.as_text()
    if language_models.judges(model):
        around = {"query": language_models.template(model)}
        facts["score"] = language_models.as_text(model)
    score = partial(score_pairs, model, batch_size=batch_size)
    return Scorer(score, facts, tokenizer(model), around)


def score_pairs(model: CrossEncoder, pairs: list[TextPair], batch_size: int) -> np.ndarray:
    """The logits of text pairs, computed by torch: float32 of shape (pairs,), all finite."""
    import numpy as np
    import torch

    from ranktrial.models.running import autocast, finite
    from ranktrial.models.token_batches import in_batches

    compute = partial(model.predict, activation_fn=torch.nn.Identity(), show_progress_bar=False)
    with autocast():
        scores = in_batches(model, compute, pairs, batch_size, prompts(model).get("query", ""))
    return finite(scores.astype(np.float32, copy=False))
