"""Inference: each corpus is encoded once a checkpoint; tasks are searched exactly; first stages are re-ranked.

In: models/, data/{dataset}/, runs/ of first stages. Out: embeddings/{dataset}/{model}/{recipe}/seed-{seed}.npy and
runs/{task}/{system}/seed-{seed}.trec.gz, each with its timing.
"""


def system_model(wildcards):
    return EXPERIMENT.models[EXPERIMENT.systems[wildcards.system].model]


def system_checkpoint(wildcards):
    return checkpoint_of(EXPERIMENT.systems[wildcards.system], wildcards.seed)


def system_embeddings(wildcards):
    return embeddings_of(TASKS[wildcards.task].dataset, system_checkpoint(wildcards)) + ".npy"


def first_stage(wildcards):
    system = EXPERIMENT.systems[wildcards.system]
    seed = wildcards.seed if wildcards.seed == SELECTED else int(wildcards.seed)
    seed = EXPERIMENT.first_stage_seed(system, seed, TASKS[wildcards.task])
    return results(f"runs/{wildcards.task}/{system.first_stage}/seed-{seed}.trec.gz")


def inference_settings(model, **others):
    return settings(max_length=model["max_length"], batch_size=model["batch_size"], **others)


rule encode:
    input:
        **code("inference/encode.py"),
        checkpoint=results("models/{model}/{recipe}/seed-{seed}"),
        corpus=results("data/{dataset}/corpus.jsonl"),
    output:
        embeddings=results("embeddings/{dataset}/{model}/{recipe}/seed-{seed}.npy"),
        timing=results("embeddings/{dataset}/{model}/{recipe}/seed-{seed}.timing.json"),
    log:
        results("logs/encode/{dataset}/{model}/{recipe}/seed-{seed}.log"),
    benchmark:
        results("benchmarks/encode/{dataset}/{model}/{recipe}/seed-{seed}.tsv")
    params:
        settings=lambda wildcards: inference_settings(EXPERIMENT.models[wildcards.model]),
    conda:
        "../envs/neural.yaml"
    message:
        "encode {wildcards.dataset} {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"
    shell:
        "python {input.script:q} --checkpoint {input.checkpoint:q} --corpus {input.corpus:q}"
        " --embeddings {output.embeddings:q} --timing {output.timing:q} --settings {params.settings:q} 2>&1 | tee {log:q}"


rule retrieve:
    input:
        **code("inference/retrieve.py"),
        checkpoint=system_checkpoint,
        corpus=corpus,
        embeddings=system_embeddings,
        queries=queries,
    output:
        run=results("runs/{task}/{system}/seed-{seed}.trec.gz"),
        timing=results("runs/{task}/{system}/seed-{seed}.timing.json"),
    log:
        results("logs/retrieve/{task}/{system}/seed-{seed}.log"),
    benchmark:
        results("benchmarks/retrieve/{task}/{system}/seed-{seed}.tsv")
    wildcard_constraints:
        system=systems_of_kind("retrieve"),
    params:
        settings=lambda wildcards: inference_settings(
            system_model(wildcards), depth=EXPERIMENT.depth, tag=f"{wildcards.system}-{wildcards.seed}"
        ),
    conda:
        "../envs/neural.yaml"
    message:
        "retrieve {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {input.script:q} --checkpoint {input.checkpoint:q} --corpus {input.corpus:q}"
        " --embeddings {input.embeddings:q} --queries {input.queries:q} --run {output.run:q}"
        " --timing {output.timing:q} --settings {params.settings:q} 2>&1 | tee {log:q}"


rule rerank:
    input:
        **code("inference/rerank.py"),
        checkpoint=system_checkpoint,
        corpus=corpus,
        queries=queries,
        first_stage=first_stage,
    output:
        run=results("runs/{task}/{system}/seed-{seed}.trec.gz"),
        timing=results("runs/{task}/{system}/seed-{seed}.timing.json"),
    log:
        results("logs/rerank/{task}/{system}/seed-{seed}.log"),
    benchmark:
        results("benchmarks/rerank/{task}/{system}/seed-{seed}.tsv")
    wildcard_constraints:
        system=systems_of_kind("rerank"),
    params:
        settings=lambda wildcards: inference_settings(
            system_model(wildcards),
            depth=EXPERIMENT.systems[wildcards.system].depth,
            tag=f"{wildcards.system}-{wildcards.seed}",
            type=system_model(wildcards)["type"],
        ),
    conda:
        "../envs/neural.yaml"
    message:
        "rerank {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {input.script:q} --checkpoint {input.checkpoint:q} --corpus {input.corpus:q}"
        " --queries {input.queries:q} --first-stage {input.first_stage:q} --run {output.run:q}"
        " --timing {output.timing:q} --settings {params.settings:q} 2>&1 | tee {log:q}"
