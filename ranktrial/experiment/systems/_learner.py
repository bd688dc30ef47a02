"""The learner of an entry: a name alone, or with parameters and grids; reads and writes nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, cast

from ranktrial.common.keys import OTHERS
from ranktrial.common.near_names import hint
from ranktrial.experiment.checker import Checker
from ranktrial.learning_to_rank.learners import Learner, Value, known

MOST_COMBINATIONS = 200


@dataclass(frozen=True, kw_only=True)
class LearnerKeys:
    """A learner with its parameters, each a value or a grid."""

    type: Annotated[str, "name of the learner"]
    parameters: Annotated[Mapping[str, object], OTHERS] = field(default_factory=dict)


def learner_of(check: Checker, key: str, asked: str | LearnerKeys) -> tuple[str, dict[str, list[Value]]]:
    """Return the learner and the values of each parameter. Raises UserError for an unknown or invalid parameter."""
    entry = LearnerKeys(type=asked) if isinstance(asked, str) else asked
    learners, name = known(), entry.type
    if name not in learners:
        raise check.fail(key, f"unknown learner {name!r}{hint(name, learners)}; expected one of {', '.join(learners)}")
    learner: Learner = learners[name]
    values: dict[str, list[Value]] = {parameter: [one.default] for parameter, one in learner.PARAMETERS.items()}
    for parameter, value in entry.parameters.items():
        if parameter not in learner.PARAMETERS:
            meant = hint(parameter, learner.PARAMETERS)
            raise check.fail(key, f"unknown parameter {parameter!r}{meant}; {name} has {', '.join(learner.PARAMETERS)}")
        values[parameter] = value if isinstance(value, list) else [cast(Value, value)]
        for one in values[parameter]:
            if mistake := learner.PARAMETERS[parameter].mistake(one):
                raise check.fail(f"{key}.{parameter}", mistake)
        if not values[parameter] or len(set(values[parameter])) < len(values[parameter]):
            raise check.fail(f"{key}.{parameter}", "expected at least one value, and none twice")
    if (number := math.prod(map(len, values.values()))) > MOST_COMBINATIONS:
        raise check.fail(key, f"{number:,} combinations of parameters; expected at most {MOST_COMBINATIONS}")
    return name, values
