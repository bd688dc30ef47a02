"""Put the experiment's runs in one folder to be given away, each with an ir_metadata file that records its origin.

Reads runs and Snakemake's records. Writes {task}.{system}.seed-{seed}.trec.gz and beside it .ir_metadata.yaml.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from ranktrial.archive.ir_metadata import origins_of_runs
from ranktrial.archive.jobs import ArchiveSettings, described, job_records, jobs_behind, read_left_out
from ranktrial.archive.privacy import of_this_process
from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_folder
from ranktrial.experiment.results_paths import fields_of


def export_runs(runs: list[Path], exported: Path, settings: ArchiveSettings) -> None:
    """Put the experiment's runs in one folder to be given away, each with an ir_metadata file of its origin."""
    privacy = of_this_process(settings.config)
    experiment = settings.resolved()
    jobs = jobs_behind([str(path) for path in runs], job_records())
    left_out = read_left_out(experiment.name)
    described_jobs = [described(job, settings.rules.get(job.record["rule"], {}), left_out) for job in jobs]
    taken: dict[str, str] = {}
    with atomic_folder(exported) as folder:
        for path, page in origins_of_runs(experiment, described_jobs).items():
            name = "{task}.{system}.seed-{seed}.trec.gz".format(**fields_of("run", path))
            if name in taken:
                raise UserError(f"{path} and {taken[name]} would both be exported as {name}; rename a task or a system")
            taken[name] = path
            shutil.copyfile(path, folder / name)
            privacy.refuse_left({name: folder / name})
            (folder / name.replace(".trec.gz", ".ir_metadata.yaml")).write_bytes(privacy.clean(page.encode()))
    print(f"{exported}: {len(taken)} runs")


if __name__ == "__main__":
    job(export_runs)
