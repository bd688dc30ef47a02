"""Distillation: a teacher scores the examples from which its students learn (fine_tune, training.smk).

In: negatives/{dataset}/{examples}.tsv and the teacher's checkpoint. Out: teachers/{dataset}/{examples}.trec.gz (the pairs),
teachers/{dataset}/{examples}/{system}.trec.gz (the teacher's scores of them, which all its students share) with its timing.
"""


rule collect_examples:
    input:
        negatives=result("negatives"),
    output:
        pairs=result("teacher_pairs"),
    log:
        result("log", job="collect_examples/{dataset}/{examples}"),
    wildcard_constraints:
        examples="[^/]+",
    params:
        code=code("training/pairs.py"),
    conda:
        "../envs/evaluation.yaml"
    message:
        "collect_examples {wildcards.dataset} {wildcards.examples}"
    shell:
        "python {params.code[script]:q} --negatives {input.negatives:q} --pairs {output.pairs:q} --log {log:q}"


use rule score_candidates as score_examples with:
    input:
        checkpoint=lambda wildcards: mining.scorer(EXPERIMENT, wildcards.dataset, wildcards.system),
        corpus=lambda wildcards: mining.scored_corpus(EXPERIMENT, wildcards.dataset, wildcards.system),
        queries=lambda wildcards: mining.scored_queries(EXPERIMENT, wildcards.dataset, wildcards.system),
        pool=result("teacher_pairs"),
    output:
        scores=result("teacher_scores"),
        timing=result("teacher_scores_timing"),
    log:
        result("log", job="score_examples/{dataset}/{examples}/{system}"),
    benchmark:
        result("benchmark", job="score_examples/{dataset}/{examples}/{system}")
    wildcard_constraints:
        examples="[^/]+",
        system=scorers(shards=False),
    message:
        "score_examples {wildcards.dataset} {wildcards.examples} {wildcards.system}"
