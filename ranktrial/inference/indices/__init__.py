"""The forms of an index of a corpus, one module each, found by name; an index is a folder of named arrays.

A form either holds what a model encodes, and is named by the INDEX of a model type (see EncodedForm), or is made from
another form, and is asked for by a key of a system (see DerivedForm). The module of the same name in
ranktrial/inference/searches/ searches it. Planning imports all forms, so torch, faiss and scipy are imported in
functions only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from ranktrial.common import plugins
from ranktrial.common.digests import named_sha256
from ranktrial.common.errors import UserError
from ranktrial.common.keys import JsonObject, Needs
from ranktrial.common.strict_json import read_json
from ranktrial.models.endpoint_keys import ADDRESS

INDICES = "ranktrial.inference.indices"
RECORD = "index.json"


class EncodedForm(Protocol):
    """The functions of the module of a form that holds what a model encodes."""

    NAME: str

    def write_index(self, folder: Path, chunks: Iterable[Any], checkpoint: Path, shard: bool = False) -> Any:
        """Write the chunks of encoded documents into an empty folder; a shard may have no document."""

    def open_shard(self, folder: Path, checkpoint: Path) -> Iterable[Any]:
        """The content of a shard's index, in chunks."""

    def facts(self, index: Any) -> dict[str, float]:
        """The entries of an index in the timing."""


class Mistake(Exception):
    """What is wrong with a key of a derived index (its name below the form's key, empty for the key itself)."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


class DerivedForm:
    """A form that is made from another one; its module has an instance as FORM.

    A system asks for it by `key`, whose value is a record of `keys`. `resolve` turns this into the settings of the
    search, whose property `name` says what is built, in paths and timings: a name with a digit or a capital, unlike
    those of forms. Forms of one key differ in `made_from` and share the rest.
    """

    key: str
    description: str  # of the key, in the schema
    conditions: tuple[Needs, ...] = ()  # of the key
    keys: type
    settings: type
    made_from: str  # the form of the encoded corpus
    refusal: str  # why a model whose index has another form cannot have the key
    named = "index"  # the entry of the name in the timing of the building
    compared = False  # the search is compared with the exact one, for which it reads the encoded corpus too
    smaller = False  # costs report the size of the index

    def resolve(self, keys: Any, passages: bool) -> Any:
        """The settings of the search of whole texts or of passages; None for the encoded corpus itself.

        Raises Mistake if they are impossible.
        """
        raise NotImplementedError

    def by_documents(self, settings: Any) -> bool:
        """Whether a shard of a search is a part of the documents, not of the queries."""
        return False

    def text(self, settings: Any) -> str:
        """The end of a system's description."""
        raise NotImplementedError

    def candidates(self, settings: Any) -> str:
        """The end of a description of the documents that a system ranks."""
        return f" in {settings.name}"

    def build(self, folder: Path, source: Path, name: str) -> dict[str, int]:
        """Write the index of an encoded corpus into an empty folder; return the number of documents, and of vectors."""
        raise NotImplementedError


def index_form(name: str) -> EncodedForm:
    """The module of a form of an encoded corpus. Raises ValueError if there is none of this name."""
    return cast(EncodedForm, plugins.load(INDICES, name))


def derived_form(name: str) -> DerivedForm:
    """The form of this name that is made from another one."""
    return cast(DerivedForm, plugins.load(INDICES, name).FORM)


@cache
def derived_forms() -> dict[str, DerivedForm]:
    """All forms that are made from another one, by name."""
    modules = plugins.load_all(INDICES)
    return {name: module.FORM for name, module in modules.items() if hasattr(module, "FORM")}


def folder_bytes(folder: Path) -> int:
    """The size of an index in bytes."""
    return sum(file.stat().st_size for file in folder.iterdir())


class Array(NamedTuple):
    """What an array of an index must be; it is read as a memory map, or whole."""

    kind: type
    dimensions: int = 1
    mapped: bool = True


def read_arrays(folder: Path, expected: Mapping[str, Array], again: str = "encode") -> list[np.ndarray]:
    """The arrays of these names in an index. Raises UserError if one is missing, damaged or of another type."""
    try:
        found = [
            np.load(folder / f"{name}.npy", mmap_mode="r" if one.mapped else None, allow_pickle=False)
            for name, one in expected.items()
        ]
    except (OSError, ValueError, EOFError) as error:
        raise UserError(f"{folder}: not a complete index, delete it and {again} again ({error})") from None
    for (name, one), array in zip(expected.items(), found, strict=True):
        if array.dtype != one.kind or array.ndim != one.dimensions:
            wanted = f"{one.dimensions} of {np.dtype(one.kind)}"
            problem = f"{name}.npy has {array.ndim} dimensions of {array.dtype}, not {wanted}"
            raise UserError(f"{folder}: {problem}; delete it and {again} again")
    return found


def check_together(folder: Path, fits: object, again: str = "encode") -> None:
    """Raise UserError unless the arrays of an index fit each other."""
    if not fits:
        raise UserError(f"{folder}: its arrays do not belong together; delete it and {again} again")


def are_offsets(offsets: np.ndarray, entries: int, least: int) -> bool:
    """Whether an array has the first entry of each document and the end of the last, `least` entries per document."""
    return bool(len(offsets) and offsets[0] == 0 and offsets[-1] == entries and (np.diff(offsets) >= least).all())


def check_size(folder: Path, found: int, documents: int, again: str = "encode") -> None:
    """Raise UserError if an index is of another corpus."""
    if found != documents:
        raise UserError(f"{folder}: of {found} documents, but the corpus has {documents}; {again} it again")


@contextmanager
def appending(path: Path, kind: str, whose: object = "", empty: tuple[int, ...] = ()) -> Iterator[Callable]:
    """Append rows to a NumPy file, in constant memory; without any, the further dimensions are `empty`.

    Raises UserError (beginning with `whose`) for rows of different dimensions.
    """
    count, inner = 0, None
    with open(path, "wb") as file:

        def header(rows: int, further: tuple[int, ...]) -> None:
            # Its length is the same for any number of rows, since NumPy reserves space.
            described = {"descr": kind, "fortran_order": False, "shape": (rows, *further)}
            np.lib.format.write_array_header_1_0(file, described)

        def add(rows: np.ndarray) -> None:
            nonlocal count, inner
            if inner is None:
                inner = rows.shape[1:]
                header(0, inner)
            if rows.shape[1:] != inner:
                raise UserError(f"{whose}: vectors of {inner[0]} and of {rows.shape[1]} dimensions")
            file.write(np.ascontiguousarray(rows, kind).data)
            count += len(rows)

        yield add
        file.seek(0)
        header(count, empty if inner is None else inner)


def weights_sha256(checkpoint: Path) -> str:
    """One SHA-256 of all weights of a checkpoint (of the lines `SHA-256  path inside`), or of an endpoint's address."""
    files = sorted(file for kind in ("*.safetensors", "*.onnx", ADDRESS) for file in checkpoint.rglob(kind))
    return named_sha256({str(file.relative_to(checkpoint)): file for file in files})


def write_record(folder: Path, checkpoint: Path, **facts: int) -> None:
    """Write the weights with which an index was made, and its other metadata."""
    record = {"weights": weights_sha256(checkpoint), **facts}
    (folder / RECORD).write_text(json.dumps(record) + "\n", encoding="utf-8")


def read_record(folder: Path, checkpoint: Path) -> JsonObject:
    """The metadata of an index. Raises UserError if it was made with other weights."""
    record = read_json(folder / RECORD)
    if not isinstance(record, dict) or record.get("weights") != weights_sha256(checkpoint):
        raise UserError(f"{folder}: made with other weights than those of {checkpoint}; delete it and encode again")
    return record
