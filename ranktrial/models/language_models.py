"""Causal language models as cross-encoders: a pair's score from the logits of the next token.

sentence-transformers renders query and document with the model's chat template and takes the logit of one token, such
as yes, minus that of another, such as no. The tokens that a configuration names are stored in `judging.json` of the
checkpoint. This module rejects models that the library would accept but that would give every pair the same score.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ranktrial.common.errors import UserError, shortened
from ranktrial.common.files import write_json
from ranktrial.models.judging_keys import KEYS
from ranktrial.models.model_files import ModelConfig, read_object

if TYPE_CHECKING:
    import torch
    from sentence_transformers import CrossEncoder

FILE = "judging.json"
ENDING = "ForCausalLM"
PADDED_POSITIONS = ("gpt_neo", "gpt_bigcode")  # padding takes positions, so a score would depend on its batch


def is_language_model(config: ModelConfig) -> bool:
    """Whether a model's config.json describes a causal language model."""
    return any(name.endswith(ENDING) for name in config.get("architectures") or [])


def write_judging(checkpoint: Path, judging: dict[str, str], config: ModelConfig) -> None:
    """Record a configuration's tokens beside a model. Raises UserError unless it is a causal language model."""
    if not is_language_model(config):
        raise UserError(f"{next(iter(judging))} is of a language model (…{ENDING}), and this is none")
    write_json(checkpoint / FILE, judging, sort_keys=True)


def dtype(training: bool) -> torch.dtype:
    """The data type of such a model's weights: bf16, at half the memory, if it computes in bf16 and is not trained."""
    import torch

    from ranktrial.models.running import precision

    return torch.bfloat16 if precision() == "bf16" and not training else torch.float32


def prepare(model: CrossEncoder, folder: Path, config: ModelConfig, training: bool) -> None:
    """Make a loaded model score as its checkpoint states. Raises UserError if its scores would be meaningless."""
    judging = read_object(folder / FILE) if (folder / FILE).is_file() else {}
    if any(not isinstance(judging.get(key, ""), str) for key in KEYS):
        raise UserError(f"{folder / FILE}: expected texts")
    if config.get("model_type") in PADDED_POSITIONS:
        raise UserError(f"{folder}: its positions count padding, so that a pair's score would depend on its batch")
    _set_tokens(model, folder, judging)
    _check_template(model, folder, stated=bool(judging) or (folder / "modules.json").is_file() or training)
    _keep_logits_exact(model)


def judges(model: CrossEncoder) -> bool:
    """Whether a loaded model's score is computed from token logits."""
    return _score_module(model) is not None


def template(model: CrossEncoder) -> str:
    """The text around an empty query and an empty document, including the instruction."""
    prompt = model.prompts.get(model.default_prompt_name) if model.default_prompt_name else None
    return str(model.tokenizer.decode(model.preprocess([("", "")], prompt=prompt)["input_ids"][0]))


def as_text(model: CrossEncoder) -> str:
    """A description of the score."""
    score = _score_module(model)
    words = f"logit of {_token(model, score.true_token_id)!r}"
    return words if score.false_token_id is None else f"{words} minus that of {_token(model, score.false_token_id)!r}"


def _token(model: CrossEncoder, number: int) -> str:
    return str(model.tokenizer.convert_ids_to_tokens(number))


def _score_module(model: CrossEncoder) -> Any:
    return next((module for module in model if type(module).__name__ == "LogitScore"), None)


def _set_tokens(model: CrossEncoder, folder: Path, judging: dict[str, str]) -> None:
    score = _score_module(model)
    if score is None:
        if "true_token" in judging:
            raise UserError(f"{folder}: true_token: the model's own modules make its score, and not of a token")
        return
    if "true_token" in judging:
        score.true_token_id = _id_of(model, folder, "true_token", judging["true_token"])
        named = "false_token" in judging
        score.false_token_id = _id_of(model, folder, "false_token", judging["false_token"]) if named else None
    elif not (folder / "modules.json").is_file():  # the library's default tokens, which it does not verify
        for key, token in (("true_token", "yes"), ("false_token", "no")):
            setattr(score, f"{key}_id", _id_of(model, folder, key, token))
    most = model.transformers_model.get_output_embeddings().weight.shape[0]
    ids = [one for one in (score.true_token_id, score.false_token_id) if one is not None]
    if any(type(one) is not int or not 0 <= one < most for one in ids) or len(set(ids)) < len(ids):
        raise UserError(f"{folder}: its score is of the tokens {ids}; expected different ones below {most:,}")


def _id_of(model: CrossEncoder, folder: Path, key: str, token: str) -> int:
    """The id of a token: an entry of the vocabulary, or a text that is tokenised into a single token."""
    vocabulary = model.tokenizer.get_vocab()
    if token in vocabulary:
        return int(vocabulary[token])
    numbers = model.tokenizer.encode(token, add_special_tokens=False)
    if len(numbers) != 1 or numbers[0] == model.tokenizer.unk_token_id:
        problem = f"{shortened(token)} is not one token of its vocabulary; expected one, by {key} of the model"
        raise UserError(f"{folder}: {key}: {problem}")
    return int(numbers[0])


def _check_template(model: CrossEncoder, folder: Path, stated: bool) -> None:
    """Check that a chat template accepts a query and a document; it may be missing only if the scoring is `stated`."""
    first = model[0]
    if first.tokenizer.chat_template is None:
        if not stated:
            problem = "no chat template for a query and a document, so its scores would mean nothing"
            raise UserError(f"{folder}: a language model with {problem}; add chat_template.jinja to its weights")
        return
    if "message" in first.modality_config and (reason := first.input_formatter.pair_roles_failure({})):
        problem = f"its chat template cannot take a query and a document ({' '.join(reason.split())[:200]})"
        raise UserError(f"{folder}: {problem}; add a chat_template.jinja for these two roles to its weights")


def _keep_logits_exact(model: CrossEncoder) -> None:
    """Keep the last layer in fp32: bf16 logits are so coarse that documents tie."""
    import torch

    last = model.transformers_model.get_output_embeddings()
    if last is not None and last.weight.device.type == "cuda" and type(last) is torch.nn.Linear:
        model.set_keep_in_fp32_modules([name for name, module in model.named_modules() if module is last][:1])
