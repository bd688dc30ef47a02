"""Low-rank adapters (LoRA: Hu et al. 2022), through peft: added, saved separately, loaded, and merged.

A checkpoint with an adapter is complete: it contains the base weights (hard-linked to those from which training
started) and the folder `adapter` with adapter_model.safetensors and adapter_config.json as written by peft, and
base.json with the SHA-256 of the base weights. Files loaded from there are untrusted until checked: only safetensors, a
plain LoRA configuration, exactly the tensors that it declares, and the base for which the adapter was made.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ranktrial.common.digests import sha256
from ranktrial.common.errors import UserError
from ranktrial.common.files import write_json
from ranktrial.common.keys import stated
from ranktrial.models.labels import FILE as LABEL
from ranktrial.models.model_files import SHARDS, backbone, check_weights, read_object, tensors
from ranktrial.models.training_keys import Lora

if TYPE_CHECKING:
    import torch
    from peft import LoraConfig

FOLDER, WEIGHTS, CONFIG, BASE = "adapter", "adapter_model.safetensors", "adapter_config.json", "base.json"
FILES = {WEIGHTS, CONFIG, BASE}
NAME = "default"  # peft's default name of an adapter
LARGEST_RANK = 4096
PREFIX = "base_model.model."  # of the tensor names in a peft file
# The keys of adapter_config.json that are read; any other must have the library's default.
NAMES = ("target_modules", "exclude_modules", "modules_to_save")
NUMBERS = ("r", "lora_alpha", "lora_dropout")
WITHOUT_MEANING = ("base_model_name_or_path", "inference_mode", "peft_version", "revision", "task_type", "auto_mapping")


def has_adapter(folder: Path) -> bool:
    """Whether a checkpoint has an adapter in addition to its base weights."""
    return (folder / FOLDER).is_dir()


def check(folder: Path) -> None:
    """Check a checkpoint's adapter before a library reads it. Raises UserError, also for an adapter of another base."""
    inside = folder / FOLDER
    if others := sorted({path.name for path in inside.iterdir()} - FILES):
        raise UserError(f"{inside / others[0]}: refused; an adapter is {WEIGHTS}, {CONFIG} and {BASE}")
    if not (inside / WEIGHTS).is_file():
        raise UserError(f"{inside}: an adapter without {WEIGHTS}")
    tensors(inside / WEIGHTS)
    configuration(inside)
    made_for = read_object(inside / BASE).get("sha256")
    actual = sha256(*check_weights(backbone(folder)))
    if made_for != actual:
        problem = f"an adapter for another base: it was made for weights with SHA-256 {str(made_for)[:64]}"
        raise UserError(f"{inside}: {problem}, and those beside it have {actual}")


def configuration(inside: Path) -> dict[str, Any]:
    """The configuration of a stored adapter. Raises UserError for anything but a plain LoRA adapter."""
    from peft import LoraConfig

    file = inside / CONFIG
    stored = read_object(file)
    plain = LoraConfig().to_dict()
    if stored.get("peft_type") != "LORA":
        raise UserError(f"{file}: peft_type is {str(stored.get('peft_type'))[:40]!r}; only LoRA adapters are loaded")
    for key, value in stored.items():
        if key in (*NAMES, *NUMBERS, *WITHOUT_MEANING, "peft_type"):
            continue
        if key not in plain or value != plain[key]:
            raise UserError(f"{file}: {key[:40]} is {str(value)[:40]}, and only plain LoRA adapters are loaded")
    for key in NUMBERS:
        value = stored.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1_000_000:
            raise UserError(f"{file}: {key} is {str(value)[:40]}; expected a number")
    if not isinstance(stored["r"], int) or not 1 <= stored["r"] <= LARGEST_RANK:
        raise UserError(f"{file}: r is {stored['r']}; expected a whole number from 1 to {LARGEST_RANK}")
    for key in NAMES:
        value = stored.get(key)
        listed = isinstance(value, list) and all(isinstance(name, str) for name in value)
        if value is not None and not listed:
            raise UserError(f"{file}: {key} is {str(value)[:40]!r}; expected a list of modules")
    return {key: stored[key] for key in (*NUMBERS, *NAMES) if stored.get(key) is not None}


def whole_modules(folder: Path) -> list[str]:
    """The modules that a checked checkpoint's adapter contains as a whole, which the base may lack; else empty."""
    return configuration(folder / FOLDER).get("modules_to_save", []) if has_adapter(folder) else []


def attach(model: Any, folder: Path) -> None:
    """Attach a checked checkpoint's adapter to the model loaded from it. Raises UserError if it does not fit."""
    import torch
    from peft import LoraConfig, set_peft_model_state_dict
    from safetensors.torch import load_file

    file = folder / FOLDER / WEIGHTS
    try:
        with torch.random.fork_rng():  # the initial values are overwritten
            _add(model, LoraConfig(**configuration(folder / FOLDER)))
    except ValueError as error:
        raise UserError(f"{folder / FOLDER / CONFIG}: {' '.join(str(error).split())[:300]}") from None
    stored = load_file(file)
    expected = {f"{PREFIX}{name}": tensor.shape for name, tensor in state(model).items()}
    for name in sorted(expected.keys() | stored.keys()):
        if name not in stored:
            raise UserError(f"{file}: no tensor {name[:80]!r}, which its configuration announces")
        if name not in expected or stored[name].shape != expected[name]:
            raise UserError(f"{file}: the tensor {name[:80]!r} does not fit the base")
    whole = model.transformers_model
    set_peft_model_state_dict(whole, {name.removeprefix(PREFIX): rows for name, rows in stored.items()}, NAME)
    whole.requires_grad_(False)
    whole.eval()


def add(model: Any, given: Lora, new: Iterable[torch.nn.Module], head: Iterable[torch.nn.Parameter]) -> None:
    """Freeze a model and add an adapter for training; `new` modules, whose weights were initialised, are trained fully.

    The linear layers of a prediction `head` get no adapter. Raises UserError if no module matches `target_modules`.
    """
    import torch
    from peft import LoraConfig

    whole = model.transformers_model
    model.requires_grad_(False)
    names = {id(module): name for name, module in whole.named_modules()}
    above = {id(parameter) for parameter in head}
    of_head = [
        name
        for name, module in whole.named_modules()
        if isinstance(module, torch.nn.Linear) and {id(one) for one in module.parameters()} & above
    ]
    fresh = list(new)
    config = LoraConfig(
        **stated(given, "merge"),
        exclude_modules=of_head or None,
        modules_to_save=[names[id(module)] for module in fresh if id(module) in names] or None,
    )
    try:
        _add(model, config)
    except ValueError as error:
        raise UserError(f"lora.target_modules: {' '.join(str(error).split())[:300]}") from None
    for module in fresh:
        if id(module) not in names:
            module.requires_grad_(True)


def _add(model: Any, config: LoraConfig) -> None:
    import warnings

    with warnings.catch_warnings():  # about tied embeddings, which get no adapter unless they are named
        warnings.simplefilter("ignore")
        model.add_adapter(config)


def is_adapted(model: Any) -> bool:
    """Whether a loaded model has an adapter attached."""
    return bool(getattr(getattr(model, "transformers_model", None), "_hf_peft_config_loaded", False))


def state(model: Any) -> dict[str, torch.Tensor]:
    """The adapter's tensors by their names in the model, including the modules that are trained in full."""
    found: dict[str, torch.Tensor] = model.transformers_model.get_adapter_state_dict(NAME)
    return found


def merge(model: Any) -> None:
    """Merge a model's adapter into its weights, which makes it an ordinary model again."""
    _take_off(model, keep=True)


def _take_off(model: Any, keep: bool) -> None:
    """Detach a model's adapter; with `keep`, its change of the weights is kept."""
    from peft.tuners.tuners_utils import BaseTunerLayer
    from peft.utils import ModulesToSaveWrapper

    whole = model.transformers_model
    for name, module in list(whole.named_modules()):
        above, _, own = name.rpartition(".")
        if isinstance(module, BaseTunerLayer):
            if keep:
                module.merge(safe_merge=True)
            setattr(whole.get_submodule(above), own, module.get_base_layer())
        elif isinstance(module, ModulesToSaveWrapper):
            setattr(whole.get_submodule(above), own, module.modules_to_save[NAME] if keep else module.original_module)
    del whole.peft_config
    whole._hf_peft_config_loaded = False
    whole.requires_grad_(True)


def save(model: Any, folder: Path, start: Path, merged: bool) -> int:
    """Write a trained model into an empty folder; return the bytes of its safetensors files, without a linked base's.

    An adapter is merged, or saved separately in `adapter`. Afterwards, the model is an ordinary one.
    """
    apart = is_adapted(model) and not merged
    if apart:
        _write_adapter(model, folder / FOLDER)
    if is_adapted(model):
        _take_off(model, keep=merged)
    model.save_pretrained(str(folder), create_model_card=False)
    if (start / LABEL).is_file():
        shutil.copyfile(start / LABEL, folder / LABEL)
    linked: list[Path] = []
    if apart:
        if not has_adapter(start):  # otherwise the base is the start merged with its adapter
            linked = _link_weights(backbone(start), backbone(folder))
        write_json(folder / FOLDER / BASE, {"sha256": sha256(*check_weights(backbone(folder)))})
    return sum(path.stat().st_size for path in folder.rglob("*.safetensors") if path not in linked)


def _write_adapter(model: Any, inside: Path) -> None:
    """Write an adapter in peft's format, without the path from which the base was loaded."""
    from safetensors.torch import save_file

    inside.mkdir(parents=True)
    rows = {f"{PREFIX}{name}": tensor.detach().cpu().contiguous() for name, tensor in state(model).items()}
    save_file(rows, inside / WEIGHTS, metadata={"format": "pt"})
    config = model.transformers_model.peft_config[NAME].to_dict()
    config |= {key: sorted(config[key]) for key in NAMES if config[key] is not None}
    config |= {"base_model_name_or_path": None, "inference_mode": True}
    write_json(inside / CONFIG, config, indent=2, sort_keys=True)


def _link_weights(start: Path, target: Path) -> list[Path]:
    """Replace the weights of `target` by those of `start`: hard links, or copies if the file system has no links."""
    for path in [*check_weights(target), target / SHARDS]:
        path.unlink(missing_ok=True)
    sources = check_weights(start)
    sharded = [start / SHARDS] if (start / SHARDS).is_file() and len(sources) > 1 else []
    for source in [*sources, *sharded]:
        try:
            os.link(source, target / source.name)
        except OSError:
            shutil.copyfile(source, target / source.name)
    return [target / source.name for source in sources]


def trainable(model: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    """The parameters of a model that training changes, by name."""
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}


def counts(model: torch.nn.Module) -> dict[str, int]:
    """The number of parameters of a model, including an adapter's, and how many of them training changes."""
    every = sum(parameter.numel() for parameter in model.parameters())
    return {"parameters": every, "trainable_parameters": sum(one.numel() for one in trainable(model).values())}


def save_trainable(model: torch.nn.Module, folder: Path) -> None:
    """Write the trainable parameters, as a checkpoint from which to resume."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    rows = {name: parameter.detach().cpu().contiguous() for name, parameter in trainable(model).items()}
    save_file(rows, folder / "trainable.safetensors")


def load_trainable(model: torch.nn.Module, folder: Path) -> None:
    """Load what `save_trainable` wrote into the same model."""
    from safetensors.torch import load_file

    rows, own = load_file(folder / "trainable.safetensors"), trainable(model)
    if rows.keys() != own.keys():
        raise UserError(f"{folder}: a checkpoint of another training; delete it")
    for name, parameter in own.items():
        parameter.data.copy_(rows[name])
