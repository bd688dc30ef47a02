"""The configuration of a run, with all defaults, as a file in the results folder.

Snakemake merges several files and --config into one configuration that is not stored. Here it is written at each run,
as a file for --configfile that defines the same experiment. (A list that makes several systems or comparisons therefore
remains a list, which also determines what is drawn together.) It is not the output of a job: nothing depends on it.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from ranktrial.common.errors import UserError
from ranktrial.common.keys import JsonObject
from ranktrial.common.replacing import write_whole
from ranktrial.experiment.location_checks import check_secrets
from ranktrial.experiment.reading import complete, with_defaults

NAME = "config.yaml"
HEAD = (
    "# The configuration of the last run with all defaults, written by the workflow; it can be given as --configfile.\n"
)


class _WithoutAliases(yaml.SafeDumper):
    """A dumper that repeats shared values, for readers who do not know YAML's anchors."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def resolved_text(config: JsonObject, source: str) -> str:
    """Return the configuration with all defaults as YAML. Raises UserError, beginning with `source`, if invalid."""
    check_secrets(config, source)
    complete(config, source)
    return HEAD + yaml.dump(
        with_defaults(config), Dumper=_WithoutAliases, sort_keys=False, allow_unicode=True, width=120
    )


def write_resolved(config: JsonObject, source: str, folder: Path) -> None:
    """Write the configuration with all defaults into the folder, atomically. Raises UserError."""
    path, text = folder / NAME, resolved_text(config, source)
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None
