"""A part of the page's data as a script; writes it.

JSON, deflated and in base64: a third of the size, and no text of a collection (`</script>`, U+2028) can end the string
that contains it. The script calls `explorer.receive(packed)`, since a page opened from the disk cannot read files.
"""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

LEVEL = 6


def script(value: Any) -> str:
    """The script that hands `value` to the page."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text64 = base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), LEVEL)).decode()
    return f'explorer.receive("{text64}");\n'


def write(folder: Path, name: str, value: Any) -> int:
    """Write `value` below `folder` as `name`.js; return its bytes."""
    path = folder / f"{name}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.write_text(script(value), encoding="ascii")
