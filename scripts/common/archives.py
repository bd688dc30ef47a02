"""Archives (zip, wheel, tar), told by their content and unpacked without following a path out of the folder."""

from __future__ import annotations

import stat
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from scripts.common.errors import UserError


@contextmanager
def opened(source: Path, plain: bool = False) -> Iterator[Path]:
    """The folder `source` itself, or a temporary folder with what the archive `source` holds.

    With `plain`, a file that is no archive is given as it is. Raises UserError where it is neither, is damaged, or has
    a member that would land outside (or a link).
    """
    archive = source.is_file() and (zipfile.is_zipfile(source) or tarfile.is_tarfile(source))
    if source.is_dir() or (plain and source.is_file() and not archive):
        yield source
        return
    if not source.is_file():
        raise UserError(f"{source}: no such file or folder")
    with tempfile.TemporaryDirectory(prefix="ranktrial-") as temporary:
        folder = Path(temporary)
        try:
            if zipfile.is_zipfile(source):
                _unzip(source, folder)
            elif tarfile.is_tarfile(source):
                with tarfile.open(source) as archive:
                    archive.extractall(folder, filter="data")
            else:
                raise UserError(f"{source}: neither a folder nor a zip or tar archive")
        except tarfile.FilterError as error:
            raise UserError(f"{source}: refused, a member would leave the archive's folder: {error}") from None
        except (zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
            raise UserError(f"{source}: damaged archive ({error})") from None
        yield folder


def _unzip(source: Path, folder: Path) -> None:
    with zipfile.ZipFile(source) as archive:
        for member in archive.infolist():
            path = PurePosixPath(member.filename.replace("\\", "/"))
            if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
                raise UserError(f"{source}: refused, {member.filename!r} would leave the archive's folder")
            if stat.S_ISLNK(member.external_attr >> 16):
                raise UserError(f"{source}: refused, {member.filename!r} is a link")
        archive.extractall(folder)


def only_folder_with(root: Path, name: str) -> Path:
    """The folder in `root` (or itself) that holds the file `name`, the least deep one. UserError if none does."""
    found = sorted(root.rglob(name), key=lambda path: (len(path.parts), path))
    if not found:
        raise UserError(f"no {name} in it")
    return found[0].parent
