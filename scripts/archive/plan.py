"""The jobs that the workflow plans for a configuration: each job behind what an archive holds, with its command.

Runs in an empty folder with the Snakefile of --sources. Reads the configuration (JSON) from standard input and prints
the jobs as JSON. No job runs, and no file has to exist: an archive is checked against this list and not believed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from types import SimpleNamespace

CONFIGURATION = "configuration.json"


def planned(workflow) -> list[dict]:
    """The jobs that make the inputs of `rule all`, and in turn their inputs, back to the raw data."""
    from snakemake.iocontainers import Wildcards
    from snakemake.jobs import Job

    from ranktrial.experiment.results_paths import NOT_ARCHIVED, kind

    makers = [rule for rule in workflow.rules if rule.products()]
    start = next(rule for rule in workflow.rules if rule.name == "all")
    dag = SimpleNamespace(workflow=workflow, jobid=lambda job: 0)
    jobs: dict[tuple, dict] = {}
    asked = map(str, start.expand_input(Wildcards())[0])
    waiting, seen = [path for path in asked if kind(path) != NOT_ARCHIVED], set()
    targets = set(waiting)
    while waiting:
        path = waiting.pop()
        maker = None if path in seen else next((rule for rule in makers if rule.is_producer(path)), None)
        seen.add(path)
        if maker is None:
            continue
        wildcards = maker.get_wildcards(path)
        key = (maker.name, *sorted(wildcards.items()))
        if key not in jobs:
            job = Job(maker, dag, wildcards_dict=wildcards)
            jobs[key] = {
                "rule": maker.name,
                "wildcards": dict(wildcards),
                "command": job.shellcmd,
                "inputs": [str(file) for file in job.input],
                "outputs": [str(file) for file in job.output],
                "log": [str(file) for file in job.log],
                "benchmark": job.benchmark and str(job.benchmark),
                "wanted": sorted(targets & {str(file) for file in job.output}),
            }
            waiting += jobs[key]["inputs"]
    return list(jobs.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--modules", required=True, help="where ranktrial/ lies, if that is not among the sources")
    given = parser.parse_args()
    sys.path.append(given.modules)
    Path(CONFIGURATION).write_text(sys.stdin.read())
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        loaded = api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(configfiles=[Path(CONFIGURATION)]),
            snakefile=given.sources / "Snakefile",
        )
        jobs = planned(loaded._workflow)
    print(json.dumps(jobs))


if __name__ == "__main__":
    main()
