"""Evaluation: runs and qrels to one value per query and measure, and a table of means.

In: runs/{task}/{system}/seed-{seed}.trec.gz, data/{dataset}/qrels/, external files of runs and of scores.
Out: metrics/{task}/{system}/seed-{seed}.tsv and tables/means.tsv; both once more in ties-ascending/ where a published table
has documents of equal score in that order.
"""

from scripts.engine.job_settings import settings
from scripts.engine.rule_helpers import one_of
from scripts.evaluation import planning as evaluation
from scripts.evaluation import planning_ascending as ascending


localrules:
    means,
    means_ascending,


rule import_run:
    input:
        source=lambda wildcards: evaluation.external_file(EXPERIMENT, **wildcards),
        qrels=lambda wildcards: evaluation.qrels(EXPERIMENT, wildcards.task),
        corpus=lambda wildcards: evaluation.corpus(EXPERIMENT, wildcards.task),
        queries=lambda wildcards: evaluation.queries(EXPERIMENT, wildcards.task),
    output:
        run=result("run", seed=0),
    log:
        result("log", job="import_run/{task}/{system}"),
    wildcard_constraints:
        system=systems_of_kind("external"),
    params:
        code=code("evaluation/import_run.py"),
        settings=lambda wildcards: settings(
            **evaluation.import_run_settings(EXPERIMENT, wildcards.system),
            **sha256_of(source=evaluation.external_file(EXPERIMENT, **wildcards)),
        ),
    conda:
        "../envs/evaluation.yaml"
    message:
        "import_run {wildcards.task} {wildcards.system}"
    shell:
        "python {params.code[script]:q} --source {input.source:q} --qrels {input.qrels:q} --corpus {input.corpus:q}"
        " --queries {input.queries:q} --run {output.run:q} --settings {params.settings:q} --log {log:q}"


rule import_scores:
    input:
        source=lambda wildcards: evaluation.external_file(EXPERIMENT, **wildcards),
    output:
        metrics=result("metrics", seed=0),
    log:
        result("log", job="import_scores/{task}/{system}"),
    wildcard_constraints:
        task=one_of(evaluation.scored_by_others(EXPERIMENT)),
    params:
        code=code("evaluation/import_scores.py"),
        settings=lambda wildcards: settings(
            **evaluation.import_scores_settings(EXPERIMENT, **wildcards),
            **sha256_of(source=evaluation.external_file(EXPERIMENT, **wildcards)),
        ),
    conda:
        "../envs/evaluation.yaml"
    message:
        "import_scores {wildcards.task} {wildcards.system}"
    shell:
        "python {params.code[script]:q} --source {input.source:q} --metrics {output.metrics:q}"
        " --settings {params.settings:q} --log {log:q}"


rule score:
    input:
        run=lambda wildcards: evaluation.run(EXPERIMENT, **wildcards),
        qrels=lambda wildcards: evaluation.qrels(EXPERIMENT, wildcards.task),
        original=lambda wildcards: evaluation.original(EXPERIMENT, **wildcards),
    output:
        metrics=result("metrics"),
    log:
        result("log", job="score/{task}/{system}/seed-{seed}"),
    wildcard_constraints:
        task=one_of(evaluation.scored_here(EXPERIMENT)),
    params:
        code=code("evaluation/score.py"),
        settings=settings(measures=EXPERIMENT.measures),
    conda:
        "../envs/evaluation.yaml"
    message:
        "score {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --run {input.run:q} --qrels {input.qrels:q} --original {input.original:q}"
        " --metrics {output.metrics:q} --settings {params.settings:q} --log {log:q}"


use rule score as score_ascending with:
    output:
        metrics=result("ascending_metrics"),
    log:
        result("log", job="score_ascending/{task}/{system}/seed-{seed}"),
    params:
        code=code("evaluation/score.py"),
        settings=settings(measures=ascending.measures(EXPERIMENT), ties="ascending"),
    message:
        "score_ascending {wildcards.task} {wildcards.system} seed-{wildcards.seed}"


rule means:
    input:
        metrics=evaluation.all_metrics(EXPERIMENT),
    output:
        means=shown(result("means"), "means", "Tables", table="means"),
    log:
        result("log", job="means"),
    params:
        code=code("evaluation/means.py"),
    conda:
        "../envs/evaluation.yaml"
    message:
        "means"
    shell:
        "python {params.code[script]:q} --metrics {input.metrics:q} --means {output.means:q} --log {log:q}"


use rule means as means_ascending with:
    input:
        metrics=ascending.metrics(EXPERIMENT),
    output:
        means=result("ascending_means"),
    log:
        result("log", job="means_ascending"),
    message:
        "means_ascending"
