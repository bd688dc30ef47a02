"""Configurations of tests, changed in a few places."""

import copy


def changed(base: dict, changes: dict) -> dict:
    """A copy of `base` with keys set by their path with `/`; Ellipsis removes one."""
    config = copy.deepcopy(base)
    for key, value in changes.items():
        *path, last = key.split("/")
        part = config
        for step in path:
            part = part.setdefault(step, {})
        if value is ...:
            del part[last]
        else:
            part[last] = copy.deepcopy(value)
    return config
