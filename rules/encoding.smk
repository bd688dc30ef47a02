"""Encoding: each corpus, or each passage of it, becomes one vector per checkpoint of a model that searches.

In: models/, data/{dataset}/corpus.jsonl, passages/{dataset}/{length}/corpus.jsonl. Out: embeddings/{dataset}/{model}/{recipe}/
seed-{seed}.npy, or embeddings/{dataset}/passages-{length}/{model}/..., each with its timing. With `shards` it is made of several
jobs' files (shards.smk).
"""

from scripts.inference import planning as inference


def encoded_in(*, shards, index="vectors"):
    """The constraint of a rule's models: all with such an index, where the configuration asks for shards, or does not."""
    return models_with(index) if (EXPERIMENT.shards > 1) == shards else one_of([])


rule encode:
    input:
        checkpoint=result("checkpoint"),
        corpus=result("corpus"),
    output:
        embeddings=result("embeddings"),
        timing=result("embeddings_timing"),
    log:
        result("log", job="encode/{dataset}/{model}/{recipe}/seed-{seed}"),
    benchmark:
        result("benchmark", job="encode/{dataset}/{model}/{recipe}/seed-{seed}")
    wildcard_constraints:
        model=encoded_in(shards=False),
    params:
        code=code_of_model("inference/encode.py"),
        settings=lambda wildcards: settings(**inference.encoding_settings(EXPERIMENT, wildcards.model)),
    conda:
        "../envs/neural.yaml"
    message:
        "encode {wildcards.dataset} {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --checkpoint {input.checkpoint:q} --corpus {input.corpus:q}"
        " --embeddings {output.embeddings:q} --timing {output.timing:q} --settings {params.settings:q} --log {log:q}"


use rule encode as encode_passages with:
    input:
        checkpoint=result("checkpoint"),
        corpus=result("passages", texts="corpus"),
    output:
        embeddings=result("passage_embeddings"),
        timing=result("passage_embeddings_timing"),
    log:
        result("log", job="encode_passages/{dataset}/{length}/{model}/{recipe}/seed-{seed}"),
    benchmark:
        result("benchmark", job="encode_passages/{dataset}/{length}/{model}/{recipe}/seed-{seed}")
    wildcard_constraints:
        length="[0-9]+",
        model=encoded_in(shards=False),
    message:
        "encode_passages {wildcards.dataset} {wildcards.length} {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"
