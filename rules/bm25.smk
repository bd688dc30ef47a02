"""BM25 with Lucene or on a server: an index a dataset, k1 and b tuned on dev where a system asks for it, a run a task.

In: data/{dataset}/. Out: bm25/{dataset}/index (index-{analyzer}-{fields} where they are not Pyserini's) or
{system}.elasticsearch.json (which index on which server), {system}.parameters.json with {system}.grid.tsv (the values tried),
train.trec.gz (the ranking from which negatives come), and runs/{task}/{system}/seed-0.trec.gz with its timing.
"""


NEGATIVES_DEPTH = 200  # documents a training query, of which the negatives are the best not judged relevant


def bm25_index(system, dataset):
    """The index that a system searches, or the record of its index on a server."""
    dataset = EXPERIMENT.corpus_owner(dataset)
    if "url" in system.settings:
        return results(f"bm25/{dataset}/{system.name}.elasticsearch.json")
    name = "-".join(["index", system.settings["analyzer"], system.settings["fields"]])
    return results(f"bm25/{dataset}/{'index' if name == 'index-english-together' else name}")


def index_settings(wildcards):
    analyzer, fields = (wildcards.how or "-english-together").split("-")[1:]
    return settings(analyzer=analyzer, fields=fields)


def bm25_parameters(wildcards):
    """The tuned parameters' file, for a system that tunes them."""
    system, task = EXPERIMENT.systems[wildcards.system], TASKS[wildcards.task]
    return results(f"bm25/{task.dataset}/{system.name}.parameters.json") if "measure" in system.settings else []


def search_settings(wildcards):
    system = EXPERIMENT.systems[wildcards.system]
    fixed = {key: system.settings[key] for key in ["analyzer", "fields"]}
    if "measure" not in system.settings:
        fixed |= {key: system.settings[key] for key in PYSERINI_BM25}
    return settings(**fixed, depth=EXPERIMENT.depth, tag=system.name)


rule index:
    input:
        **code("bm25/index.py"),
        corpus=results("data/{dataset}/corpus.jsonl"),
    output:
        index=directory(results("bm25/{dataset}/index{how}")),
    log:
        results("logs/index/{dataset}{how}.log"),
    benchmark:
        results("benchmarks/index/{dataset}{how}.tsv")
    wildcard_constraints:
        how="(-(english|standard)-(together|best))?",
    params:
        settings=index_settings,
    conda:
        "../envs/bm25.yaml"
    message:
        "index {wildcards.dataset}{wildcards.how}"
    shell:
        "python {input.script:q} --corpus {input.corpus:q} --index {output.index:q}"
        " --settings {params.settings:q} --log {log:q}"


rule index_elasticsearch:
    input:
        **code("bm25/index_elasticsearch.py"),
        corpus=results("data/{dataset}/corpus.jsonl"),
    output:
        record=results("bm25/{dataset}/{system}.elasticsearch.json"),
    log:
        results("logs/index_elasticsearch/{dataset}/{system}.log"),
    params:
        settings=lambda wildcards: settings(**EXPERIMENT.systems[wildcards.system].settings, depth=EXPERIMENT.depth),
    conda:
        "../envs/bm25.yaml"
    message:
        "index_elasticsearch {wildcards.dataset} {wildcards.system}"
    shell:
        "python {input.script:q} --corpus {input.corpus:q} --record {output.record:q}"
        " --settings {params.settings:q} --log {log:q}"


rule tune:
    input:
        **code("bm25/tune.py"),
        index=lambda wildcards: bm25_index(EXPERIMENT.systems[wildcards.system], wildcards.dataset),
        queries=results("data/{dataset}/queries/dev.jsonl"),
        qrels=results("data/{dataset}/qrels/dev.qrels"),
    output:
        parameters=results("bm25/{dataset}/{system}.parameters.json"),
        grid=results("bm25/{dataset}/{system}.grid.tsv"),
    log:
        results("logs/tune/{dataset}/{system}.log"),
    benchmark:
        results("benchmarks/tune/{dataset}/{system}.tsv")
    params:
        settings=lambda wildcards: settings(**EXPERIMENT.systems[wildcards.system].settings),
    conda:
        "../envs/bm25.yaml"
    message:
        "tune {wildcards.dataset} {wildcards.system}"
    shell:
        "python {input.script:q} --index {input.index:q} --queries {input.queries:q} --qrels {input.qrels:q}"
        " --parameters {output.parameters:q} --table {output.grid:q} --settings {params.settings:q} --log {log:q}"


rule search:
    input:
        **code("bm25/search.py"),
        index=lambda wildcards: bm25_index(EXPERIMENT.systems[wildcards.system], TASKS[wildcards.task].dataset),
        queries=queries,
        parameters=bm25_parameters,
    output:
        run=results("runs/{task}/{system}/seed-0.trec.gz"),
        timing=results("runs/{task}/{system}/seed-0.timing.json"),
    log:
        results("logs/search/{task}/{system}.log"),
    benchmark:
        results("benchmarks/search/{task}/{system}.tsv")
    wildcard_constraints:
        system=systems_of_kind("bm25"),
    params:
        settings=search_settings,
    conda:
        "../envs/bm25.yaml"
    message:
        "search {wildcards.task} {wildcards.system}"
    shell:
        "python {input.script:q} --index {input.index:q} --queries {input.queries:q} --run {output.run:q}"
        " --timing {output.timing:q} --parameters {input.parameters:q} --settings {params.settings:q} --log {log:q}"


rule search_training_queries:
    input:
        **code("bm25/search.py"),
        index=lambda wildcards: index_of(wildcards.dataset),
        queries=results("data/{dataset}/queries/train.jsonl"),
    output:
        run=results("bm25/{dataset}/train.trec.gz"),
        timing=results("bm25/{dataset}/train.timing.json"),
    log:
        results("logs/search_training_queries/{dataset}.log"),
    benchmark:
        results("benchmarks/search_training_queries/{dataset}.tsv")
    params:
        settings=settings(**PYSERINI_BM25, analyzer="english", fields="together", depth=NEGATIVES_DEPTH, tag="bm25"),
    conda:
        "../envs/bm25.yaml"
    message:
        "search_training_queries {wildcards.dataset}"
    shell:
        "python {input.script:q} --index {input.index:q} --queries {input.queries:q} --run {output.run:q}"
        " --timing {output.timing:q} --settings {params.settings:q} --log {log:q}"
