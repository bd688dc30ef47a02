"""The functions that programs and the command line call: what `import ranktrial as rt` offers.

They take tables, arrays and runs in memory, and give what the workflow gives for the same values, by the same code.
Each is loaded when it is used, so that importing takes no time; ranktrial/__init__.pyi names them for type checkers.
"""

from __future__ import annotations

import importlib

PLACES = {
    "compare": ("ranktrial.api.comparing", "compare"),
    "evaluate": ("ranktrial.api.evaluating", "evaluate"),
    "read": ("ranktrial.api.reading", "read"),
    "power": ("ranktrial.api.further_study", "power"),
    "Findings": ("ranktrial.api.findings", "Findings"),
    "Plan": ("ranktrial.api.further_study", "Plan"),
    "UserError": ("ranktrial.common.errors", "UserError"),
    "__version__": ("ranktrial.common.version", "VERSION"),
}
__all__ = list(PLACES)


def __getattr__(name: str) -> object:
    if name not in PLACES:
        raise AttributeError(f"module 'ranktrial' has no attribute {name!r}")
    module, attribute = PLACES[name]
    return getattr(importlib.import_module(module), attribute)
