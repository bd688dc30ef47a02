"""The files of a model folder that loading reads, checked before they are copied: weights, configurations, a tokenizer.

Weights are safetensors. Code is never copied, and a model that needs its own code is refused.
"""

from __future__ import annotations

import shutil
from pathlib import Path, PurePosixPath

from ranktrial.common.errors import UserError
from ranktrial.common.files import check_sha256
from ranktrial.models import lora
from ranktrial.models.model_files import (
    ROUTES,
    SHARDS,
    WEIGHTS,
    all_modules,
    check_text,
    check_tokenizer,
    check_weights,
    read_object,
    routes,
)

UNSAFE = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.h5", "*.msgpack", "*.onnx", "*.pkl")
CONFIGURATION = (
    *("config.json", "modules.json", "config_sentence_transformers.json", "sentence_*_config.json", ROUTES),
    "artifact.metadata",  # of Stanford's ColBERT; JSON
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.txt", "vocab.json", "merges.txt", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model"),
    "chat_template.jinja",
    "generation_config.json",  # the tokens that end an answer of a chat model
)
# Modules of other packages that sentence-transformers replaces by its own, without that package.
TAKEN_OVER = ("pylate.models.Dense.Dense",)


def module_folders(model: Path) -> list[str]:
    """The subfolders of a model's modules, including those of its routes.

    Raises UserError for a folder outside the model, or a module with code of its own.
    """
    folders = []
    for module in all_modules(model):
        path = PurePosixPath(module["path"])
        if not module["type"].startswith("sentence_transformers.") and module["type"] not in TAKEN_OVER:
            raise UserError(f"modules.json: refused, the module {module['type']!r} is code that comes with the model")
        if module["type"].endswith(".SparseStaticEmbedding") and "path" in read_object(model / path / "config.json"):
            problem = f"reads its weights from a file that it names; expected {WEIGHTS} (save the model anew)"
            raise UserError(f"{path}/config.json: refused, the module {problem}")
        folders.append(str(path))
    return [folder for folder in folders if folder != "."]


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a folder, in the order of their names; empty if it has no weights.

    Raises UserError if a shard is missing, or if the folder's weights have another format.
    """
    if weights := check_weights(folder):
        return weights
    others = sorted(path.name for pattern in UNSAFE for path in folder.glob(pattern))
    if others:
        raise UserError(f"{folder.name}/{others[0]}: refused, such weights can carry code; expected {WEIGHTS}")
    return []


def refuse_remote_code(folder: Path) -> None:
    """Raise UserError if a configuration file of the model names code that comes with it (auto_map)."""
    for path in taken(folder):
        if path.match("*config.json") and "auto_map" in read_object(path):
            raise UserError(f"{path.name}: refused, the model needs code that comes with it (auto_map)")


def taken(folder: Path) -> list[Path]:
    """The files of a model folder, other than weights, that loading reads."""
    return [path for pattern in CONFIGURATION for path in sorted(folder.glob(pattern)) if path.is_file()]


def check_taken(path: Path) -> None:
    """Raise UserError for a file that the libraries could not read."""
    if path.name == "tokenizer.json":
        check_tokenizer(path)
    elif path.suffix in (".json", ".metadata") and path.name != "modules.json":
        read_object(path)
    elif path.suffix in (".txt", ".jinja"):
        check_text(path)


def copy_model(model: Path, target: Path, expected: str | None) -> None:
    """Copy the files that loading needs from the folder `model` into the folder `target`.

    Raises UserError if the weights do not have the `expected` SHA-256, or if the model needs code of its own.
    """
    of_routes = routes(model)
    for name in [".", *module_folders(model)]:
        folder = model / name
        if not folder.is_dir():
            continue  # a module without parameters, such as Normalize
        refuse_remote_code(folder)
        # A model with routes may repeat the weights of one route in its own folder, for other programs.
        weights = [] if name == "." and of_routes else weight_files(folder)
        for path in taken(folder):
            check_taken(path)
        files = [*weights, *taken(folder)]
        if weights and folder / WEIGHTS not in weights:
            files.append(folder / SHARDS)
        (target / name).mkdir(parents=True, exist_ok=True)
        for path in files:
            shutil.copyfile(path, target / name / path.name)
        if (folder / lora.CONFIG).is_file():
            raise UserError(
                f"{lora.CONFIG} beside the weights: refused, as an adapter would be lost; merge it into them"
            )
    if lora.has_adapter(model):  # a checkpoint trained by ranktrial
        shutil.copytree(model / lora.FOLDER, target / lora.FOLDER, ignore=lambda _, names: {*names} - lora.FILES)
    weights = hashed_weights(model)
    if not weights:
        raise UserError(f"its first module has no {WEIGHTS}")
    if expected:
        check_sha256(expected, weights[0].name, *weights)


def hashed_weights(model: Path) -> list[Path]:
    """The weights covered by the configuration's SHA-256: the model's own, or its first module's; with routes, all."""
    if of_routes := routes(model):
        folders = {module["path"] for modules in of_routes.values() for module in modules}
        return [file for folder in sorted(folders) for file in weight_files(model / folder)]
    return weight_files(model) or weight_files(model / (module_folders(model) or ["."])[0])
