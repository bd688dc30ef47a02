"""Loading sentence-transformers models quietly from a local folder onto the available device.

Nothing here accesses the network or runs code that comes with a model.

A model folder's files other than the weights are checked before a library reads them. Without tokenizer files, a
library creates an empty tokenizer. An activation is named by a Python path: the library runs whatever torch reaches by
it, and silently uses its own default instead of any other.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ranktrial.common.errors import REFUSED_IN_FILES, UserError, shortened
from ranktrial.models import lora
from ranktrial.models.model_files import (
    ModelConfig,
    all_modules,
    backbone,
    check_weights,
    configuration,
    is_static,
    read_object,
    routes,
)
from ranktrial.models.running import device, keep_memory

if TYPE_CHECKING:
    import torch


# The sets of tokenizer files; a folder needs one of them.
TOKENIZERS = (
    ("tokenizer.json",),
    ("vocab.txt",),
    ("vocab.json", "merges.txt"),
    ("spiece.model",),
    ("sentencepiece.bpe.model",),
    ("tokenizer.model",),
)
MODULES = ("torch.nn", "torch.nn.modules.activation", "torch.nn.modules.linear")  # where torch defines its activations
ACTIVATIONS = frozenset(
    ("Identity", "CELU", "ELU", "GELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid",
     "LogSoftmax", "Mish", "ReLU", "ReLU6", "RReLU", "SELU", "SiLU", "Sigmoid", "Softmax", "Softmin", "Softplus",
     "Softshrink", "Softsign", "Tanh", "Tanhshrink")
)  # fmt: skip


def check_parts(folder: Path) -> None:
    """Raise UserError for a model without a tokenizer, with quantised weights, or with an unknown activation."""
    stated = configuration(folder)
    if stated.get("model_type") or is_static(
        folder
    ):  # a transformers model; a model type added by a user may need no tokenizer
        check_tokenizers(folder)
    if stated.get("quantization_config"):
        problem = "its weights are quantised (quantization_config); expected fp32, fp16 or bf16"
        raise UserError(f"{backbone(folder) / 'config.json'}: {problem}")
    check_activations(folder)


def check_tokenizers(folder: Path) -> None:
    """Raise UserError if documents or queries have no tokenizer."""
    needed = TOKENIZERS[:1] if is_static(folder) else TOKENIZERS
    first_of_queries = routes(folder).get("query", [])[:1]
    for inside in [backbone(folder), *(folder / module["path"] for module in first_of_queries)]:
        if not any(all((inside / file).is_file() for file in files) for files in needed):
            raise UserError(f"{inside}: no tokenizer beside its weights ({_listed(needed)})")


def _listed(needed: Iterable[tuple[str, ...]]) -> str:
    return ", ".join(" with ".join(files) for files in needed)


def check_activations(folder: Path) -> None:
    """Raise UserError if an activation of a cross-encoder or a dense layer is not one of torch's."""
    config = backbone(folder) / "config.json"
    stated = configuration(folder)
    of_library = stated.get("sentence_transformers")
    if isinstance(of_library, dict):
        _check_activation(config, of_library.get("activation_fn"))
    _check_activation(config, stated.get("sbert_ce_default_activation_function"))
    of_model = folder / "config_sentence_transformers.json"
    _check_activation(of_model, read_object(of_model).get("activation_fn") if of_model.is_file() else None)
    for module in all_modules(folder):
        file = folder / module["path"] / "config.json"
        if module["type"].endswith("Dense") and file.is_file():
            _check_activation(file, read_object(file).get("activation_function"))


def _check_activation(file: Path, name: Any) -> None:
    module, _, last = name.rpartition(".") if isinstance(name, str) else ("", "", "")
    if name is not None and not (module in MODULES and last in ACTIVATIONS):
        problem = f"the activation {shortened(name)} is none that is known"
        raise UserError(f"{file}: {problem}; expected one of torch's, such as torch.nn.modules.activation.Tanh")


LONGEST_PROMPT = 4096  # characters of a stored prompt; instructions of language models have a few hundred


def quiet() -> None:
    """Silence the libraries' progress bars, load reports and advice."""
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)


def check(folder: Path, with_routes: bool = False, may_be_static: bool = False) -> ModelConfig:
    """Check that a folder contains a complete safetensors model; return its config.json. Raises UserError otherwise.

    With `with_routes`, queries may have modules of their own; the config.json is then that of the document transformer.
    A static embedding needs no config.json.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: no such model folder")
    of_queries = routes(folder).get("query", [])
    if of_queries and not with_routes:
        raise UserError(f"{folder}: only sparse encoders may have modules of their own for queries (a Router)")
    if is_static(folder) and not may_be_static:
        raise UserError(f"{folder}: a static embedding (StaticEmbedding); only bi-encoders may be one")
    inner = backbone(folder)
    config = configuration(folder)
    if not check_weights(inner):
        raise UserError(f"{folder}: not a model, it has no weights (model.safetensors)")
    for module in of_queries:
        check_weights(folder / module["path"])
    check_parts(folder)
    stored_prompts(folder)
    if lora.has_adapter(folder):
        lora.check(folder)
    return config


def stored_prompts(folder: Path) -> dict[str, str]:
    """The prompts that a model stores, by name. Raises UserError if they are not texts, or are too long."""
    file = folder / "config_sentence_transformers.json"
    stored = read_object(file) if file.is_file() else {}
    prompts = stored.get("prompts") or {}
    if not isinstance(prompts, dict) or not all(isinstance(text, str | None) for text in prompts.values()):
        raise UserError(f"{file}: prompts is not an object of texts")
    prompts = {name: text for name, text in prompts.items() if text is not None}  # null means no prompt
    for name, text in prompts.items():
        if len(text) > LONGEST_PROMPT or REFUSED_IN_FILES.search(text):
            problem = f"expected at most {LONGEST_PROMPT:,} characters, and none of them invisible"
            raise UserError(f"{file}: the prompt {shortened(name)}: {problem}")
    return prompts


def load(
    model_class: type, folder: Path, may_be_new: bool = False, dtype: torch.dtype | None = None, **options: Any
) -> Any:
    """Load a sentence-transformers model of this class, with its adapter, from a folder that was checked.

    Its weights are fp32, or `dtype`, however they are stored. If parts of it `may_be_new`, those that no file contains
    are listed by name in `new_modules`. Raises UserError if the library cannot load it, or if its files do not match
    the model.
    """
    import torch

    from ranktrial.models.from_files import check, recorded

    try:
        with recorded(dtype or torch.float32) as made:
            model = model_class(str(folder), device=device(), local_files_only=True, trust_remote_code=False, **options)
    except UserError:
        raise
    except Exception as error:  # any exception of the libraries for a model that is damaged or needs its own code
        raise cannot_load(folder, error) from None
    model.new_modules = check(model, made, folder, may_be_new, lora.whole_modules(folder))
    if lora.has_adapter(folder):
        lora.attach(model, folder)
    if dtype in (None, torch.float32):
        model.float()  # some modules keep the data type of the stored tensors
    complete_tokenizers(model, folder)
    if device() == "cpu":
        keep_memory()
    return model


def complete_tokenizers(model: Any, folder: Path) -> None:
    """Complete the tokenizer of each module that has one."""
    from sentence_transformers.base.modules import InputModule, Transformer
    from transformers import PreTrainedTokenizerBase

    for module in model.modules():
        if is_static_module(module):
            vocabulary = module.tokenizer.get_vocab(with_added_tokens=False)
            added = module.tokenizer.get_vocab(with_added_tokens=True)
            check_rows(vocabulary, added, module.embedding, folder)
        tokenizer = getattr(module, "tokenizer", None) if isinstance(module, InputModule) else None
        if isinstance(tokenizer, PreTrainedTokenizerBase):
            complete_tokenizer(tokenizer, module.model if isinstance(module, Transformer) else None, folder)


def complete_tokenizer(tokenizer: Any, whole: Any, folder: Path) -> None:
    """Ensure that a tokenizer has a padding token; the end-of-text token is used if it has none.

    `whole` is its transformers model, if it has one: a model that classifies by the last token is given the padding
    token. Raises UserError for a tokenizer with neither token, or with a larger vocabulary than the model.
    """
    import torch

    if tokenizer.pad_token is None:
        if tokenizer.eos_token is None:
            raise UserError(f"{folder}: its tokenizer has neither a token for padding nor one for the end of a text")
        tokenizer.pad_token = tokenizer.eos_token
    if whole is None:
        return
    words = whole.get_input_embeddings()
    if isinstance(words, torch.nn.Embedding):
        check_vocabulary(tokenizer, words, folder)
    if type(whole).__name__.endswith("ForSequenceClassification") and not unused_positions(whole):
        whole.config.get_text_config().pad_token_id = tokenizer.pad_token_id


def check_vocabulary(tokenizer: Any, words: torch.nn.Embedding, folder: Path) -> None:
    """Raise UserError if a token of the vocabulary, or one added around each text, has no row in the embeddings.

    Other added tokens, such as those for images, may lack a row: they should not occur in a text, and a text that
    contains one is refused when it is encoded.
    """
    fast = getattr(tokenizer, "backend_tokenizer", None)
    vocabulary = fast.get_vocab(with_added_tokens=False) if fast else tokenizer.get_vocab()
    around = fast.encode("").ids if fast else tokenizer("")["input_ids"]
    used = {str(tokenizer.convert_ids_to_tokens(number)): number for number in (tokenizer.pad_token_id, *around)}
    check_rows(vocabulary | used, tokenizer.get_added_vocab(), words, folder)


def check_rows(
    vocabulary: dict[str, int], added: dict[str, int], words: torch.nn.Embedding | torch.nn.EmbeddingBag, folder: Path
) -> None:
    """Raise UserError if a token of the vocabulary has no row; refuse texts with an added token that has none."""
    rows = words.num_embeddings
    last, most = max(vocabulary.items(), key=itemgetter(1))
    if most >= rows:
        problem = f"has numbers up to {most} (the token {shortened(last)}), but the model knows {rows} tokens"
        raise UserError(f"{folder}: its tokenizer {problem}: it is another model's")
    if without := {number: token for token, number in added.items() if number >= rows}:
        words.register_forward_pre_hook(partial(_refuse, without, rows, folder))


def _refuse(added: dict[int, str], rows: int, folder: Path, module: torch.nn.Module, given: tuple) -> None:
    """Raise UserError if the tokens passed to the embeddings include an added token without a row."""
    import torch

    if torch.compiler.is_compiling():  # a graph is traced, without a text's tokens
        return
    if found := sorted(added.keys() & set(given[0].flatten().tolist())):
        problem = f"a text has the token {shortened(added[found[0]])} with the number {found[0]}"
        raise UserError(f"{folder}: {problem}, but the model knows {rows} tokens; take it out of the texts")


def find_document_prompt(model, folder: Path) -> None:
    """Use the prompt that a model stores for documents under another name in encode_document.

    The library also looks for `passage` and `corpus`, but first finds `document`, which it has itself set to "".
    """
    if "document" not in stored_prompts(folder):
        names = [name for name in ("passage", "corpus") if name in model.prompts]
        model.prompts["document"] = model.prompts[names[0]] if names else ""


def cannot_load(folder: Path, error: Exception) -> UserError:
    """A library's error for a model that it cannot load, in one line."""
    lines = str(error).strip().splitlines()
    if lines and "above report" in str(error):  # the report is silenced
        lines = ["its tensors cannot be converted to those of its architecture"]
    kind = "" if isinstance(error, OSError | ValueError | RuntimeError) else f"{type(error).__name__}: "
    return UserError(f"{folder}: cannot be loaded: {kind}{lines[0] if lines else type(error).__name__}")


def is_static_module(module: Any) -> bool:
    """Whether a module of a loaded model is a static embedding."""
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    return isinstance(module, StaticEmbedding)


def routed_modules(model) -> list[Any]:
    """The entry modules of a model that routes queries and documents to different modules; empty for any other."""
    from sentence_transformers.base.modules import Router

    routers = [module for module in model.children() if isinstance(module, Router)]
    return [route[0] for router in routers for route in router.sub_modules.values()]


def limit(model, folder: Path, max_length: int) -> None:
    """Limit a model's input to `max_length` tokens. Raises UserError if it cannot take so many."""
    if is_static_module(model[0]):  # reads whole texts, unless its tokenizer truncates them
        stored = model[0].tokenizer.truncation or {"max_length": max_length}
        refuse_longer(max_length, stored["max_length"], folder)
        model[0].tokenizer.enable_truncation(**stored | {"max_length": max_length})
        return
    check_length(model.transformers_model, folder, max_length)
    model.max_seq_length = max_length
    for module in routed_modules(model):
        module.tokenizer.model_max_length = max_length  # truncates on a route without a transformer


def check_length(whole: Any, folder: Path, max_length: int) -> None:
    """Raise UserError if a transformers model cannot take `max_length` tokens."""
    most = getattr(whole.config, "max_position_embeddings", None) or max_length
    if most < 0:  # XLNet's way of stating that there is no limit
        return
    refuse_longer(max_length, most - unused_positions(whole), folder)


def unused_positions(whole: Any) -> int:
    """The number of positions that a transformers model never uses: those up to the padding token's, as in RoBERTa."""
    embeddings = (getattr(module, "position_embeddings", None) for module in whole.modules())
    padding = (getattr(positions, "padding_idx", None) for positions in embeddings)
    return next((number + 1 for number in padding if number is not None), 0)


def refuse_longer(max_length: int, most: int, folder: Path) -> None:
    """Raise UserError if a model takes fewer tokens than `max_length`."""
    if max_length > most:
        raise UserError(f"{folder}: max_length is {max_length}, but this model takes at most {most} tokens")
