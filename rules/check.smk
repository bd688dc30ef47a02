"""Check: can everything that the experiment downloads be had? `snakemake check` asks, and downloads nothing.

In: the locations of datasets and models. Out: a table on the terminal and one line for each thing that is missing.
"""


rule check:
    log:
        result("log", job="check"),
    params:
        code=code("datasets/check.py"),
        settings=settings(mirrors=EXPERIMENT.mirrors, sources=list(SOURCES.needed(EXPERIMENT))),
    conda:
        "../envs/datasets.yaml"
    message:
        "check"
    shell:
        "python {params.code[script]:q} --settings {params.settings:q} --log {log:q}"
