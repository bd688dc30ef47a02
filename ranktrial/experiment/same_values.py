"""Selection of the pairs of control and treatment that agree in the keys of a comparison's `same`."""

from __future__ import annotations

from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.keys import JsonObject
from ranktrial.experiment.key_paths import get


class Alike:
    """Filter of a comparison's combinations of values: control and treatment must agree in the keys of `same`."""

    def __init__(self, systems: object, source: str) -> None:
        self.systems = systems if isinstance(systems, dict) else {}
        self.source = source

    def _value(self, system: object, key: str) -> Any:
        if key == "system":
            return system
        return get(self.systems.get(system), (key,)) if isinstance(system, str) else None

    def of(
        self, name: str, entry: JsonObject, paths: list[tuple[str, ...]], combinations: list[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        """Return the combinations to keep. Raises UserError if there are none."""
        keys = entry.get("same")
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            return combinations  # the schema check rejects such an entry later

        def alike(values: tuple[Any, ...]) -> bool:
            listed = dict(zip(paths, values, strict=True))
            control, treatment = (listed.get((role,), entry.get(role)) for role in ("control", "treatment"))
            return all(self._value(control, key) == self._value(treatment, key) for key in keys)

        remaining = [values for values in combinations if alike(values)]
        if not remaining:
            problem = f"no control and treatment have the same {' and '.join(map(str, keys))}"
            raise UserError(f"{self.source}: comparisons.{name}.same: {problem}")
        return remaining
