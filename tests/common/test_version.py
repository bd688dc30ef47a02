"""The version is the same wherever it stands."""

import re
import subprocess
from pathlib import Path

import yaml

from scripts.common.version import VERSION

ROOT = Path(__file__).parents[2]


def test_the_citation_the_changelog_and_make_help_name_the_version():
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == VERSION
    assert re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)[1] == VERSION
    shown = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert shown.splitlines()[0] == f"ranktrial {VERSION}"
