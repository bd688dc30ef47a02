"""Quantised embeddings: an index of few bytes from a corpus's encoding, which is not made again.

In: embeddings/{dataset}/{model}/{recipe}/seed-{seed}.npy. Out: beside it seed-{seed}.{index_precision} (a folder) with its
timing, in which the rule of all bi-encoders searches (inference.smk).
"""

from scripts.experiment.results_paths import INDEX_PRECISIONS


rule quantise_embeddings:
    input:
        **code("inference/quantise_embeddings.py"),
        embeddings=result("embeddings"),
    output:
        index=directory(result("quantised_index")),
        timing=result("quantised_index_timing"),
    log:
        result("log", job="quantise_embeddings/{dataset}/{model}/{recipe}/{index_precision}/seed-{seed}"),
    benchmark:
        result("benchmark", job="quantise_embeddings/{dataset}/{model}/{recipe}/{index_precision}/seed-{seed}")
    wildcard_constraints:
        index_precision=one_of(INDEX_PRECISIONS),
    params:
        settings=lambda wildcards: settings(precision=wildcards.index_precision),
    conda:
        "../envs/neural.yaml"
    message:
        "quantise_embeddings {wildcards.dataset} {wildcards.model} {wildcards.recipe} {wildcards.index_precision}"
        " seed-{wildcards.seed}"
    shell:
        "python {input.script:q} --embeddings {input.embeddings:q} --index {output.index:q}"
        " --timing {output.timing:q} --settings {params.settings:q} --log {log:q}"
