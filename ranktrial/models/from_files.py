"""Check that every number with which a loaded model computes comes from its files, or is new and about to be trained.

If a file lacks a tensor, the libraries initialise it at random and report that only in a log; surplus tensors of a file
are ignored. Therefore each loading is recorded here, and a model is refused if a part of it was initialised or ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import torch

from ranktrial.common.errors import UserError
from ranktrial.models.model_files import SHARDS, WEIGHTS, tensors

NAMED = 3  # tensors named in a message
POOLER = re.compile(r"(^|\.)pooler\.")
# Stored beside the weights by former versions of transformers, now computed: masks, positions, frequencies.
COMPUTED = re.compile(r"(^|\.)((attn|attention)\.(bias|masked_bias|causal_mask)|inv_freq|position_ids)$")

Shapes = dict[str, tuple[int, ...]]


class Report(NamedTuple):
    """What the library reports about loading a transformers model: tensor names, in the model's order if it has any."""

    model: Any
    file: Path
    missing: list[str]
    mismatched: dict[str, tuple[tuple[int, ...], tuple[int, ...]]]  # shapes: in the file, in the model
    unexpected: list[str]


@dataclass
class Recorded:
    """What was read: reports, sentence-transformers modules with their own file, and tensors read without a module."""

    reports: list[Report] = field(default_factory=list)
    modules: list[torch.nn.Module] = field(default_factory=list)
    given: list[torch.Tensor] = field(default_factory=list)


class OtherShapes(UserError):
    """Raised if the only problem is tensors of other shapes; `rows` are the file's row counts of these tensors."""

    def __init__(self, message: str, rows: set[int]) -> None:
        super().__init__(message)
        self.rows = rows


@contextmanager
def recorded(dtype: torch.dtype) -> Iterator[Recorded]:
    """Record what the libraries read in this context. Transformers models get weights of this type, however stored.

    Raises UserError if the file of a module is incomplete.
    """
    from sentence_transformers.base.modules import Module
    from transformers import PreTrainedModel

    made = Recorded()
    wrapped = [
        (PreTrainedModel, "from_pretrained", _reported(PreTrainedModel.from_pretrained.__func__, made, dtype)),
        (Module, "load_torch_weights", _compared(Module.load_torch_weights.__func__, made)),
    ]
    before = [vars(owner)[name] for owner, name, _ in wrapped]
    try:
        for owner, name, function in wrapped:
            setattr(owner, name, classmethod(function))
        yield made
    finally:
        for (owner, name, _), method in zip(wrapped, before, strict=True):
            setattr(owner, name, method)


def _reported(load: Callable[..., Any], made: Recorded, dtype: torch.dtype) -> Callable[..., Any]:
    def from_pretrained(cls: type, folder: Any, *others: Any, **options: Any) -> Any:
        options.pop("torch_dtype", None)  # a model's stored options may contain it
        options |= {"dtype": dtype, "output_loading_info": True, "ignore_mismatched_sizes": True}
        model, info = load(cls, folder, *others, **options)
        inside = Path(folder) / options.get("subfolder", "")
        made.reports.append(
            Report(
                model,
                inside / (WEIGHTS if (inside / WEIGHTS).is_file() else SHARDS),
                [name for name in model.state_dict() if name in info["missing_keys"]],
                {name: (tuple(file), tuple(own)) for name, file, own in sorted(info["mismatched_keys"])},
                sorted(info["unexpected_keys"]),
            )
        )
        return model

    return from_pretrained


def _compared(load: Callable[..., Any], made: Recorded) -> Callable[..., Any]:
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    def load_torch_weights(cls: type, folder: Any, subfolder: str = "", model: Any = None, **options: Any) -> Any:
        file = Path(folder) / subfolder / WEIGHTS
        if model is not None and file.is_file():
            own = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
            _compare(file, own, tensors(file))
        found = load(cls, folder, subfolder=subfolder, model=model, **options)
        if model is None:
            made.given += found.values()
            if "embeddings" in found:  # of Model2Vec, which may store one row for several tokens
                parts = (found["embeddings"], found.get("mapping"), found.get("weights"))
                made.given.append(StaticEmbedding._fold_model2vec_weights(*parts))
        else:
            made.modules.append(found)
        return found

    def by_names(cls: type, model_name_or_path: Any, *others: Any, **options: Any) -> Any:
        return load_torch_weights(cls, model_name_or_path, *others, **options)

    return by_names


def _compare(file: Path, own: Shapes, stored: Shapes) -> None:
    missing = [name for name in own if name not in stored]
    other = {name: (stored[name], shape) for name, shape in own.items() if stored.get(name, shape) != shape}
    refuse(file, missing, other, [name for name in stored if name not in own], len(own))


def refuse(file: Path, missing: list[str], mismatched: dict[str, tuple], unexpected: list[str], size: int) -> None:
    """Raise UserError, in one line with the first names and their number, unless all three are empty."""
    problems = []
    if missing:
        problems.append(f"{len(missing)} of the model's {size} tensors are not in it ({_first(missing)})")
    if mismatched:
        shapes = [f"{name} is {list(stored)}, not {list(own)}" for name, (stored, own) in mismatched.items()]
        problems.append(f"{len(mismatched)} of its tensors have another shape ({_first(shapes)})")
    if unexpected:
        problems.append(f"{len(unexpected)} of its tensors have no place in the model ({_first(unexpected)})")
    message = f"{file}: not the weights of the model that its configuration describes: {'; '.join(problems)}"
    if mismatched and not missing and not unexpected:
        raise OtherShapes(message, {stored[0] for stored, _ in mismatched.values() if stored})
    if problems:
        raise UserError(message)


def _first(names: Iterable[str]) -> str:
    listed = [name if len(name) <= 120 else f"{name[:119]}…" for name in names]
    return ", ".join(listed[:NAMED]) + (", …" if len(listed) > NAMED else "")


def check(
    model: torch.nn.Module, made: Recorded, folder: Path, may_be_new: bool = False, elsewhere: Collection[str] = ()
) -> dict[str, torch.nn.Module]:
    """The parts of a loaded model that no file contains, by name; only allowed if they `may_be_new`, to be trained.

    These are the prediction head of a transformers model and modules of sentence-transformers, each as a whole. Parts
    that an adapter provides are listed in `elsewhere`. Raises UserError for any other tensor that was not read, and for
    a file that contains more of the encoder than is loaded.
    """
    new: dict[str, torch.nn.Module] = {}
    for report in made.reports:
        parts = {name: part for name, part in _head(report).items() if may_be_new or name in elsewhere}
        drawn = {name: part for name, part in parts.items() if _is_missing(name, part, report)}
        unread = [*drawn] if _reads_pooler(model, report.model) else [*drawn, "pooler"]
        missing = [name for name in report.missing if not any(_below(name, part) for part in unread)]
        inside = [name for name in report.unexpected if _inside_encoder(name, report.model)]
        shown = inside or (report.unexpected if missing else [])
        refuse(report.file, missing, report.mismatched, shown, len(report.model.state_dict()))
        new |= {name: part for name, part in drawn.items() if name not in elsewhere}
    return new | _without_file(model, made, folder, may_be_new)


def _below(name: str, part: str) -> bool:
    return name.startswith(f"{part}.") or (part == "pooler" and POOLER.search(name) is not None)


def _head(report: Report) -> dict[str, torch.nn.Module]:
    """The parts above the encoder of a transformers model, and the pooler, which such models include in the encoder."""
    whole, prefix = report.model, report.model.base_model_prefix
    if not hasattr(whole, prefix):
        return {}
    parts = {
        name: part for name, part in whole.named_children() if name != prefix and any(True for _ in part.parameters())
    }
    pooler = getattr(getattr(whole, prefix), "pooler", None)
    return parts | ({f"{prefix}.pooler": pooler} if pooler is not None else {})


def _is_missing(name: str, part: torch.nn.Module, report: Report) -> bool:
    return {f"{name}.{inner}" for inner in part.state_dict()} <= set(report.missing)


def _reads_pooler(model: torch.nn.Module, whole: Any) -> bool:
    """Whether the transformers model within this model may use its pooler, for example for classification."""
    from sentence_transformers.base.modules import Transformer

    around = [module for module in model.modules() if isinstance(module, Transformer) and module.model is whole]
    if not around or around[0].transformer_task != "feature-extraction":
        return True
    return any(entry["method_output_name"] != "last_hidden_state" for entry in around[0].modality_config.values())


def _inside_encoder(name: str, whole: Any) -> bool:
    """Whether an ignored tensor belongs to an existing part of the encoder, for example to one more layer."""
    prefix = whole.base_model_prefix
    parts = {part for part, _ in getattr(whole, prefix, whole).named_children()}
    return name.removeprefix(f"{prefix}.").partition(".")[0] in parts and not COMPUTED.search(name)


def _without_file(model: torch.nn.Module, made: Recorded, folder: Path, may_be_new: bool) -> dict[str, torch.nn.Module]:
    """The modules of a model whose weights were not read from any file."""
    read = {
        id(one) for part in [*made.modules, *(report.model for report in made.reports)] for one in part.parameters()
    }
    drawn = [name for name, one in model.named_parameters() if id(one) not in read and not _is_given(one, made.given)]
    if drawn and not may_be_new:
        raise UserError(f"{folder}: {len(drawn)} tensors of its modules are in no safetensors file ({_first(drawn)})")
    parts = {name: part for name, part in model.named_children() if any(one.startswith(f"{name}.") for one in drawn)}
    return {f"{name}_{type(part).__name__}": part for name, part in parts.items()}


def _is_given(parameter: torch.Tensor, given: list[torch.Tensor]) -> bool:
    return any(one.shape == parameter.shape and torch.equal(one.to(parameter.device), parameter) for one in given)
