"""Downloads: everything that needs a network; `check` tests availability, `prepare` fetches and prepares.

In: URLs, PyPI packages, ids of ir_datasets, hub ids. Out: results/downloads/, shared by all experiments. `snakemake
check` prints a table to the terminal, with one line for each missing item.
"""

from ranktrial.engine.rule_helpers import settings
from ranktrial.experiment.records import UNTRAINED
from scripts.datasets import planning as datasets


localrules:
    check,
    fetch,
    fetch_folder,


use rule in_workflow as check with:
    log:
        result("log", job="check"),
    params:
        **job(
            "datasets/check.py",
            lambda wildcards: dict(mirrors=EXPERIMENT.mirrors, sources=list(SOURCES.needed(EXPERIMENT))),
        ),


rule fetch:  # no parameter `code`: the SHA-256 identifies the download, whichever code fetched it
    output:
        download=result("download"),
    wildcard_constraints:
        download=one_of(SOURCES.files()),
    params:
        settings=lambda wildcards: settings(**SOURCES.fetched()[wildcards.download]),
    conda:
        "../envs/workflow.yaml"
    shell:
        "python -P -m scripts.datasets.fetch --download {output.download:q} --settings {params.settings:q} --log {log:q}"


use rule fetch as fetch_folder with:
    output:
        download=directory(result("download")),
    wildcard_constraints:
        download=one_of(SOURCES.folders()),


rule prepare:  # on a machine with network access; afterwards no other rule needs it
    input:
        datasets.fetched_statistics(EXPERIMENT),
        expand(result("checkpoint", recipe=UNTRAINED, seed=0), model=EXPERIMENT.models),
