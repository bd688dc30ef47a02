"""Approximate search: a faiss index from a corpus's encoding, which is not made again, and searches of it.

In: embeddings/{dataset}/{model}/{recipe}/seed-{seed}.npy. Out: beside it seed-{seed}.{approximate}.faiss with its timing;
runs/{task}/{system}/seed-{seed}.trec.gz with its timing, which has the recall against exact search. With `shards` each of
several jobs searches for some of the queries (run_shards.smk).
"""


rule build_approximate_index:
    input:
        embeddings=result("embeddings"),
    output:
        index=result("approximate_index"),
        timing=result("approximate_index_timing"),
    log:
        result("log", job="build_approximate_index/{dataset}/{model}/{recipe}/{approximate}/seed-{seed}"),
    benchmark:
        result("benchmark", job="build_approximate_index/{dataset}/{model}/{recipe}/{approximate}/seed-{seed}")
    wildcard_constraints:
        approximate=results_paths.FIELDS["approximate"],
    params:
        code=code("inference/build_approximate_index.py"),
        settings=lambda wildcards: settings(**inference.approximate_settings(wildcards.approximate)),
    conda:
        "../envs/neural.yaml"
    message:
        "build_approximate_index {wildcards.dataset} {wildcards.model} {wildcards.recipe} {wildcards.approximate}"
        " seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --embeddings {input.embeddings:q} --index {output.index:q}"
        " --timing {output.timing:q} --settings {params.settings:q} --log {log:q}"


rule retrieve_approximate:
    input:
        checkpoint=lambda wildcards: inference.checkpoint(EXPERIMENT, **wildcards),
        corpus=lambda wildcards: inference.corpus(EXPERIMENT, wildcards.system, wildcards.task),
        index=lambda wildcards: inference.approximate_index(EXPERIMENT, **wildcards),
        embeddings=lambda wildcards: inference.embeddings(EXPERIMENT, **wildcards),
        queries=lambda wildcards: inference.queries(EXPERIMENT, wildcards.system, wildcards.task),
    output:
        run=result("run"),
        timing=result("run_timing"),
    log:
        result("log", job="retrieve_approximate/{task}/{system}/seed-{seed}"),
    benchmark:
        result("benchmark", job="retrieve_approximate/{task}/{system}/seed-{seed}")
    wildcard_constraints:
        system=systems_of_kind("retrieve", index="approximate", shards=False),
    params:
        code=code_of_model("inference/retrieve_approximate.py"),
        settings=lambda wildcards: settings(**inference.ranking_settings(EXPERIMENT, wildcards.system, wildcards.seed)),
    conda:
        "../envs/neural.yaml"
    message:
        "retrieve_approximate {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --checkpoint {input.checkpoint:q} --corpus {input.corpus:q} --index {input.index:q}"
        " --embeddings {input.embeddings:q} --queries {input.queries:q} --run {output.run:q}"
        " --timing {output.timing:q} --settings {params.settings:q} --log {log:q}"


use rule retrieve_approximate as retrieve_approximate_shard with:
    output:
        run=result("run_shard"),
        timing=result("run_shard_timing"),
    log:
        result("log", job="retrieve_approximate_shard/{task}/{system}/seed-{seed}/{shard}-of-{shards}"),
    benchmark:
        result("benchmark", job="retrieve_approximate_shard/{task}/{system}/seed-{seed}/{shard}-of-{shards}")
    wildcard_constraints:
        system=systems_of_kind("retrieve", index="approximate", shards=True),
    params:
        settings=shard_of_ranking,
    message:
        "retrieve_approximate_shard {wildcards.task} {wildcards.system} seed-{wildcards.seed} {wildcards.shard}-of-{wildcards.shards}"
