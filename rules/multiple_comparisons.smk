"""Many systems at once: simultaneous tests of all pairs or against one control, with their table and diagram.

In: metrics/{task}/{system}/seed-{seed}.tsv. Out: multiple-comparisons/{family}.json,
tables/multiple-comparisons/{family}.{tsv,md,tex}, figures/multiple-comparisons/{family}.{svg,pdf,png}.
"""

from scripts.reports.planning import families
from scripts.synthesis import planning as synthesis


def shown_diagram(figure_format):
    """A file of a diagram that `snakemake --report` shows."""
    path = result("family_figure", figure_format=figure_format)
    return shown(path, "family", "Multiple comparisons", family="{family}", file=figure_format)


rule compare_many:
    input:
        metrics=lambda wildcards: synthesis.family_metrics(EXPERIMENT, wildcards.family),
    output:
        table=shown(
            result("family_table", table_format="tsv"),
            "family_table",
            "Tables",
            table="multiple comparison",
            comparison="{family}",
        ),
        record=result("family"),
    log:
        result("log", job="compare_many/{family}"),
    params:
        code=code("synthesis/compare_many.py"),
        settings=lambda wildcards: settings(**synthesis.family_settings(EXPERIMENT, wildcards.family)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "compare_many {wildcards.family}"
    shell:
        "python {params.code[script]:q} --metrics {input.metrics:q} --table {output.table:q} --record {output.record:q}"
        " --settings {params.settings:q} --log {log:q}"


rule family_table:
    input:
        table=result("family_table", table_format="tsv"),
        record=result("family"),
    output:
        page=result("family_table", table_format="md"),
        tex=result("family_table", table_format="tex"),
    log:
        result("log", job="family_table/{family}"),
    params:
        code=code("reports/family_table.py"),
        settings=lambda wildcards: settings(**families.family_settings(EXPERIMENT, wildcards.family)),
    conda:
        "../envs/report.yaml"
    message:
        "family_table {wildcards.family}"
    shell:
        "python {params.code[script]:q} --table {input.table:q} --record {input.record:q} --page {output.page:q}"
        " --tex {output.tex:q} --settings {params.settings:q} --log {log:q}"


rule family_figure:
    input:
        table=result("family_table", table_format="tsv"),
        record=result("family"),
    output:
        svg=shown_diagram("svg"),
        pdf=shown_diagram("pdf"),
        png=result("family_figure", figure_format="png"),
    log:
        result("log", job="family_figure/{family}"),
    params:
        code=code("reports/draw_family.py"),
        settings=lambda wildcards: settings(**families.family_settings(EXPERIMENT, wildcards.family)),
    conda:
        "../envs/report.yaml"
    message:
        "family_figure {wildcards.family}"
    shell:
        "python {params.code[script]:q} --table {input.table:q} --record {input.record:q}"
        " --svg {output.svg:q} --pdf {output.pdf:q} --png {output.png:q}"
        " --settings {params.settings:q} --log {log:q}"
