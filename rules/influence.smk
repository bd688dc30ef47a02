"""Influence: how each task weighs on a comparison's summary, for the comparisons with `figure: {influence: true}`.

In: effects/, meta/. Out: tables/influence/{comparison}.tsv, figures/influence-{comparison}.{svg,pdf,png}.
"""

from scripts.experiment.figure_checks import INFLUENCE
from scripts.reports.planning import figures


rule influence:
    input:
        effects=result("effects"),
        meta=result("meta"),
    output:
        table=shown(result("influence_table"), "influence", "Tables", table="influence", comparison="{comparison}"),
    log:
        result("log", job="influence/{comparison}"),
    params:
        code=comparing("synthesis/influence_table.py", lambda wildcards: [wildcards.comparison]),
    conda:
        "../envs/evaluation.yaml"
    message:
        "influence {wildcards.comparison}"
    shell:
        "python {params.code[script]:q} --effects {input.effects:q} --meta {input.meta:q} --table {output.table:q} --log {log:q}"


rule influence_figure:
    input:
        table=result("influence_table"),
        meta=result("meta"),
    output:
        svg=shown_figure("svg", "influence", "Influence", figure=INFLUENCE + "{comparison}", comparison="{comparison}"),
        pdf=shown_figure("pdf", "influence", "Influence", figure=INFLUENCE + "{comparison}", comparison="{comparison}"),
        png=result("figure", figure=INFLUENCE + "{comparison}", figure_format="png"),
    log:
        result("log", job="influence_figure/{comparison}"),
    wildcard_constraints:
        comparison=one_of(figures.influence_figures(EXPERIMENT)),
    params:
        code=comparing("reports/draw_influence.py", lambda wildcards: [wildcards.comparison]),
        settings=lambda wildcards: settings(**figures.influence_settings(EXPERIMENT, wildcards.comparison)),
    conda:
        "../envs/report.yaml"
    message:
        "influence_figure {wildcards.comparison}"
    shell:
        "python {params.code[script]:q} --table {input.table:q} --meta {input.meta:q}"
        " --svg {output.svg:q} --pdf {output.pdf:q} --png {output.png:q} --settings {params.settings:q} --log {log:q}"
