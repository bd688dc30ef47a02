"""Check: can everything that the experiment downloads be had? `snakemake check` asks, and downloads nothing.

In: the locations of datasets and models. Out: a table on the terminal and one line for each thing that is missing.
"""


def needed():
    """The datasets and models with what fetching them depends on, and their download where they do not lie here."""
    places = {f"datasets.{name}": (dataset["location"], None) for name, dataset in PREPARED.items()}
    places |= {f"models.{name}": (model["weights"], model["revision"]) for name, model in EXPERIMENT.models.items()}
    for name, (location, revision) in places.items():
        path = source(location, revision)
        wanted = FETCHED[Path(path).name] if path != location else {}
        yield {"name": name, **wanted, "location": location} | ({"download": path} if wanted else {})


rule check:
    input:
        **code("datasets/check.py"),
    log:
        results("logs/check.log"),
    params:
        settings=settings(mirrors=EXPERIMENT.mirrors, sources=list(needed())),
    conda:
        "../envs/datasets.yaml"
    message:
        "check"
    shell:
        "python {input.script:q} --settings {params.settings:q} --log {log:q}"
