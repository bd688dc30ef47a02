"""The origin of data and weights for a public page: without folders of this machine."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

from ranktrial.common.locations import is_remote, shown

_HUB = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def public(location: str | None) -> str:
    """A location without secrets; for a path of this machine, only its last part."""
    if not location:
        return "not stated"
    if is_remote(location):
        return shown(location)
    return location if hub_id(location) else f"{PurePath(location).name} (a local file or folder)"


def hub_id(weights: str) -> str | None:
    """The id of weights on the hub; None for other locations. An existing folder of this form is not an id."""
    return weights if _HUB.fullmatch(weights) and not Path(weights).exists() else None
