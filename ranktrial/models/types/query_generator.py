"""Language models that write queries for documents: decoder-only or encoder-decoder models.

They do not rank. Each token is drawn from the 25 most likely ones and within a cumulative probability of .95, as in GPL
(Wang et al. 2022), until the line of the query ends: a base model would continue with further lines.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ranktrial.common.errors import UserError
from ranktrial.common.keys import JsonObject
from ranktrial.models.reasoning import without_reasoning

if TYPE_CHECKING:
    import torch

NAME = "query-generator"
SEARCHES = False
WRITES = True
BACKENDS = ("torch",)
DESCRIPTION = (
    "writes queries for documents (datasets of format generated); max_length applies to prompt, document and query "
    "together"
)
LOSSES: dict[str, str] = {}

NEW = 64  # tokens of a query
TOP_K, TOP_P = 25, 0.95
SAMPLING = {"do_sample": True, "top_k": 0, "top_p": 1.0}  # the library's top-p sorts the whole vocabulary per token
ITS_TOKENS = ("bos_token_id", "eos_token_id", "decoder_start_token_id")  # all keys read from generation_config.json
DOCUMENT = "{document}"
AROUND = "\"'“”„` \n\r\t"  # stripped from the start of an answer


class Writer:
    """A loaded model that writes queries."""

    def __init__(self, model: Any, tokenizer: Any, max_length: int, batch_size: int) -> None:
        self.facts: JsonObject = {"prompt_tokens": 0, "completion_tokens": 0}
        self.model, self.tokenizer = model, tokenizer
        self.batch_size = batch_size
        # A chat template writes the special tokens itself.
        self.as_written = {"add_special_tokens": not tokenizer.chat_template}
        self.room = max_length if model.config.is_encoder_decoder else max_length - NEW

    def write(self, prompt: str, documents: list[str], seed: int) -> list[str]:
        """One query per document, sampled with the seed."""
        import torch

        torch.manual_seed(seed)
        frame = self._framed(prompt)
        room = self.room - len(self.tokenizer(frame.replace(DOCUMENT, ""), **self.as_written).input_ids)
        if room < 1:
            raise UserError(f"max_length leaves no room for a document beside the prompt; raise it by {1 - room}")
        prompts = [frame.replace(DOCUMENT, self._cut(document, room)) for document in documents]
        starts = range(0, len(prompts), self.batch_size)
        return [query for start in starts for query in self._answers(prompts[start : start + self.batch_size])]

    def _framed(self, prompt: str) -> str:
        """The prompt within the model's chat template, if it has one."""
        if not self.tokenizer.chat_template:
            return prompt
        chat = [{"role": "user", "content": prompt}]
        options = {"tokenize": False, "add_generation_prompt": True, "enable_thinking": False}
        return str(self.tokenizer.apply_chat_template(chat, **options))

    def _cut(self, document: str, room: int) -> str:
        kept = self.tokenizer(document, add_special_tokens=False, truncation=True, max_length=room).input_ids
        return str(self.tokenizer.decode(kept, skip_special_tokens=True))

    def _answers(self, prompts: list[str]) -> list[str]:
        import torch

        from ranktrial.models.running import autocast

        cut = {"truncation": True, "max_length": self.room}
        batch = self.tokenizer(prompts, return_tensors="pt", padding=True, **cut, **self.as_written)
        asked = {name: batch[name].to(self.model.device) for name in ("input_ids", "attention_mask")}
        first = 0 if self.model.config.is_encoder_decoder else asked["input_ids"].shape[1]

        def read(tokens: torch.Tensor) -> list[str]:
            return list(self.tokenizer.batch_decode(tokens[:, first:], skip_special_tokens=True))

        def ended(tokens: torch.Tensor, scores: object, **others: object) -> torch.Tensor:
            return torch.tensor([has_line(answer) for answer in read(tokens)], device=tokens.device)

        with torch.inference_mode(), autocast():
            made = self.model.generate(
                **asked, max_new_tokens=NEW, logits_processor=[likely], stopping_criteria=[ended]
            )
        self.facts["prompt_tokens"] += int(asked["attention_mask"].sum())
        self.facts["completion_tokens"] += int((made[:, first:] != self.tokenizer.pad_token_id).sum())
        return read(made)


def likely(tokens: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """The scores with all tokens that may not be drawn set to -inf. Raises UserError if no token can be drawn."""
    from ranktrial.models.running import finite

    best, which = scores.topk(min(TOP_K, scores.shape[-1]))
    finite(best[:, 0].float().cpu().numpy())  # NaN counts as the largest
    share = best.softmax(-1)
    kept = best.masked_fill(share.cumsum(-1) - share >= TOP_P, -float("inf"))
    return scores.new_full(scores.shape, -float("inf")).scatter(-1, which, kept)


def has_line(answer: str) -> bool:
    """Whether an answer contains a complete non-empty line; nothing after it is read."""
    return "\n" in without_reasoning(answer).lstrip(AROUND)


def load_writer(folder: Path, max_length: int, batch_size: int) -> Writer:
    """Load a query generator from a local folder. Raises UserError if it is not a language model."""
    from ranktrial.models import loading
    from ranktrial.models.running import device

    config = loading.check(folder)
    architectures = config.get("architectures") or []
    encodes = any(name.endswith("ForConditionalGeneration") for name in architectures)
    if not encodes and not any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in architectures):
        raise UserError(f"{folder}: no language model; expected …ForCausalLM or …ForConditionalGeneration")
    loading.quiet()
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer, GenerationConfig

    from ranktrial.models.from_files import check, recorded

    own = {"local_files_only": True, "trust_remote_code": False}
    kind = AutoModelForSeq2SeqLM if encodes else AutoModelForCausalLM
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), **own, padding_side="right" if encodes else "left")
        with recorded(torch.float32) as made:
            model = kind.from_pretrained(str(folder), use_safetensors=True, **own)
    except Exception as error:  # any exception of the library for a model that is damaged or needs its own code
        raise loading.cannot_load(folder, error) from None
    check(model, made, folder)
    loading.complete_tokenizer(tokenizer, model, folder)
    loading.check_length(model, folder, max_length)
    its = {name: getattr(model.generation_config, name, None) for name in ITS_TOKENS}
    model.generation_config = GenerationConfig(**SAMPLING, **its, pad_token_id=tokenizer.pad_token_id)
    return Writer(model.to(device()).eval(), tokenizer, max_length, batch_size)
