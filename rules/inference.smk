"""Inference: tasks are searched exactly; first stages are re-ranked; or a model scores every pair of a query and a document.

In: models/, data/{dataset}/ (or passages/{dataset}/{length}/), embeddings/, runs/ of first stages. Out:
runs/{task}/{system}/seed-{seed}.trec.gz with its timing. With `shards` most are made of several jobs' files (run_shards.smk).
"""


rule retrieve:
    input:
        checkpoint=lambda wildcards: inference.checkpoint(EXPERIMENT, **wildcards),
        corpus=lambda wildcards: inference.corpus(EXPERIMENT, wildcards.system, wildcards.task),
        embeddings=lambda wildcards: inference.embeddings(EXPERIMENT, **wildcards),
        queries=lambda wildcards: inference.queries(EXPERIMENT, wildcards.system, wildcards.task),
    output:
        run=result("run"),
        timing=result("run_timing"),
    log:
        result("log", job="retrieve/{task}/{system}/seed-{seed}"),
    benchmark:
        result("benchmark", job="retrieve/{task}/{system}/seed-{seed}")
    wildcard_constraints:
        system=systems_of_kind("retrieve", index="vectors", shards=False),
    params:
        code=code_of_model("inference/retrieve.py"),
        settings=lambda wildcards: settings(**inference.ranking_settings(EXPERIMENT, wildcards.system, wildcards.seed)),
    conda:
        "../envs/neural.yaml"
    message:
        "retrieve {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --checkpoint {input.checkpoint:q} --corpus {input.corpus:q}"
        " --embeddings {input.embeddings:q} --queries {input.queries:q} --run {output.run:q}"
        " --timing {output.timing:q} --settings {params.settings:q} --log {log:q}"


rule rerank:
    input:
        checkpoint=lambda wildcards: inference.checkpoint(EXPERIMENT, **wildcards),
        corpus=lambda wildcards: inference.corpus(EXPERIMENT, wildcards.system, wildcards.task),
        embeddings=lambda wildcards: inference.embeddings(EXPERIMENT, **wildcards),
        queries=lambda wildcards: inference.queries(EXPERIMENT, wildcards.system, wildcards.task),
        first_stage=lambda wildcards: inference.first_stage(EXPERIMENT, **wildcards),
    output:
        run=result("run"),
        timing=result("run_timing"),
    log:
        result("log", job="rerank/{task}/{system}/seed-{seed}"),
    benchmark:
        result("benchmark", job="rerank/{task}/{system}/seed-{seed}")
    wildcard_constraints:
        system=systems_of_kind("rerank", shards=False),
    params:
        code=code_of_model("inference/rerank.py"),
        settings=lambda wildcards: settings(**inference.ranking_settings(EXPERIMENT, wildcards.system, wildcards.seed)),
    conda:
        "../envs/neural.yaml"
    message:
        "rerank {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --checkpoint {input.checkpoint:q} --corpus {input.corpus:q}"
        " --embeddings {input.embeddings:q} --queries {input.queries:q} --first-stage {input.first_stage:q} --run {output.run:q}"
        " --timing {output.timing:q} --settings {params.settings:q} --log {log:q}"


rule score_all:
    input:
        checkpoint=lambda wildcards: inference.checkpoint(EXPERIMENT, **wildcards),
        corpus=lambda wildcards: inference.corpus(EXPERIMENT, wildcards.system, wildcards.task),
        queries=lambda wildcards: inference.queries(EXPERIMENT, wildcards.system, wildcards.task),
    output:
        run=result("run"),
        timing=result("run_timing"),
    log:
        result("log", job="score_all/{task}/{system}/seed-{seed}"),
    benchmark:
        result("benchmark", job="score_all/{task}/{system}/seed-{seed}")
    wildcard_constraints:
        system=systems_of_kind("score_all", shards=False),
    params:
        code=code_of_model("inference/score_all.py"),
        settings=lambda wildcards: settings(**inference.ranking_settings(EXPERIMENT, wildcards.system, wildcards.seed)),
    conda:
        "../envs/neural.yaml"
    message:
        "score_all {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --checkpoint {input.checkpoint:q} --corpus {input.corpus:q}"
        " --queries {input.queries:q} --run {output.run:q} --timing {output.timing:q}"
        " --settings {params.settings:q} --log {log:q}"
