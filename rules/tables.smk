"""Tables: of the datasets, and of the comparisons for a paper.

In: data/*/statistics.json, tables/comparisons.tsv, effects/, meta/.
Out: tables/datasets.tsv, tables/comparisons.{md,tex}, tables/effects/{comparison}.{tsv,md,tex}.
"""

from scripts.reports.planning import figures, pages
from scripts.reports.planning.labels import labels


def shown_tables():
    """The tables of all comparisons; of each, Snakemake's report shows the one at full precision."""
    in_full = {result("effects_table", comparison=name, table_format="tsv"): name for name in EXPERIMENT.comparisons}
    return [
        shown(table, "effects", "Tables", table="effects", comparison=in_full[table]) if table in in_full else table
        for table in pages.effects_tables(EXPERIMENT)
    ]


rule datasets_table:
    input:
        statistics=datasets.statistics(EXPERIMENT),
    output:
        table=shown(result("datasets_table"), "datasets", "Tables", table="datasets"),
    log:
        result("log", job="datasets_table"),
    params:
        code=code("reports/datasets_table.py"),
    conda:
        "../envs/report.yaml"
    message:
        "datasets_table"
    shell:
        "python {params.code[script]:q} --statistics {input.statistics:q} --table {output.table:q} --log {log:q}"


rule tables:
    input:
        effects=EFFECTS,
        meta=META,
        comparisons=result("comparisons", table_format="tsv"),
    output:
        effects=shown_tables(),
        comparisons=expand(result("comparisons"), table_format=["md", "tex"]),
    log:
        result("log", job="tables"),
    params:
        code=code("reports/tables.py", LOADED),
        settings=settings(labels=labels(EXPERIMENT), comparisons=figures.table_settings(EXPERIMENT)),
    conda:
        "../envs/report.yaml"
    message:
        "tables"
    shell:
        "python {params.code[script]:q} --effects {input.effects:q} --meta {input.meta:q} --comparisons {input.comparisons:q}"
        " --effects-tables {output.effects:q} --comparisons-tables {output.comparisons:q}"
        " --settings {params.settings:q} --log {log:q}"
