"""Runs scripts one after the other in one process: a list of jobs on standard input, their verdicts on standard output.

Works in the current folder, which holds the jobs' inputs, with the sources of PYTHONPATH. Each job's outputs are moved
to the folder `recomputed`, and the archive's own are put back, so that every job reads the archive's numbers.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import shutil
import sys
from pathlib import Path

from scripts.common import ledger


def rerun(sources: Path, words: list[str], outputs: list[str], recomputed: Path) -> str | None:
    """Run one script; returns what went wrong, in a line."""
    kept = {path: Path(f"{path}.kept") for path in map(Path, outputs) if path.is_file()}
    for path, aside in kept.items():
        os.replace(path, aside)
    sys.argv = [str(sources / words[0]), *words[1:]]
    said = io.StringIO()
    failure = None
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        failure = str(end.code) if end.code else None
    except Exception as error:  # whatever a script of other sources does, the other jobs go on
        failure = f"{type(error).__name__}: {error}"
    for path in map(Path, outputs):
        ledger.forget(path)  # the archive's own comes back, which no job wrote here
        if path.is_file():
            (recomputed / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(path, recomputed / path)
    for path, aside in kept.items():
        os.replace(aside, path)
    return failure


def main() -> None:
    asked = json.load(sys.stdin)
    sources = Path(asked["sources"])
    for job in asked["jobs"]:
        failure = rerun(sources, job["words"], job["outputs"], Path("recomputed"))
        print(json.dumps({"outputs": job["outputs"], "failure": failure}), flush=True)


if __name__ == "__main__":
    main()
