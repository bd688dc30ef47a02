"""Learned sparse retrieval: corpora become weights of terms, and tasks are searched exactly by dot products.

In: models/, data/{dataset}/corpus.jsonl. Out: embeddings/{dataset}/{model}/{recipe}/seed-{seed}.sparse (a folder) with its
timing; runs/{task}/{system}/seed-{seed}.trec.gz with its timing. The commands are those of late interaction (multi_vector.smk).
"""


use rule encode_multi_vector as encode_sparse with:
    input:
        checkpoint=result("checkpoint"),
        corpus=result("corpus"),
    output:
        index=directory(result("sparse_index")),
        timing=result("embeddings_timing"),
    log:
        result("log", job="encode_sparse/{dataset}/{model}/{recipe}/seed-{seed}"),
    benchmark:
        result("benchmark", job="encode_sparse/{dataset}/{model}/{recipe}/seed-{seed}")
    wildcard_constraints:
        model=encoded_in(index="terms", shards=False),
    params:
        code=code_of_model("inference/encode_sparse.py"),
    message:
        "encode_sparse {wildcards.dataset} {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"


use rule retrieve_multi_vector as retrieve_sparse with:
    input:
        checkpoint=lambda wildcards: inference.checkpoint(EXPERIMENT, **wildcards),
        corpus=lambda wildcards: inference.corpus(EXPERIMENT, wildcards.system, wildcards.task),
        index=lambda wildcards: inference.embeddings(EXPERIMENT, **wildcards),
        queries=lambda wildcards: inference.queries(EXPERIMENT, wildcards.system, wildcards.task),
    log:
        result("log", job="retrieve_sparse/{task}/{system}/seed-{seed}"),
    benchmark:
        result("benchmark", job="retrieve_sparse/{task}/{system}/seed-{seed}")
    wildcard_constraints:
        system=systems_of_kind("retrieve", index="terms", shards=False),
    params:
        code=code_of_model("inference/retrieve_sparse.py"),
    message:
        "retrieve_sparse {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
