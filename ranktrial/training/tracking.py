"""Logs of trainings in TensorBoard, Weights & Biases or MLflow, by the library's own callbacks (`report_to`).

The program is no setting of a training: another one, or none, trains nothing again. Jobs read it from the environment,
as the programs do with their servers, keys and projects, of which results have nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.urls import redacted

REPORT_TO = "RANKTRIAL_REPORT_TO"  # passes `report_to` of the configuration to jobs
FOLDER = "TENSORBOARD_LOGGING_DIR"  # the folder of each training is below it
UNLESS_SET = {"WANDB_PROJECT": "ranktrial", "MLFLOW_EXPERIMENT_NAME": "ranktrial", FOLDER: "tensorboard"}
QUIET = {"WANDB_SILENT": "true", "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true"}  # archives contain what jobs print


def check_installed() -> None:
    """Raise UserError if the package that is to log trainings is not installed."""
    program = os.environ.get(REPORT_TO)
    if program and not find_spec(program):
        raise UserError(f"report_to: {program} is not installed: .venv/bin/pip install {program}, or leave the key out")


def tracked(name: str) -> dict[str, Any]:
    """The library's arguments for logging the training of this name, which are read with the environment set here."""
    program = os.environ.get(REPORT_TO)
    if not program:
        return {"report_to": "none"}
    for variable, value in (UNLESS_SET | QUIET).items():
        os.environ.setdefault(variable, value)
    os.environ[FOLDER] += f"/{name.lstrip('/')}"
    return {"report_to": program, "run_name": name}


@contextmanager
def names_program() -> Iterator[None]:
    """Within this context, what the program refuses, such as a missing key, is a UserError."""
    try:
        yield
    except Exception as error:
        program = os.environ.get(REPORT_TO)
        if program and type(error).__module__.partition(".")[0] == program:
            raise UserError(f"report_to: {program}: {redacted(' '.join(str(error).split()))}") from None
        raise
