"""`make new`: inspect a folder of data and write a configuration that runs as it is (ranktrial/new/front.py)."""

from __future__ import annotations

import argparse
from pathlib import Path

from ranktrial.common.command_line import run
from ranktrial.new.front import write_configuration


def main() -> None:
    """Write the configuration, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True, help="of data in one of the layouts")
    parser.add_argument("--measure", default="", help="what the values of files of scores are, such as accuracy")
    parser.add_argument("--columns", default="", help="what the columns of scores are: systems, tasks or measures")
    parser.add_argument("--out", type=Path, help="the configuration; by default config/FOLDER.yaml")
    given = parser.parse_args()
    print("\n".join(write_configuration(given.folder, given.measure, given.columns, given.out)))


if __name__ == "__main__":
    run(main)
