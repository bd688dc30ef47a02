"""Synthesis: per-query metrics of control and treatment to an effect a task and their meta-analysis.

In: metrics/{task}/{system}/seed-{seed}.tsv. Out: effects/{comparison}.tsv, meta/{comparison}.json and, of all
comparisons, tables/comparisons.tsv.
"""

EFFECTS = expand(results("effects/{comparison}.tsv"), comparison=EXPERIMENT.comparisons)
META = expand(results("meta/{comparison}.json"), comparison=EXPERIMENT.comparisons)


def compared_metrics(role):
    """The metrics files of a comparison's control or treatment on all its tasks."""

    def files(wildcards):
        comparison = EXPERIMENT.comparisons[wildcards.comparison]
        other = comparison.treatment_on if role == "treatment" else {}
        tasks = [EXPERIMENT.tasks[other.get(name, name)] for name in comparison.tasks]
        return [path for task in tasks for path in metrics_of(getattr(comparison, role), task)]

    return files


def comparison_settings(wildcards):
    comparison = EXPERIMENT.comparisons[wildcards.comparison]
    roles = {"control": comparison.control, "treatment": comparison.named(comparison.treatment)}
    folders = {EXPERIMENT.tasks[a].folder: EXPERIMENT.tasks[b].folder for a, b in comparison.treatment_on.items()}
    other_tasks = {"treatment_on": folders} if folders else {}
    return settings(**roles, **other_tasks, seed=EXPERIMENT.seed, **comparison.settings)


rule compare:
    input:
        **code("synthesis/compare.py"),
        control=compared_metrics("control"),
        treatment=compared_metrics("treatment"),
    output:
        effects=results("effects/{comparison}.tsv"),
        meta=results("meta/{comparison}.json"),
    log:
        results("logs/compare/{comparison}.log"),
    params:
        settings=comparison_settings,
    conda:
        "../envs/evaluation.yaml"
    message:
        "compare {wildcards.comparison}"
    shell:
        "python {input.script:q} --control {input.control:q} --treatment {input.treatment:q}"
        " --effects {output.effects:q} --meta {output.meta:q} --settings {params.settings:q} --log {log:q}"


rule comparisons_table:
    input:
        **code("synthesis/comparisons_table.py"),
        meta=expand(results("meta/{comparison}.json"), comparison=EXPERIMENT.comparisons),
    output:
        table=shown(results("tables/comparisons.tsv"), "comparisons", "Tables", table="comparisons"),
    log:
        results("logs/comparisons_table.log"),
    conda:
        "../envs/evaluation.yaml"
    message:
        "comparisons_table"
    shell:
        "python {input.script:q} --meta {input.meta:q} --table {output.table:q} --log {log:q}"
