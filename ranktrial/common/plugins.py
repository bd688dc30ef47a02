"""Plug-ins, one file each: dataset formats, effects, types of systems and models, and so on, by package.

A new plug-in is one new file, found by its name. The file of plug-in `d_av` is d_av.py, that of `bi-encoder` is
bi_encoder.py. A job loads only its own plug-in, so that only this file and its imports decide whether the job runs
again; planning a workflow loads all of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from ranktrial.common.home import own_file
from ranktrial.common.keys import keys_of


def stem(name: str) -> str:
    """The name of a plug-in's file, without its suffix."""
    return name.lower().replace("-", "_")


def source(package: str, name: str) -> str:
    """The file of a plug-in, relative to the repository: `source("ranktrial.datasets.formats", "beir")`."""
    return f"{package.replace('.', '/')}/{stem(name)}.py"


@cache  # effects and intervals are looked up for each task, resample and subset
def load(package: str, name: str) -> ModuleType:
    """The module of one plug-in. Raises ValueError if there is none of this name."""
    if not stem(name).isidentifier() or stem(name).startswith("_") or not own_file(source(package, name)).is_file():
        raise ValueError(f"unknown {name!r}; expected one of {', '.join(load_all(package))}")
    return importlib.import_module(f"{package}.{stem(name)}")


def load_all(package: str) -> dict[str, ModuleType]:
    """All plug-ins of a package by the NAME that each module states, in alphabetical order of their files."""
    files = sorted(own_file(package.replace(".", "/")).glob("[!_]*.py"))
    modules = [importlib.import_module(f"{package}.{file.stem}") for file in files]
    return {module.NAME: module for module in modules}


@dataclass(frozen=True)
class NoKeys:
    """The keys of a module that declares none."""


def own_keys(module: object, values: Mapping[str, Any]) -> Any:
    """The record of a module's own keys: those of `values` that it declares, and the defaults of the others."""
    record: type = getattr(module, "Keys", NoKeys)
    return record(**{key.field: values[name] for name, key in keys_of(record).items() if name in values})
