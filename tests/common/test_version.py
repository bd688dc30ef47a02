"""The version is the same wherever it stands."""

import re
import subprocess
from pathlib import Path

import yaml

from ranktrial.common.version import VERSION

ROOT = Path(__file__).parents[2]

NEEDED = ("cff-version", "message", "title", "abstract", "type", "version", "authors", "license", "keywords")


def test_the_citation_has_all_that_converters_ask_for():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert [name for name in NEEDED if not citation.get(name)] == [] and citation["type"] == "software"
    for work in citation["references"]:
        assert work["title"] and work["authors"] and work["year"] > 1900 and re.match(r"10\.\d+/", work["doi"])


def test_the_citation_the_changelog_and_make_help_name_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == VERSION
    assert f"version = {{{VERSION}}}" in (ROOT / "README.md").read_text(encoding="utf-8")
    latest = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
    assert latest == f"{VERSION} ({citation['date-released']})"
    deploying = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    assert set(re.findall(r"@v([\d.]+)|--tag v([\d.]+)|tag=\"v([\d.]+)", deploying)) <= {
        (VERSION, "", ""),
        ("", VERSION, ""),
        ("", "", VERSION),
    }
    shown = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert shown.splitlines()[0] == f"ranktrial {VERSION}"
