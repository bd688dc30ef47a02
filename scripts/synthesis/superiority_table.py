"""Table of the queries that each system of a comparison wins, a row a task.

Reads the metrics files of control and treatment. Writes tables/queries/{comparison}.tsv: wins, ties and losses of the
treatment and its probability of superiority with its interval, at full precision.
"""

from __future__ import annotations

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_text
from scripts.synthesis.query_differences import Settings, query_differences
from scripts.synthesis.superiority import superiority


def main() -> None:
    arguments = parser(__doc__, "control*", "treatment*", "table", settings=Settings).parse_args()
    settings: Settings = arguments.settings
    sign = -1 if settings.lower_is_better else 1
    differences = query_differences(arguments.control, arguments.treatment, settings.measure, settings.treatment_on)
    rows = [
        {"task": task, "n": len(values), **superiority(sign * values, settings.alpha)._asdict()}
        for task, values in differences.items()
    ]
    with atomic_text(arguments.table) as file:
        pd.DataFrame(rows).to_csv(file, sep="\t", index=False)


if __name__ == "__main__":
    run(main)
