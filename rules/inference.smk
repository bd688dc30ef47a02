"""Inference: tasks are searched exactly; first stages are re-ranked; or a cross-encoder scores every pair of a query and
a document.

In: models/, data/{dataset}/ (or passages/{dataset}/{length}/), embeddings/, runs/ of first stages. Out:
runs/{task}/{system}/seed-{seed}.trec.gz with its timing.
"""


def system_model(wildcards):
    return EXPERIMENT.models[EXPERIMENT.systems[wildcards.system].model]


def system_checkpoint(wildcards):
    return checkpoint_of(EXPERIMENT.systems[wildcards.system], wildcards.seed)


def system_embeddings(wildcards):
    path = encoding(EXPERIMENT.systems[wildcards.system], TASKS[wildcards.task], wildcards.seed)
    return f"{path}.npy" if path else []


def system_corpus(wildcards):
    return texts_of(TASKS[wildcards.task].dataset, "corpus", EXPERIMENT.systems[wildcards.system].passage_length)


def system_queries(wildcards):
    task = TASKS[wildcards.task]
    return texts_of(task.dataset, f"queries/{task.split}", EXPERIMENT.systems[wildcards.system].passage_length)


def first_stage(wildcards):
    system = EXPERIMENT.systems[wildcards.system]
    seed = wildcards.seed if wildcards.seed == SELECTED else int(wildcards.seed)
    seed = EXPERIMENT.first_stage_seed(system, seed, TASKS[wildcards.task])
    return results(f"runs/{wildcards.task}/{system.first_stage}/seed-{seed}.trec.gz")


def ranking_settings(wildcards):
    """What a ranking depends on beside its inputs; the type and the backend are for scripts that know several."""
    system, model = EXPERIMENT.systems[wildcards.system], system_model(wildcards)
    kept = ["max_length", "batch_size"] + (["type", "backend"] if system.kind != "retrieve" else [])
    passages = {"passage_length": system.passage_length} if system.passage_length else {}
    tag = f"{wildcards.system}-{wildcards.seed}"
    return settings(**{key: model[key] for key in kept}, **passages, depth=system.depth or EXPERIMENT.depth, tag=tag)


rule retrieve:
    input:
        **code("inference/retrieve.py"),
        checkpoint=system_checkpoint,
        corpus=system_corpus,
        embeddings=system_embeddings,
        queries=system_queries,
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
        settings=ranking_settings,
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
        corpus=system_corpus,
        embeddings=system_embeddings,
        queries=system_queries,
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
        settings=ranking_settings,
    conda:
        "../envs/neural.yaml"
    message:
        "rerank {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {input.script:q} --checkpoint {input.checkpoint:q} --corpus {input.corpus:q}"
        " --embeddings {input.embeddings:q} --queries {input.queries:q} --first-stage {input.first_stage:q} --run {output.run:q}"
        " --timing {output.timing:q} --settings {params.settings:q} 2>&1 | tee {log:q}"


rule score_all:
    input:
        **code("inference/score_all.py"),
        checkpoint=system_checkpoint,
        corpus=system_corpus,
        queries=system_queries,
    output:
        run=results("runs/{task}/{system}/seed-{seed}.trec.gz"),
        timing=results("runs/{task}/{system}/seed-{seed}.timing.json"),
    log:
        results("logs/score_all/{task}/{system}/seed-{seed}.log"),
    benchmark:
        results("benchmarks/score_all/{task}/{system}/seed-{seed}.tsv")
    wildcard_constraints:
        system=systems_of_kind("score_all"),
    params:
        settings=ranking_settings,
    conda:
        "../envs/neural.yaml"
    message:
        "score_all {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {input.script:q} --checkpoint {input.checkpoint:q} --corpus {input.corpus:q}"
        " --queries {input.queries:q} --run {output.run:q} --timing {output.timing:q}"
        " --settings {params.settings:q} 2>&1 | tee {log:q}"
