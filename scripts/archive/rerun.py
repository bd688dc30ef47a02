"""Runs scripts one after the other in one process: reads jobs from standard input, prints their failures.

Works in the current folder, which holds the jobs' inputs, with the modules on the paths that standard input names. The
outputs of each job are moved to the folder `recomputed` and those of the archive are put back, so that every job reads
the archive's numbers.
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


def rerun(words: list[str], outputs: list[str], recomputed: Path) -> str | None:
    """Run one script, a module; returns its failure as a message, or None."""
    set_aside = {path: Path(f"{path}.kept") for path in map(Path, outputs) if path.is_file()}
    for path, aside in set_aside.items():
        os.replace(path, aside)
    sys.argv = list(words)
    output = io.StringIO()
    failure = None
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        failure = str(end.code) if end.code else None
    except Exception as error:  # the other jobs continue, whatever a script of other sources raises
        failure = f"{type(error).__name__}: {error}"
    for path in map(Path, outputs):
        for file in [path] if path.is_file() else sorted(inner for inner in path.rglob("*") if inner.is_file()):
            (recomputed / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(file, recomputed / file)
    # The ledger would refuse the archive's outputs that are put back now, because no job here wrote them.
    shutil.rmtree(Path("results", "state"), ignore_errors=True)
    for path, aside in set_aside.items():
        os.replace(aside, path)
    return failure


def main() -> None:
    request = json.load(sys.stdin)
    answers = sys.stdout
    # This Python is isolated and needs the paths of the modules; that of installed packages may hold any name.
    sys.path[:0], sys.path[len(sys.path) :] = request["paths"][:1], request["paths"][1:]
    for job in request["jobs"]:
        failure = rerun(job["words"], job["outputs"], Path("recomputed"))
        print(json.dumps({"outputs": job["outputs"], "failure": failure}), file=answers, flush=True)


if __name__ == "__main__":
    main()
