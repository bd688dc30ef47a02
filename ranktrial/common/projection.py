"""Records that share fields: planning takes over the keys that a configuration's record shares with that of a job, and
what is written takes over values that were computed.

A record is projected onto another by the names of its fields, so that no key is copied by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from ranktrial.common.keys import keys_of, plain

T = TypeVar("T")


def shared(record: object, kind: type) -> dict[str, Any]:
    """The values of a record in the fields of `kind`, of which it has all."""
    return {key.field: getattr(record, key.field) for key in keys_of(kind).values()}


def filled(kind: Callable[..., T], *records: object, **own: object) -> T:
    """A record of the dataclass `kind`: each field has its value in `own` or, if that does not name it, in the first of
    the records that has it.
    """
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    found = {name: getattr(one, name) for one in reversed(records) for name in names if hasattr(one, name)}
    return kind(**found | own)


def projected(kind: type, *records: object, **own: object) -> dict[str, object]:
    """The settings of a job whose record is `kind`, as JSON: each key has its value in `own` or, if that does not name
    it, in the first of the records that has it. A key that is not required is left out if its value is the default.
    """
    found: dict[str, object] = {}
    for name, key in keys_of(kind).items():
        values = (getattr(record, key.field) for record in records if hasattr(record, key.field))
        value = own[name] if name in own else next(values, MISSING)
        if value is not MISSING and (key.required or value != key.default):
            found[name] = plain(value)
    return found
