"""Runs scripts one after the other in one process: a list of jobs on standard input, their verdicts on standard output.

Works in the current folder, which holds the jobs' inputs, with the sources that are named on standard input. Each job's
outputs are moved to the folder `recomputed`, and the archive's own are put back, so that every job reads the archive's
numbers.
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
        for file in [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file()):
            (recomputed / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(file, recomputed / file)
    shutil.rmtree(Path("results", "state"), ignore_errors=True)  # the archive's own come back, which no job wrote here
    for path, aside in kept.items():
        os.replace(aside, path)
    return failure


def main() -> None:
    asked = json.load(sys.stdin)
    sources, answers = Path(asked["sources"]), sys.stdout
    sys.path.insert(0, str(sources))  # this Python is isolated: nothing else says where the modules are
    sys.path += asked["packages"]
    for job in asked["jobs"]:
        failure = rerun(sources, job["words"], job["outputs"], Path("recomputed"))
        print(json.dumps({"outputs": job["outputs"], "failure": failure}), file=answers, flush=True)


if __name__ == "__main__":
    main()
