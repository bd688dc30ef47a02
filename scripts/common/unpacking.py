"""Archives (zip, wheel, tar), told by their first bytes and unpacked whole, below one temporary folder, or refused."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.common.errors import UserError
from scripts.common.reading import open_regular
from scripts.common.zip_and_tar import TAR_MAGIC, UNPACKED, holds_tar, unpack_tar, unpack_zip

_ZIP = (b"PK\3\4", b"PK\5\6")


@contextmanager
def opened(source: Path, plain: bool = False) -> Iterator[Path]:
    """The folder `source` itself, or a temporary folder with what the archive `source` holds.

    With `plain`, a file that is no archive is given as it is. Raises UserError where it is neither, is damaged, unpacks
    to more than any data does, or has a member that is no plain file of its own below the folder.
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
        raise UserError(f"{source}: damaged archive, or no archive but one compressed file")
    elif plain:
        yield source
        return
    else:
        raise UserError(f"{source}: neither a folder nor a zip or tar archive")
    with tempfile.TemporaryDirectory(prefix="ranktrial-") as temporary:
        unpack(source, Path(temporary))
        yield Path(temporary)


def only_folder_with(root: Path, name: str) -> Path:
    """The folder in `root` (or itself) that holds the file `name`, the least deep one. UserError unless it is one."""
    found = sorted(root.rglob(name), key=lambda path: (len(path.parts), path))
    if not found:
        raise UserError(f"no {name} in it")
    first, *others = [path.parent for path in found if len(path.parts) == len(found[0].parts)]
    if others:
        several = ", ".join(str(folder.relative_to(root)) for folder in (first, *others[:3]))
        raise UserError(f"{name} stands in several folders: {several}; name the one that is meant as the location")
    return first
