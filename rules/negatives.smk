"""Training examples: negatives from BM25 or systems, and pairs for a cross-encoder or a teacher to score.

In: data/{dataset}/, bm25/{dataset}/train.trec.gz, runs/{dataset}-train/ of systems that provide negatives, the scores
of a cross-encoder (ranking.smk). Out: negatives/{dataset}/{examples}.tsv (with {examples}.mining.json, the number of
filtered candidates), negatives/{dataset}/{pairs}.trec.gz (candidates and positives), teachers/{dataset}/{pairs}.trec.gz
(examples).
"""

from ranktrial.engine.job_settings import settings
from ranktrial.engine.rule_helpers import one_of, options
from ranktrial.experiment import job_files
from ranktrial.experiment.results_paths import FIELDS
from scripts.training import planning as training
from scripts.training import planning_mining as mining


rule negatives:
    input:
        corpus=lambda wildcards: job_files.corpus(EXPERIMENT, wildcards.dataset),
        queries=result("queries", split="train"),
        qrels=result("qrels", split="train"),
        evaluation_qrels=lambda wildcards: training.examples_evaluation_qrels(EXPERIMENT, **wildcards),
        first_stage=lambda wildcards: training.examples_first_stage(EXPERIMENT, **wildcards),
    output:
        negatives=result("negatives"),
    log:
        result("log", job="negatives/{dataset}/{examples}"),
    benchmark:
        result("benchmark", job="negatives/{dataset}/{examples}")
    wildcard_constraints:
        examples=one_of(mining.names(EXPERIMENT, of_systems=False)),
    params:
        code=code("training/negatives.py"),
        settings=lambda wildcards: settings(**training.examples_settings(EXPERIMENT, **wildcards)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "negatives {wildcards.dataset} {wildcards.examples}"
    shell:
        "python {params.code[script]:q} --corpus {input.corpus:q} --queries {input.queries:q} --qrels {input.qrels:q}"
        " --evaluation-qrels {input.evaluation_qrels:q} --first-stage {input.first_stage:q}"
        " --negatives {output.negatives:q} --settings {params.settings:q} --log {log:q}"


rule mine_negatives:
    input:
        corpus=lambda wildcards: job_files.corpus(EXPERIMENT, wildcards.dataset),
        queries=result("queries", split="train"),
        qrels=result("qrels", split="train"),
        evaluation_qrels=lambda wildcards: training.examples_evaluation_qrels(EXPERIMENT, **wildcards),
        first_stage=lambda wildcards: training.examples_first_stage(EXPERIMENT, **wildcards),
        runs=lambda wildcards: training.examples_runs(EXPERIMENT, **wildcards),
        scores=lambda wildcards: mining.scores(EXPERIMENT, **wildcards),
    output:
        negatives=result("negatives"),
        record=result("mining_record"),
    log:
        result("log", job="mine_negatives/{dataset}/{examples}"),
    benchmark:
        result("benchmark", job="mine_negatives/{dataset}/{examples}")
    wildcard_constraints:
        examples=one_of(mining.names(EXPERIMENT, of_systems=True)),
    params:
        code=code("training/mine.py"),
        settings=lambda wildcards: settings(**training.examples_settings(EXPERIMENT, **wildcards)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "mine_negatives {wildcards.dataset} {wildcards.examples}"
    shell:
        "python {params.code[script]:q} --corpus {input.corpus:q} --queries {input.queries:q} --qrels {input.qrels:q}"
        " --evaluation-qrels {input.evaluation_qrels:q} --first-stage {input.first_stage:q} --runs {input.runs:q}"
        " --scores {input.scores:q} --negatives {output.negatives:q} --record {output.record:q}"
        " --settings {params.settings:q} --log {log:q}"


rule collect_pairs:  # for a cross-encoder or a teacher to score
    input:
        unpack(lambda wildcards: training.pairs_inputs(EXPERIMENT, **wildcards)),
    output:
        pairs=result("pairs"),
    log:
        result("log", job="collect_pairs/{scored}/{dataset}/{pairs}"),
    wildcard_constraints:
        scored=FIELDS["scored"],
        pairs=FIELDS["pairs"],
    params:
        code=code(lambda wildcards: training.pairs_script(wildcards.scored)),
        options=lambda wildcards, input: options(input),
        settings=lambda wildcards: settings(**training.pairs_settings(EXPERIMENT, **wildcards)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "collect_pairs {wildcards.scored} {wildcards.dataset} {wildcards.pairs}"
    shell:
        "python {params.code[script]:q} {params.options:q} --pairs {output.pairs:q} --settings {params.settings:q} --log {log:q}"
