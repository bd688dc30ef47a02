"""Asks Slurm whether it would take one job of each kind that the profile requests; starts none.

Reads profiles/slurm/config.yaml. Jobs with the same partition, GPU, account and other options are one kind; of their
memory and time limits, the largest are asked for. Prints a line per kind, with sbatch's own reason for a refusal, and
exits with 1 if there is one.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ranktrial.common.command_line import run
from ranktrial.common.errors import UserError
from ranktrial.engine.slurm_submission import BY, GRES

PROFILE = Path("profiles/slurm/config.yaml")
COMMON = {"slurm_partition": "--partition", "slurm_account": "--account", "qos": "--qos", "constraint": "--constraint"}
OF_GPU = ("gpu", "gpu_model", BY, "cpus_per_gpu")


class NoInput(list):
    """The inputs of a job that reads nothing, as the profile's expressions see them."""

    size_mb = 0

    def get(self, name: str) -> None:
        """No input has this name."""


@dataclass(frozen=True)
class Kind:
    """The options of sbatch that a kind of job has in common, its memory (MB), its time (minutes), and its rules."""

    options: tuple[str, ...]
    memory: int
    minutes: int
    rules: tuple[str, ...]

    def command(self) -> list[str]:
        """The command that asks."""
        asked = ["sbatch", "--test-only", *self.options, f"--mem={self.memory}", f"--time={self.minutes}"]
        return [*asked, "--wrap", "true"]

    def text(self) -> str:
        """The kind in a line."""
        names = ", ".join(self.rules[:3]) + (f" and {len(self.rules) - 3} more" if len(self.rules) > 3 else "")
        return f"{shlex.join([*self.options, f'--mem={self.memory}', f'--time={self.minutes}'])} ({names})"


def parsed(profile: Path) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """The default resources of a profile, and those of each rule: name -> expression."""
    from snakemake.profiles import ProfileConfigFileParser

    if not profile.is_file():
        raise UserError(f"{profile}: no such file")
    with open(profile, encoding="utf-8") as file:
        found = dict(ProfileConfigFileParser().parse(file))
    default = dict(one.split("=", 1) for one in found["default-resources"])
    rules: dict[str, dict[str, str]] = {}
    for one in found["set-resources"]:
        name, value = one.split("=", 1)
        rule, resource = name.split(":")
        rules.setdefault(rule, {})[resource] = value
    return default, rules


def evaluated(resources: dict[str, str]) -> dict[str, Any]:
    """The values of expressions for the first attempt of a job without inputs."""
    from types import SimpleNamespace

    from snakemake.resources import Resource

    wildcards = SimpleNamespace(made="", part="")
    known: dict[str, Any] = {"wildcards": wildcards, "input": NoInput(), "attempt": 1, "async_run": None}
    return {name: Resource.cli_evaluator(name, value, **known) for name, value in resources.items()}


def kind(rule: str, values: dict[str, Any]) -> Kind:
    """The kind of a rule's jobs, of which a training asks for one GPU."""
    options = [f"{option}={values[name]}" for name, option in COMMON.items() if values.get(name)]
    if any(values.get(name) for name in OF_GPU):
        model = f"{values['gpu_model']}:" if values.get("gpu_model") else ""
        count = values.get("gpu") or 1
        options.append(f"--gres=gpu:{model}{count}" if values.get(BY) == GRES else f"--gpus={model}{count}")
        options += [f"--cpus-per-gpu={values['cpus_per_gpu']}"] if values.get("cpus_per_gpu") else []
    options += shlex.split(values.get("slurm_extra") or "")
    return Kind(tuple(options), int(values["mem_mb"]), int(values["runtime"]), (rule,))


def kinds(profile: Path) -> list[Kind]:
    """The kinds of jobs of a profile, each with the largest memory and time limit of its rules."""
    default, rules = parsed(profile)
    found: dict[tuple[str, ...], Kind] = {}
    for rule, resources in {"all other rules": {}, **rules}.items():
        one = kind(rule, evaluated({**default, **resources}))
        before = found.get(one.options)
        found[one.options] = one if before is None else replace(
            before, memory=max(before.memory, one.memory), minutes=max(before.minutes, one.minutes),
            rules=(*before.rules, *one.rules),
        )  # fmt: skip
    return list(found.values())


def refusal(one: Kind) -> str | None:
    """Why Slurm would refuse such a job; None if it would take it. Raises UserError without sbatch."""
    try:
        done = subprocess.run(one.command(), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise UserError("sbatch: no such command on this machine; make check-cluster needs Slurm's") from None
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"exit code {done.returncode}"]
    return lines[-1].removeprefix("allocation failure: ").removeprefix("sbatch: error: ")


def main() -> None:
    os.environ.setdefault("RANKTRIAL_DEVICE", "")
    found = {one: refusal(one) for one in kinds(PROFILE)}
    for one, reason in found.items():
        print(f"ok: {one.text()}" if reason is None else f"refused: {one.text()}: {reason}")
    if any(found.values()):
        sys.exit("error: Slurm would refuse these jobs: edit the block at the top of profiles/slurm/config.yaml")


if __name__ == "__main__":
    run(main)
