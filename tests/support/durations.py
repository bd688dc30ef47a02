"""How long each file of tests takes: measured by `make durations`, read where tests are given to several processes.

python -m tests.support.durations JUNIT.xml     writes tests/durations.tsv: file, seconds (those of a second or more)
"""

import sys
from collections import Counter
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

TABLE = Path(__file__).parents[1] / "durations.tsv"


def measured(report: Path) -> Counter[str]:
    """The seconds of each file in a report of pytest."""
    seconds: Counter[str] = Counter()
    for case in ElementTree.parse(report).iter("testcase"):
        seconds[case.get("classname", "").replace(".", "/") + ".py"] += float(case.get("time", 0))
    return seconds


@cache
def known() -> dict[str, float]:
    """The seconds of each file as they were last measured."""
    rows = (line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()[1:])
    return {file: float(seconds) for file, seconds in rows}


def main() -> None:
    rows = [f"{file}\t{seconds:.0f}\n" for file, seconds in measured(Path(sys.argv[1])).most_common() if seconds >= 1]
    TABLE.write_text("file\tseconds\n" + "".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
