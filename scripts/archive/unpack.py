"""An archive's files in a folder, whether it comes zipped or unpacked; no path leaves the folder."""

from __future__ import annotations

import shutil
from pathlib import Path

from scripts.archive.integrity import opened
from scripts.common import archives


def unpack(archive: Path, folder: Path) -> None:
    """Copy the files of a checked archive into `folder`. Raises UserError for a member that would land outside."""
    with archives.opened(archive) as source:
        for name in opened(source).names:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, target)
