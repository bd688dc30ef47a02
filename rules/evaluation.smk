"""Evaluation: runs and qrels to one value a query and measure, and a table of means.

In: runs/{task}/{system}/seed-{seed}.trec.gz, data/{dataset}/qrels/, external files of runs and of scores.
Out: metrics/{task}/{system}/seed-{seed}.tsv and tables/means.tsv.
"""

SCORED_BY_OTHERS = [folder for folder, task in TASKS.items() if task.format == "scores"]


def metrics_of(system, task):
    """The metrics files of a system on a task, one a seed."""
    seeds = EXPERIMENT.seeds_on(EXPERIMENT.systems[system], task)
    return expand(results("metrics/{task}/{system}/seed-{seed}.tsv"), task=task.folder, system=system, seed=seeds)


def corpus_of_task(wildcards):
    """The corpus that a task's runs rank, where it has one: judgements alone have none."""
    dataset = TASKS[wildcards.task].dataset
    return [] if dataset in JUDGEMENTS_ONLY else corpus_of(dataset)
def external_file(wildcards):
    """The user's own file of an external system's run or scores."""
    return EXPERIMENT.systems[wildcards.system].settings[TASKS[wildcards.task].name]


rule import_run:
    input:
        **code("evaluation/import_run.py"),
        source=external_file,
        qrels=qrels,
        corpus=corpus_of_task,
    output:
        run=results("runs/{task}/{system}/seed-0.trec.gz"),
    log:
        results("logs/import_run/{task}/{system}.log"),
    wildcard_constraints:
        system=systems_of_kind("external"),
    params:
        settings=lambda wildcards: settings(
            depth=EXPERIMENT.depth, tag=wildcards.system, **sha256_of(source=external_file(wildcards))
        ),
    conda:
        "../envs/evaluation.yaml"
    message:
        "import_run {wildcards.task} {wildcards.system}"
    shell:
        "python {input.script:q} --source {input.source:q} --qrels {input.qrels:q} --corpus {input.corpus:q}"
        " --run {output.run:q} --settings {params.settings:q} --log {log:q}"


rule import_scores:
    input:
        **code("evaluation/import_scores.py"),
        source=external_file,
    output:
        metrics=results("metrics/{task}/{system}/seed-0.tsv"),
    log:
        results("logs/import_scores/{task}/{system}.log"),
    wildcard_constraints:
        task=one_of(SCORED_BY_OTHERS),
    params:
        settings=lambda wildcards: settings(
            measure=TASKS[wildcards.task].measures[0], **sha256_of(source=external_file(wildcards))
        ),
    conda:
        "../envs/evaluation.yaml"
    message:
        "import_scores {wildcards.task} {wildcards.system}"
    shell:
        "python {input.script:q} --source {input.source:q} --metrics {output.metrics:q}"
        " --settings {params.settings:q} --log {log:q}"


rule score:
    input:
        **code("evaluation/score.py"),
        run=results("runs/{task}/{system}/seed-{seed}.trec.gz"),
        qrels=qrels,
    output:
        metrics=results("metrics/{task}/{system}/seed-{seed}.tsv"),
    log:
        results("logs/score/{task}/{system}/seed-{seed}.log"),
    wildcard_constraints:
        task=one_of(folder for folder in TASKS if folder not in SCORED_BY_OTHERS),
    params:
        settings=settings(measures=EXPERIMENT.measures),
    conda:
        "../envs/evaluation.yaml"
    message:
        "score {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {input.script:q} --run {input.run:q} --qrels {input.qrels:q} --metrics {output.metrics:q}"
        " --settings {params.settings:q} --log {log:q}"


rule means:
    input:
        **code("evaluation/means.py"),
        metrics=[
            path
            for task in EXPERIMENT.tasks.values()
            for name, system in EXPERIMENT.systems.items()
            if task in EXPERIMENT.runs_of(system)
            for path in metrics_of(name, task)
        ],
    output:
        means=shown(results("tables/means.tsv"), "means", "Tables", table="means"),
    log:
        results("logs/means.log"),
    conda:
        "../envs/evaluation.yaml"
    message:
        "means"
    shell:
        "python {input.script:q} --metrics {input.metrics:q} --means {output.means:q} --log {log:q}"
