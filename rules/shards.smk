"""Shards: the encoding of a corpus, or of its passages, is split into jobs that may run at once, and joined.

In: what encode and encode_passages take (encoding.smk). Out: seed-{seed}.shards/{shard}-of-{shards}.npy beside the embeddings
that they become; these are the same as those of one job.
"""


use rule encode as encode_shard with:
    output:
        embeddings=result("embeddings_shard"),
        timing=result("embeddings_shard_timing"),
    log:
        result("log", job="encode_shard/{dataset}/{model}/{recipe}/seed-{seed}/{shard}-of-{shards}"),
    benchmark:
        result("benchmark", job="encode_shard/{dataset}/{model}/{recipe}/seed-{seed}/{shard}-of-{shards}")
    wildcard_constraints:
        model=encoded_in(shards=True),
    params:
        settings=lambda wildcards: settings(
            **inference.shard_settings(EXPERIMENT, wildcards.model, wildcards.shard, wildcards.shards)
        ),
    message:
        "encode_shard {wildcards.dataset} {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"
        " {wildcards.shard}-of-{wildcards.shards}"


use rule encode_shard as encode_passages_shard with:
    input:
        checkpoint=result("checkpoint"),
        corpus=result("passages", texts="corpus"),
    output:
        embeddings=result("passage_embeddings_shard"),
        timing=result("passage_embeddings_shard_timing"),
    log:
        result("log", job="encode_passages_shard/{dataset}/{length}/{model}/{recipe}/seed-{seed}/{shard}-of-{shards}"),
    benchmark:
        result(
            "benchmark",
            job="encode_passages_shard/{dataset}/{length}/{model}/{recipe}/seed-{seed}/{shard}-of-{shards}",
        )
    wildcard_constraints:
        model=encoded_in(shards=True),
        length="[0-9]+",
    message:
        "encode_passages_shard {wildcards.dataset} {wildcards.length} {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"
        " {wildcards.shard}-of-{wildcards.shards}"


rule join_shards:
    input:
        shards=shards_of("embeddings_shard"),
        timings=shards_of("embeddings_shard_timing"),
    output:
        embeddings=result("embeddings"),
        timing=result("embeddings_timing"),
    log:
        result("log", job="join_shards/{dataset}/{model}/{recipe}/seed-{seed}"),
    benchmark:
        result("benchmark", job="join_shards/{dataset}/{model}/{recipe}/seed-{seed}")
    wildcard_constraints:
        model=encoded_in(shards=True),
    params:
        code=code("inference/join_shards.py"),
    conda:
        "../envs/neural.yaml"
    message:
        "join_shards {wildcards.dataset} {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --shards {input.shards:q} --timings {input.timings:q}"
        " --embeddings {output.embeddings:q} --timing {output.timing:q} --log {log:q}"


use rule join_shards as join_passages_shards with:
    input:
        shards=shards_of("passage_embeddings_shard"),
        timings=shards_of("passage_embeddings_shard_timing"),
    output:
        embeddings=result("passage_embeddings"),
        timing=result("passage_embeddings_timing"),
    log:
        result("log", job="join_passages_shards/{dataset}/{length}/{model}/{recipe}/seed-{seed}"),
    benchmark:
        result("benchmark", job="join_passages_shards/{dataset}/{length}/{model}/{recipe}/seed-{seed}")
    wildcard_constraints:
        model=encoded_in(shards=True),
        length="[0-9]+",
    message:
        "join_passages_shards {wildcards.dataset} {wildcards.length} {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"
