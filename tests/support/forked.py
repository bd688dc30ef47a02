"""Runs one script of the workflow many times, each time with a fault, and says what it left.

    python forked.py PLAN.json        PLAN: script, arguments, outputs, expected (folder), written (folder), kills, disks, preload

The script's modules are imported once; every try is a fork, so that many cost little. A killed try ends by SIGKILL just
before its n-th step on the file system (a folder or file opened for writing, renamed or removed), as seen by Python's
audit hooks: not at a random moment, but before each one that matters. Full and read-only disks are real ones (tmpfs).
Prints a JSON list of what went wrong.
"""

import importlib
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import types
from pathlib import Path

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
STEPS = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree", "os.link", "os.truncate"}


def hook(counted: list[int], folder: str, kill_at: int | None):
    """Counts steps below `folder` and ends the process before the one with number `kill_at`."""

    def audit(event: str, arguments: tuple) -> None:
        opened = event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITES
        if not (opened or event in STEPS) or not isinstance(arguments[0], str | bytes | Path):
            return
        if folder in os.fsdecode(arguments[0]):
            if counted[0] == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            counted[0] += 1

    return audit


class Tries:
    """The tries of one script; what is wrong with one is noted in `wrong`."""

    def __init__(self, plan: dict) -> None:
        self.plan, self.written = plan, Path(plan["written"])
        self.wrong: list[str] = []
        self.code = compile(Path(plan["script"]).read_bytes(), plan["script"], "exec")

    def run(self, kill_at: int | None = None) -> tuple[int, str, int]:
        """One try: its exit status (negative: a signal), what it printed, and its steps."""
        with tempfile.TemporaryFile(dir="/dev/shm") as said, tempfile.TemporaryFile(dir="/dev/shm") as steps:
            process = os.fork()
            if process == 0:
                self.child(said.fileno(), steps.fileno(), kill_at)
            status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            said.seek(0)
            steps.seek(0)
            return status, said.read().decode(errors="replace"), int(steps.read() or 0)

    def child(self, said: int, steps: int, kill_at: int | None) -> None:
        os.dup2(said, 1)
        os.dup2(said, 2)
        counted = [0]
        sys.addaudithook(hook(counted, self.plan["written"], kill_at))
        sys.argv = [self.plan["script"], *self.plan["arguments"]]
        ended = 0
        try:
            main = types.ModuleType("__main__")  # the types of its settings are looked up there
            main.__file__ = self.plan["script"]
            sys.modules["__main__"] = main
            exec(self.code, main.__dict__)
        except SystemExit as error:
            ended = error.code if isinstance(error.code, int) else int(error.code is not None)
            if isinstance(error.code, str):
                os.write(2, f"{error.code}\n".encode())
        except BaseException:
            import traceback

            os.write(2, traceback.format_exc().encode())
            ended = 1
        sys.stderr.flush()
        sys.stdout.flush()
        os.write(steps, str(counted[0]).encode())
        os._exit(ended)

    def files(self) -> dict[str, bytes]:
        """What lies below the outputs' names, by path."""
        found = {}
        for name in self.plan["outputs"]:
            path = self.written / name
            below = [one for one in path.rglob("*") if one.is_file()] if path.is_dir() else [path]
            found |= {str(one.relative_to(self.written)): one.read_bytes() for one in below if one.is_file()}
        return found

    def expected(self) -> dict[str, bytes]:
        here = self.written
        try:
            self.written = Path(self.plan["expected"])
            return {
                name: content for name, content in self.files().items() if not name.endswith(".snakemake_timestamp")
            }
        finally:
            self.written = here

    def check(self, when: str, whole: bool) -> None:
        """Note each file under an output's name that is not as expected and, if they are to be `whole`, each lacking."""
        expected, found = self.expected(), self.files()
        folders = [name for name in self.plan["outputs"] if (Path(self.plan["expected"]) / name).is_dir()]
        for name, content in expected.items():
            in_folder = any(name.startswith(f"{one}/") and (self.written / one).exists() for one in folders)
            if name not in found:
                if whole or in_folder:
                    self.wrong.append(f"{when}: {name} is missing")
            elif name.endswith("timing.json"):
                json.loads(found[name])
            elif found[name] != content and not any(part in name for part in self.plan.get("varying", [])):
                self.wrong.append(f"{when}: {name} has other bytes")
        self.wrong += [f"{when}: {name} was not wanted" for name in set(found) - set(expected)]

    def leftovers(self, when: str) -> None:
        left = [str(path.relative_to(self.written)) for path in self.written.rglob(".*")]
        self.wrong += [f"{when}: {name} is left" for name in left]

    def clear(self) -> None:
        """Remove the outputs, as Snakemake does before a job, and nothing else."""
        for name in self.plan["outputs"]:
            path = self.written / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def folders(self) -> None:
        """Make the folders of the outputs, as Snakemake does before a job."""
        for name in self.plan["outputs"]:
            (self.written / name).parent.mkdir(parents=True, exist_ok=True)

    def undisturbed(self, when: str) -> int:
        status, said, steps = self.run()
        if status:
            self.wrong.append(f"{when}: ended with {status}: {said[-2000:]}")
        self.check(when, whole=True)
        self.leftovers(when)
        self.clear()
        return steps

    def kills(self) -> None:
        """Kill tries before steps that are spread over all of them; then one that ends as if nothing had happened."""
        self.folders()
        steps = self.undisturbed("undisturbed")
        many = min(self.plan["kills"], steps)
        killed = 0
        points = sorted({round(n * (steps - 1) / max(many - 1, 1)) for n in range(many)})
        for point in points:
            status, said, _ = self.run(point)
            if status not in (-signal.SIGKILL, 0):  # a try after another may need a step less
                self.wrong.append(f"step {point}: not killed but {status}: {said[-2000:]}")
            killed += status == -signal.SIGKILL
            self.check(f"killed at step {point} of {steps}", whole=status == 0)
            self.clear()
        if killed < len(points) / 2:  # a training that resumes has less to do
            self.wrong.append(f"only {killed} of {len(points)} tries were killed")
        self.undisturbed(f"after {len(points)} kills")
        print(f"{self.plan['script']}: {steps} steps, {len(points)} kills", file=sys.stderr)

    def disks(self) -> None:
        """Tries on disks that are read-only or too small: one line each and nothing left, or all of it."""
        kinds = [("read-only", "ro"), *((f"{size} KiB", f"size={size}k") for size in self.plan["disks"])]
        for name, options in kinds:
            subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.written], check=True)
            try:
                if name != "read-only":
                    self.folders()
                status, said, _ = self.run()
                lines = said.splitlines()
                reported = [line for line in lines if line.startswith("error: ")]
                if status == 0:
                    self.check(name, whole=True)
                elif status != 1 or len(reported) != 1 or lines[-1:] != reported or "Traceback" in said:
                    self.wrong.append(f"{name}: ended with {status}, said: {said[-2000:]}")
                elif self.files():
                    self.check(name, whole=False)
                if status and not any(one in said for one in ("No space left", "Read-only file system")):
                    self.wrong.append(f"{name}: does not name the disk: {said[-500:]}")
                if status == 0 and name == "read-only":
                    self.wrong.append("read-only: ended well")
                self.leftovers(name)
                print(f"{self.plan['script']}: {name}: {status} {reported}", file=sys.stderr)
            finally:
                subprocess.run(["umount", "--lazy", self.written], check=True)


def main() -> None:
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.path.insert(0, os.getcwd())
    Path(plan["written"]).mkdir(parents=True, exist_ok=True)
    runpy.run_path(plan["script"], run_name="imported")  # its modules stay; the script itself begins anew in each try
    for name in plan.get("preload", []):  # what the script imports only when it needs it
        importlib.import_module(name)
    tries = Tries(plan)
    if plan.get("kills"):
        tries.kills()
    if plan.get("disks"):
        tries.disks()
    print(json.dumps(tries.wrong))


if __name__ == "__main__":
    main()
