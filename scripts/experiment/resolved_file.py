"""The configuration of a run, with all defaults, as a file beside the results.

Snakemake merges several files and --config into one configuration that stands nowhere; here it is written down at each
run, and is itself a file for --configfile that means the same experiment (so a list that makes several systems or
comparisons stays a list, which also says what is drawn together). It is no job's output: nothing depends on it.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from scripts.common.errors import UserError
from scripts.common.keys import JsonObject
from scripts.common.replacing import write_whole
from scripts.experiment.location_checks import check_secrets
from scripts.experiment.reading import complete, with_defaults

NAME = "config.yaml"
HEAD = (
    "# The configuration of the last run with all defaults, written by the workflow; it can be given as --configfile.\n"
)


class _WithoutAliases(yaml.SafeDumper):
    """Writes what stands in several places in each of them, for readers who do not know YAML's anchors."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def resolved_text(config: JsonObject, source: str) -> str:
    """The configuration with all defaults as YAML. Raises UserError, beginning with `source`, where it is not right."""
    check_secrets(config, source)
    complete(config, source)
    return HEAD + yaml.dump(
        with_defaults(config), Dumper=_WithoutAliases, sort_keys=False, allow_unicode=True, width=120
    )


def write_resolved(config: JsonObject, source: str, folder: Path) -> None:
    """Write the configuration with all defaults into the folder, whole or not at all. Raises UserError."""
    path, text = folder / NAME, resolved_text(config, source)
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None
