"""Tables: of datasets and comparisons, and of times and memory.

In: data/*/statistics.json, tables/comparisons.tsv, effects/, meta/, timings of runs, checkpoints and encodings (external systems
have none). Out: tables/datasets.tsv, tables/comparisons.{md,tex}, tables/effects/{comparison}.{tsv,md,tex}, tables/costs.tsv,
tables/{inference,fine-tuning}-times.{tsv,md,tex}.
"""

from scripts.datasets import planning as datasets
from scripts.engine.job_settings import settings
from scripts.experiment import job_files
from scripts.experiment.comparisons import loaded_modules
from scripts.experiment.results_paths import TABLE_FORMATS
from scripts.reports.planning import costs, figures, pages
from scripts.reports.planning.labels import labels


localrules:
    datasets_table,
    tables,
    costs,
    times,


def shown_tables():
    """The tables of all comparisons; of each, Snakemake's report shows the one at full precision."""
    in_full = {result("effects_table", comparison=name, table_format="tsv"): name for name in EXPERIMENT.comparisons}
    return [
        shown(table, "effects", "Tables", table="effects", comparison=in_full[table]) if table in in_full else table
        for table in pages.effects_tables(EXPERIMENT)
    ]


def shown_times(work):
    """A table of times in its formats; Snakemake's report shows the one at full precision."""
    first, *others = [result("times", work=work, table_format=table_format) for table_format in TABLE_FORMATS]
    return [shown(first, "times", "Tables", table=f"{work} times"), *others]


rule datasets_table:
    input:
        statistics=datasets.statistics(EXPERIMENT),
        word_pieces=datasets.word_pieces(EXPERIMENT),
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
        "python {params.code[script]:q} --statistics {input.statistics:q}"
        " --word-pieces {input.word_pieces:q} --table {output.table:q} --log {log:q}"


rule tables:
    input:
        effects=job_files.of_comparisons(EXPERIMENT, "effects"),
        meta=job_files.of_comparisons(EXPERIMENT, "meta"),
        comparisons=result("comparisons", table_format="tsv"),
    output:
        effects=shown_tables(),
        comparisons=expand(result("comparisons"), table_format=["md", "tex"]),
    log:
        result("log", job="tables"),
    params:
        code=code("reports/tables.py", loaded_modules(EXPERIMENT.comparisons.values())),
        settings=settings(labels=labels(EXPERIMENT), comparisons=figures.table_settings(EXPERIMENT)),
    conda:
        "../envs/report.yaml"
    message:
        "tables"
    shell:
        "python {params.code[script]:q} --effects {input.effects:q} --meta {input.meta:q} --comparisons {input.comparisons:q}"
        " --effects-tables {output.effects:q} --comparisons-tables {output.comparisons:q}"
        " --settings {params.settings:q} --log {log:q}"


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
