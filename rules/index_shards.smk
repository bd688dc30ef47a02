"""Shards of indices that are folders: a corpus is encoded into terms, or token by token, in parts that are joined.

In: what encode_multi_vector and encode_sparse take. Out: seed-{seed}.shards/{shard}-of-{shards}.tokens or .sparse beside the
index that they become, which is the same as that of one job.
"""


def shard_of_index(wildcards):
    """The settings of a job that encodes a shard."""
    return settings(**inference.shard_settings(EXPERIMENT, wildcards.model, wildcards.shard, wildcards.shards))


use rule encode_multi_vector as encode_multi_vector_shard with:
    output:
        index=directory(result("token_index_shard")),
        timing=result("embeddings_shard_timing"),
    log:
        result("log", job="encode_multi_vector_shard/{dataset}/{model}/{recipe}/seed-{seed}/{shard}-of-{shards}"),
    benchmark:
        result("benchmark", job="encode_multi_vector_shard/{dataset}/{model}/{recipe}/seed-{seed}/{shard}-of-{shards}")
    wildcard_constraints:
        model=encoded_in(index="token-vectors", shards=True),
    params:
        settings=shard_of_index,
    message:
        "encode_multi_vector_shard {wildcards.dataset} {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"
        " {wildcards.shard}-of-{wildcards.shards}"


use rule encode_sparse as encode_sparse_shard with:
    output:
        index=directory(result("sparse_index_shard")),
        timing=result("embeddings_shard_timing"),
    log:
        result("log", job="encode_sparse_shard/{dataset}/{model}/{recipe}/seed-{seed}/{shard}-of-{shards}"),
    benchmark:
        result("benchmark", job="encode_sparse_shard/{dataset}/{model}/{recipe}/seed-{seed}/{shard}-of-{shards}")
    wildcard_constraints:
        model=encoded_in(index="terms", shards=True),
    params:
        settings=shard_of_index,
    message:
        "encode_sparse_shard {wildcards.dataset} {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"
        " {wildcards.shard}-of-{wildcards.shards}"


rule join_token_indices:
    input:
        checkpoint=result("checkpoint"),
        shards=shards_of("token_index_shard"),
        timings=shards_of("embeddings_shard_timing"),
    output:
        index=directory(result("token_index")),
        timing=result("embeddings_timing"),
    log:
        result("log", job="join_token_indices/{dataset}/{model}/{recipe}/seed-{seed}"),
    benchmark:
        result("benchmark", job="join_token_indices/{dataset}/{model}/{recipe}/seed-{seed}")
    wildcard_constraints:
        model=encoded_in(index="token-vectors", shards=True),
    params:
        code=code("inference/join_indices.py"),
        settings=settings(index="token-vectors"),
    conda:
        "../envs/neural.yaml"
    message:
        "join_token_indices {wildcards.dataset} {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --checkpoint {input.checkpoint:q} --shards {input.shards:q} --timings {input.timings:q}"
        " --index {output.index:q} --timing {output.timing:q} --settings {params.settings:q} --log {log:q}"


use rule join_token_indices as join_sparse_indices with:
    input:
        checkpoint=result("checkpoint"),
        shards=shards_of("sparse_index_shard"),
        timings=shards_of("embeddings_shard_timing"),
    output:
        index=directory(result("sparse_index")),
        timing=result("embeddings_timing"),
    log:
        result("log", job="join_sparse_indices/{dataset}/{model}/{recipe}/seed-{seed}"),
    benchmark:
        result("benchmark", job="join_sparse_indices/{dataset}/{model}/{recipe}/seed-{seed}")
    wildcard_constraints:
        model=encoded_in(index="terms", shards=True),
    params:
        settings=settings(index="terms"),
    message:
        "join_sparse_indices {wildcards.dataset} {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"
