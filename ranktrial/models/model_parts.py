"""Checks of a model folder's files other than the weights, before a library reads them.

Without tokenizer files, a library creates an empty tokenizer. An activation is named by a Python path: the library runs
whatever torch reaches by it, and silently uses its own default instead of any other.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ranktrial.common.errors import UserError, shortened
from ranktrial.models.model_files import all_modules, backbone, configuration, is_static, read_object, routes

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
