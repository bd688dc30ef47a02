"""The settings of the archive's scripts for an experiment, as their `--settings`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ranktrial.experiment.records import Experiment
from ranktrial.experiment.resolution import resolve


@dataclass(frozen=True)
class ArchiveSettings:
    """The settings of all scripts of the archive that run as jobs."""

    experiment: Annotated[str, "its name"]
    config: Annotated[dict, "the configuration as Snakemake merged it from its files"]
    config_files: Annotated[list[str], "where it lay; the last file is the experiment's own"]
    rules: Annotated[dict[str, dict], "of each rule the patterns of its outputs, its benchmark and its environment"]
    snakemake: Annotated[str, "its version"]

    @property
    def config_file(self) -> str:
        """The experiment's own configuration file."""
        return self.config_files[-1]

    def resolved(self) -> Experiment:
        """The experiment. Raises UserError if the configuration is not valid."""
        return resolve(self.config, self.config_file)
