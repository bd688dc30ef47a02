"""Encoding: each corpus, or each passage of it, becomes a vector once a checkpoint of a bi-encoder.

In: models/, data/{dataset}/corpus.jsonl, passages/{dataset}/{length}/corpus.jsonl. Out: embeddings/{dataset}/{model}/{recipe}/
seed-{seed}.npy, or embeddings/{dataset}/passages-{length}/{model}/..., each with its timing.
"""


def encoding(system, task, seed):
    """The path, less its suffix, of the encoded corpus with which a system ranks; None where it encodes none.

    A bi-encoder that re-ranks whole texts encodes the candidates itself.
    """
    split = system.passage_length and EXPERIMENT.models[system.model]["type"] == "bi-encoder"
    if system.kind != "retrieve" and not split:
        return None
    owner = EXPERIMENT.corpus_owner(task.dataset)
    corpus = f"{owner}/passages-{system.passage_length}" if split else owner
    encoded = checkpoint_of(system, seed).removeprefix(results("models/"))
    return results(f"embeddings/{corpus}/{encoded}")


def encoding_settings(wildcards):
    return settings(**{key: EXPERIMENT.models[wildcards.model][key] for key in ["max_length", "batch_size"]})


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
        settings=encoding_settings,
    conda:
        "../envs/neural.yaml"
    message:
        "encode {wildcards.dataset} {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"
    shell:
        "python {input.script:q} --checkpoint {input.checkpoint:q} --corpus {input.corpus:q}"
        " --embeddings {output.embeddings:q} --timing {output.timing:q} --settings {params.settings:q} 2>&1 | tee {log:q}"


use rule encode as encode_passages with:
    input:
        **code("inference/encode.py"),
        checkpoint=results("models/{model}/{recipe}/seed-{seed}"),
        corpus=results("passages/{dataset}/{length}/corpus.jsonl"),
    output:
        embeddings=results("embeddings/{dataset}/passages-{length}/{model}/{recipe}/seed-{seed}.npy"),
        timing=results("embeddings/{dataset}/passages-{length}/{model}/{recipe}/seed-{seed}.timing.json"),
    log:
        results("logs/encode_passages/{dataset}/{length}/{model}/{recipe}/seed-{seed}.log"),
    benchmark:
        results("benchmarks/encode_passages/{dataset}/{length}/{model}/{recipe}/seed-{seed}.tsv")
    wildcard_constraints:
        length="[0-9]+",
    message:
        "encode_passages {wildcards.dataset} {wildcards.length} {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"
