"""Late interaction: corpora are encoded token by token, and tasks searched exactly by MaxSim.

In: models/, data/{dataset}/corpus.jsonl. Out: embeddings/{dataset}/{model}/{recipe}/seed-{seed}.tokens (a folder) with its
timing; runs/{task}/{system}/seed-{seed}.trec.gz with its timing. Re-ranking is the rule of all models (inference.smk).
"""


rule encode_multi_vector:
    input:
        checkpoint=result("checkpoint"),
        corpus=result("corpus"),
    output:
        index=directory(result("token_index")),
        timing=result("embeddings_timing"),
    log:
        result("log", job="encode_multi_vector/{dataset}/{model}/{recipe}/seed-{seed}"),
    benchmark:
        result("benchmark", job="encode_multi_vector/{dataset}/{model}/{recipe}/seed-{seed}")
    wildcard_constraints:
        model=encoded_in(index="token-vectors", shards=False),
    params:
        code=code_of_model("inference/encode_multi_vector.py"),
        settings=lambda wildcards: settings(**inference.encoding_settings(EXPERIMENT, wildcards.model)),
    conda:
        "../envs/neural.yaml"
    message:
        "encode_multi_vector {wildcards.dataset} {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --checkpoint {input.checkpoint:q} --corpus {input.corpus:q}"
        " --index {output.index:q} --timing {output.timing:q} --settings {params.settings:q} --log {log:q}"


rule retrieve_multi_vector:
    input:
        checkpoint=lambda wildcards: inference.checkpoint(EXPERIMENT, **wildcards),
        corpus=lambda wildcards: inference.corpus(EXPERIMENT, wildcards.system, wildcards.task),
        index=lambda wildcards: inference.embeddings(EXPERIMENT, **wildcards),
        queries=lambda wildcards: inference.queries(EXPERIMENT, wildcards.system, wildcards.task),
    output:
        run=result("run"),
        timing=result("run_timing"),
    log:
        result("log", job="retrieve_multi_vector/{task}/{system}/seed-{seed}"),
    benchmark:
        result("benchmark", job="retrieve_multi_vector/{task}/{system}/seed-{seed}")
    wildcard_constraints:
        system=systems_of_kind("retrieve", index="token-vectors", shards=False),
    params:
        code=code_of_model("inference/retrieve_multi_vector.py"),
        settings=lambda wildcards: settings(**inference.ranking_settings(EXPERIMENT, wildcards.system, wildcards.seed)),
    conda:
        "../envs/neural.yaml"
    message:
        "retrieve_multi_vector {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --checkpoint {input.checkpoint:q} --corpus {input.corpus:q}"
        " --index {input.index:q} --queries {input.queries:q} --run {output.run:q}"
        " --timing {output.timing:q} --settings {params.settings:q} --log {log:q}"
