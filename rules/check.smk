"""Check: can everything that the experiment downloads be had? `snakemake check` asks, and downloads nothing.

In: the locations of datasets and models. Out: a table on the terminal and one line for each thing that is missing.
"""


rule check:
    input:
        **code("datasets/check.py"),
    log:
        result("log", job="check"),
    params:
        settings=settings(mirrors=EXPERIMENT.mirrors, sources=list(SOURCES.needed(EXPERIMENT))),
    conda:
        "../envs/datasets.yaml"
    message:
        "check"
    shell:
        "python {input.script:q} --settings {params.settings:q} --log {log:q}"
