"""How the numbers of a comparison are shown: settings that figures and tables share; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from ranktrial.experiment.sections.comparison import Figure


@dataclass(frozen=True, kw_only=True)
class Looks(Figure):
    """The settings of a figure or table of a comparison: what is compared, and how it is shown."""

    alpha: Annotated[float, "1 - alpha is the level of confidence"]
    estimator: Annotated[str, "of tau2, to be named"]
    interval: Annotated[str, "of the summary, to be named"]
    judged: Annotated[str, "column of the metrics with the share of judged documents, such as Judged@10; empty: none"]
    lower_is_better: Annotated[bool, "of the measure: a negative difference favours the treatment"] = False
    trained: Annotated[dict[str, list[str]], "system: the tasks on whose training queries it learnt"] = field(
        default_factory=dict
    )
    unstated: Annotated[list[str], "systems of whose published weights nobody states what they were trained on"] = (
        field(default_factory=list)
    )
