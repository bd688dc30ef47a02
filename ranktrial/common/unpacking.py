"""Unpacking of archives (zip, wheel, tar; recognised by their first bytes) into a temporary folder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.common.reading import open_regular
from ranktrial.common.zip_and_tar import TAR_MAGIC, UNPACKED, holds_tar, unpack_tar, unpack_zip

PACKINGS = ("", ".gz", ".zst")  # suffixes of files that are read plain or compressed
_ZIP = (b"PK\3\4", b"PK\5\6")


@contextmanager
def opened(source: Path, plain: bool = False) -> Iterator[Path]:
    """The folder `source` itself, or a temporary folder with the content of the archive `source`.

    With `plain`, a file that is not an archive is yielded as it is. Raises UserError if `source` is neither a folder
    nor an archive, is damaged, unpacks to too many bytes, or has a member that is not a plain file below it.
    """
    if source.is_dir():
        yield source
        return
    with open_regular(source) as file:
        start = file.read(512)
    if start.startswith(_ZIP):
        unpack = unpack_zip
    elif holds_tar(source):
        unpack = unpack_tar
    elif TAR_MAGIC in start or (start.startswith(UNPACKED) and not plain):
        raise UserError(f"{source}: damaged archive, or a single compressed file instead of an archive")
    elif plain:
        yield source
        return
    else:
        raise UserError(f"{source}: neither a folder nor a zip or tar archive")
    with tempfile.TemporaryDirectory(prefix="ranktrial-") as temporary:
        unpack(source, Path(temporary))
        yield Path(temporary)


def only_folder_with(root: Path, name: str, packings: tuple[str, ...] = ("",)) -> Path:
    """The folder with the file `name`, with one of these suffixes: `root` or the one folder nearest to it.

    Raises UserError if no folder has the file, or several at the same depth.
    """
    found = (path for ending in packings for path in root.rglob(name + ending))
    paths = sorted(found, key=lambda path: (len(path.parts), path))
    if not paths:
        raise UserError(f"no {name} in it")
    first, *others = dict.fromkeys(path.parent for path in paths if len(path.parts) == len(paths[0].parts))
    if others:
        several = ", ".join(str(folder.relative_to(root)) for folder in (first, *others[:3]))
        raise UserError(f"{name} lies in several folders: {several}; give the one that is meant as the location")
    return first


def packed_or_plain(path: Path) -> Path:
    """The file of this name, or with .gz or .zst appended. Raises UserError if several of them exist.

    If none exists, the name is returned as it is, and opening it reports the error.
    """
    found = [file for ending in PACKINGS if (file := path.with_name(path.name + ending)).exists()]
    if len(found) > 1:
        raise UserError(f"{path.parent}: {' and '.join(file.name for file in found)} are both there; expected one")
    return found[0] if found else path
