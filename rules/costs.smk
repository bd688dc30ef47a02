"""Costs: a table of times and memory, and figures that set the effects over one control against what they cost.

In: the timing files of runs, checkpoints and encodings, meta/. Out: tables/costs.tsv,
tables/{inference,fine-tuning}-times.{tsv,md,tex}, figures/cost-{name}.{svg,pdf,png}.
External systems have no timing.
"""

from scripts.experiment.comparisons import COST_FIGURE
from scripts.reports.planning import costs

COST_FIGURES = costs.cost_figures(EXPERIMENT)


rule costs:
    input:
        timing=costs.run_timings(EXPERIMENT),
        beside=costs.other_timings(EXPERIMENT),
    output:
        table=shown(result("costs"), "costs", "Tables", table="costs"),
    log:
        result("log", job="costs"),
    params:
        code=code("reports/costs.py"),
        settings=settings(beside=costs.timings(EXPERIMENT)),
    conda:
        "../envs/report.yaml"
    message:
        "costs"
    shell:
        "python {params.code[script]:q} --timing {input.timing:q} --table {output.table:q}"
        " --settings {params.settings:q} --log {log:q}"


def shown_times(work):
    """A table of times in its formats; Snakemake's report shows the one at full precision."""
    first, *others = [result("times", work=work, table_format=table_format) for table_format in TABLE_FORMATS]
    return [shown(first, "times", "Tables", table=f"{work} times"), *others]


rule times:
    input:
        costs=result("costs"),
    output:
        inference=shown_times("inference"),
        fine_tuning=shown_times("fine-tuning"),
    log:
        result("log", job="times"),
    params:
        code=code("reports/times.py"),
        settings=settings(**costs.times_settings(EXPERIMENT)),
    conda:
        "../envs/report.yaml"
    message:
        "times"
    shell:
        "python {params.code[script]:q} --costs {input.costs:q} --inference {output.inference:q}"
        " --fine-tuning {output.fine_tuning:q} --settings {params.settings:q} --log {log:q}"


rule cost_figure:
    input:
        meta=lambda wildcards: costs.cost_meta(EXPERIMENT, wildcards.costs),
        timing=lambda wildcards: costs.cost_timing_files(EXPERIMENT, wildcards.costs),
    output:
        svg=shown_figure("svg", "cost", "Costs", figure=COST_FIGURE + "{costs}", control="{costs}"),
        pdf=shown_figure("pdf", "cost", "Costs", figure=COST_FIGURE + "{costs}", control="{costs}"),
        png=result("figure", figure=COST_FIGURE + "{costs}", figure_format="png"),
    log:
        result("log", job="cost_figure/{costs}"),
    wildcard_constraints:
        costs=one_of(COST_FIGURES),
    params:
        code=comparing("reports/draw_costs.py", lambda wildcards: COST_FIGURES[wildcards.costs]),
        settings=lambda wildcards: settings(**costs.cost_settings(EXPERIMENT, wildcards.costs)),
    conda:
        "../envs/report.yaml"
    message:
        "cost_figure {wildcards.costs}"
    shell:
        "python {params.code[script]:q} --meta {input.meta:q} --timing {input.timing:q}"
        " --svg {output.svg:q} --pdf {output.pdf:q} --png {output.png:q}"
        " --settings {params.settings:q} --log {log:q}"
