"""Scripts before the commands of Slurm in PATH: lines of a site's own, failures, empty answers, and a lock in each job.

What a command does is the word in `{command}.mode` beside the script, which tests change while a run is under way.
"""

import shlex
from pathlib import Path

LINE = "Project lab: 1500 node-hours left, valid until 2027"
SBATCH = f"""\
#!/bin/sh
previous=
for word; do
    [ "$previous" = --comment ] && export RANKTRIAL_TEST_JOB="$word"
    previous=$word
done
case "$(cat "$0.mode")" in
lines) echo "{LINE}"; /usr/bin/sbatch "$@"; code=$?; echo "{LINE}"; exit $code;;
fail) echo "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)" >&2; exit 1;;
late) /usr/bin/sbatch "$@" >>"$0.taken"
    echo "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation" >&2; exit 1;;
*) exec /usr/bin/sbatch "$@";;
esac
"""
SQUEUE = f"""\
#!/bin/sh
case "$(cat "$0.mode")" in
lines) echo; echo "{LINE}"; exec /usr/bin/squeue "$@";;
fail) echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" >&2; exit 1;;
empty) exit 0;;
*) exec /usr/bin/squeue "$@";;
esac
"""
MODES = {"sbatch": ("lines", "fail", "late"), "squeue": ("lines", "fail", "empty")}
# A job's comment names its rule and wildcards, so two jobs with one comment have the same outputs.
LOCK = """\
if [ -n "${{RANKTRIAL_TEST_JOB:-}}" ]; then
    exec 9>>{folder}/"$(echo "$RANKTRIAL_TEST_JOB" | tr / _)".lock
    flock --nonblock 9 || echo "$RANKTRIAL_TEST_JOB $SLURM_JOB_ID" >>{folder}/broken
    echo "$RANKTRIAL_TEST_JOB" >>{folder}/begun
fi
"""


class Wrappers:
    """The scripts in a folder that comes first in PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        for command, script in (("sbatch", SBATCH), ("squeue", SQUEUE)):
            (folder / command).write_text(script)
            (folder / command).chmod(0o755)
            self.mode(command, "as it is")

    def mode(self, command: str, word: str) -> None:
        """What a command does from now on, one of MODES; any other word: what Slurm's own does."""
        (self.folder / f"{command}.new").write_text(word)
        (self.folder / f"{command}.new").rename(self.folder / f"{command}.mode")

    @property
    def taken(self) -> list[str]:
        """The ids of jobs that Slurm took while `sbatch` reported a failure."""
        path = self.folder / "sbatch.taken"
        return path.read_text().split() if path.exists() else []


def lock_jobs(repository: Path, folder: Path) -> None:
    """Let each command of a job in a copy of the repository hold a lock on what its job writes."""
    folder.mkdir()
    (folder / "lock.sh").write_text(LOCK.format(folder=shlex.quote(str(folder))))
    start = repository / "rules" / "start.smk"
    text = start.read_text()
    assert text.count('shell.prefix(f"set -euo pipefail; ') == 1
    start.write_text(
        text.replace('shell.prefix(f"set -euo pipefail; ', f'shell.prefix(f"set -euo pipefail; . {folder}/lock.sh; ')
    )


def read(path: Path) -> list[str]:
    """The lines of a file that jobs write; none where there is no such file."""
    return path.read_text().splitlines() if path.exists() else []
