"""Quantised embeddings: an index of few bytes from a corpus's encoding, which is not made again.

In: embeddings/{dataset}/{model}/{recipe}/seed-{seed}.npy. Out: beside it seed-{seed}.{index_precision} (a folder) with its
timing; runs/{task}/{system}/seed-{seed}.trec.gz with its timing. The command of a search is that of whole vectors (inference.smk). With
`shards` a run is made of several jobs' (run_shards.smk): each searches a part of the index, or of the queries.
"""

from scripts.experiment.results_paths import INDEX_PRECISIONS


rule quantise_embeddings:
    input:
        embeddings=result("embeddings"),
    output:
        index=directory(result("quantised_index")),
        timing=result("quantised_index_timing"),
    log:
        result("log", job="quantise_embeddings/{dataset}/{model}/{recipe}/{index_precision}/seed-{seed}"),
    benchmark:
        result("benchmark", job="quantise_embeddings/{dataset}/{model}/{recipe}/{index_precision}/seed-{seed}")
    wildcard_constraints:
        index_precision=one_of(INDEX_PRECISIONS),
    params:
        code=code("inference/quantise_embeddings.py"),
        settings=lambda wildcards: settings(precision=wildcards.index_precision),
    conda:
        "../envs/neural.yaml"
    message:
        "quantise_embeddings {wildcards.dataset} {wildcards.model} {wildcards.recipe} {wildcards.index_precision}"
        " seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --embeddings {input.embeddings:q} --index {output.index:q}"
        " --timing {output.timing:q} --settings {params.settings:q} --log {log:q}"


use rule retrieve as retrieve_quantised with:
    input:
        checkpoint=lambda wildcards: inference.checkpoint(EXPERIMENT, **wildcards),
        corpus=lambda wildcards: inference.corpus(EXPERIMENT, wildcards.system, wildcards.task),
        embeddings=lambda wildcards: inference.embeddings(EXPERIMENT, **wildcards),
        queries=lambda wildcards: inference.queries(EXPERIMENT, wildcards.system, wildcards.task),
    log:
        result("log", job="retrieve_quantised/{task}/{system}/seed-{seed}"),
    benchmark:
        result("benchmark", job="retrieve_quantised/{task}/{system}/seed-{seed}")
    wildcard_constraints:
        system=systems_of_kind("retrieve", index="quantised-vectors", shards=False),
    params:
        code=code_of_model("inference/retrieve_quantised.py"),
    message:
        "retrieve_quantised {wildcards.task} {wildcards.system} seed-{wildcards.seed}"


use rule retrieve_quantised as retrieve_quantised_shard with:
    output:
        run=result("run_shard"),
        timing=result("run_shard_timing"),
    log:
        result("log", job="retrieve_quantised_shard/{task}/{system}/seed-{seed}/{shard}-of-{shards}"),
    benchmark:
        result("benchmark", job="retrieve_quantised_shard/{task}/{system}/seed-{seed}/{shard}-of-{shards}")
    wildcard_constraints:
        system=systems_of_kind("retrieve", index="quantised-vectors", shards=True),
    params:
        settings=shard_of_ranking,
    message:
        "retrieve_quantised_shard {wildcards.task} {wildcards.system} seed-{wildcards.seed} {wildcards.shard}-of-{wildcards.shards}"
