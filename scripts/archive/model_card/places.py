"""Where data and weights are from, as a page for others shows it: without folders of this machine."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

from scripts.common.locations import is_remote, shown

_HUB = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def public(location: str | None) -> str:
    """A location without secrets; of a path of this machine its last part alone."""
    if not location:
        return "not stated"
    if is_remote(location):
        return shown(location)
    return location if hub_id(location) else f"{PurePath(location).name} (a local file or folder)"


def hub_id(weights: str) -> str | None:
    """The id of weights on the hub; None for other locations. A folder of this form is taken for itself."""
    return weights if _HUB.fullmatch(weights) and not Path(weights).exists() else None
