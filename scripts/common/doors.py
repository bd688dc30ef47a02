"""Doors: folders in which each file is one kind of something (a dataset format, an effect, a kind of system, of model).

A new kind comes as one new file and is found here by its name. The file of kind `d_av` is d_av.py, that of kind
`bi-encoder` is bi_encoder.py. A job loads its one kind alone, so that only this file and what it imports decide
whether the job runs again; to plan a workflow all are loaded.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def stem(name: str) -> str:
    """The name of a kind's file, less its suffix."""
    return name.lower().replace("-", "_")


def source(package: str, name: str) -> str:
    """The file of a kind, relative to the repository: `source("scripts.datasets.formats", "beir")`."""
    return f"{package.replace('.', '/')}/{stem(name)}.py"


def kind(package: str, name: str) -> ModuleType:
    """The module of one kind. Raises ValueError where there is none of this name."""
    if not stem(name).isidentifier() or stem(name).startswith("_") or not (ROOT / source(package, name)).is_file():
        raise ValueError(f"unknown {name!r}; expected one of {', '.join(kinds(package))}")
    return importlib.import_module(f"{package}.{stem(name)}")


def kinds(package: str) -> dict[str, ModuleType]:
    """All kinds of a folder by the NAME that each module states, in alphabetical order of their files."""
    files = sorted((ROOT / package.replace(".", "/")).glob("[!_]*.py"))
    modules = [importlib.import_module(f"{package}.{file.stem}") for file in files]
    return {module.NAME: module for module in modules}
