"""The common part of indices in folders: arrays written chunk by chunk, and a record of the weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ranktrial.common.digests import named_sha256
from ranktrial.common.errors import UserError
from ranktrial.common.strict_json import read_json
from ranktrial.models.endpoint_keys import ADDRESS

RECORD = "index.json"


def folder_bytes(folder: Path) -> int:
    """The size of an index in bytes."""
    return sum(file.stat().st_size for file in folder.iterdir())


def weights_sha256(checkpoint: Path) -> str:
    """One SHA-256 of all weights of a checkpoint (of the lines `SHA-256  path inside`), or of an endpoint's address."""
    files = sorted(file for kind in ("*.safetensors", "*.onnx", ADDRESS) for file in checkpoint.rglob(kind))
    return named_sha256({str(file.relative_to(checkpoint)): file for file in files})


def write_record(folder: Path, checkpoint: Path, **facts: int) -> None:
    """Write the weights with which an index was made, and its other metadata."""
    record = {"weights": weights_sha256(checkpoint), **facts}
    (folder / RECORD).write_text(json.dumps(record) + "\n", encoding="utf-8")


def read_record(folder: Path, checkpoint: Path) -> dict[str, Any]:
    """The metadata of an index. Raises UserError if it was made with other weights."""
    record = read_json(folder / RECORD)
    if not isinstance(record, dict) or record.get("weights") != weights_sha256(checkpoint):
        raise UserError(f"{folder}: made with other weights than those of {checkpoint}; delete it and encode again")
    return record
