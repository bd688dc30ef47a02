"""Tables: those that collect numbers of many files, all comparisons, tables for print, and written answers.

In: metrics/, meta/, effects/, data/*/statistics.json, timings and records of any kind, moderators/, curves/,
multiple-comparisons/, judgements by humans and by models (scripts/reports/planning.py plans what each table is made of).
Out: tables/{table}.tsv; of all comparisons, tables/comparisons.{md,tex} and tables/effects/*.{tsv,md,tex}; tables/*.{md,tex}
of means, matrices and multiple comparisons; tables/*-times.{tsv,md,tex}, tables/moderators/*.{tsv,md,tex};
tables/*-answers.{md,tsv}, tables/judges/{dataset}.{md,tsv}.
"""

from ranktrial.experiment import job_files
from ranktrial.experiment.comparisons import loaded_modules
from ranktrial.experiment.labels import facts_of
from scripts.reports import planning as pages

COLLECTED = pages.collected(EXPERIMENT)
TO_PRINT = pages.pages_to_print(EXPERIMENT)
IN_FULL = pages.full_tables(EXPERIMENT)
ANSWERED = pages.answers(EXPERIMENT)


localrules:
    collect,
    tables,
    page,
    full_table,
    answer,


def shown_tables():
    """The tables of all comparisons; for each, Snakemake's report shows the one at full precision."""
    in_full = {result("effects_table", comparison=name, table_format="tsv"): name for name in EXPERIMENT.comparisons}
    return [
        shown(table, "effects", "Tables", table="effects", comparison=in_full[table]) if table in in_full else table
        for table in pages.effects_tables(EXPERIMENT)
    ]


def made_of(tables):
    """The inputs of planned tables, by option."""
    return lambda wildcards: tables[wildcards.table]().inputs


def written(tables):
    """The parameters of the jobs of planned tables; a script is a file, with a function if it has several."""

    def of_job(wildcards):
        return tables[wildcards.table]()

    script = code(
        lambda wildcards: of_job(wildcards).script.partition(":")[0],
        lambda wildcards: loaded_modules(EXPERIMENT.comparisons[name] for name in of_job(wildcards).compared),
    )
    function = lambda wildcards: of_job(wildcards).script.partition(":")[2]
    return job(script, lambda wildcards: of_job(wildcards).settings) | {"function": function}


use rule in_workflow as collect with:
    input:
        unpack(made_of(COLLECTED)),
    output:
        table=shown(result("table", table_format="tsv"), "collect", "Tables", table="{table}"),
    wildcard_constraints:
        table=one_of(COLLECTED),
    params:
        **written(COLLECTED),


use rule in_workflow as tables with:
    input:
        effects=job_files.of_comparisons(EXPERIMENT, "effects"),
        meta=job_files.of_comparisons(EXPERIMENT, "meta"),
        comparisons=result("comparisons", table_format="tsv"),
    output:
        effects_tables=shown_tables(),
        comparisons_tables=expand(result("comparisons"), table_format=["md", "tex"]),
    params:
        **job(
            "reports/tables.py:write_tables",
            lambda wildcards: {
                "facts": facts_of(EXPERIMENT, EXPERIMENT.comparisons.values()),
                "looks": pages.table_settings(EXPERIMENT),
            },
            loaded_modules(EXPERIMENT.comparisons.values()),
        ),


use rule in_workflow as page with:
    input:
        unpack(made_of(TO_PRINT)),
    output:
        page=result("table", table_format="md"),
        tex=result("table", table_format="tex"),
    wildcard_constraints:
        table=one_of(TO_PRINT),
    params:
        **written(TO_PRINT),


use rule in_workflow as full_table with:
    input:
        unpack(made_of(IN_FULL)),
    output:
        table=shown(result("table", table_format="tsv"), "full_table", "Tables", table="{table}"),
        page=result("table", table_format="md"),
        tex=result("table", table_format="tex"),
    wildcard_constraints:
        table=one_of(IN_FULL),
    params:
        **written(IN_FULL),


use rule in_workflow as answer with:
    input:
        unpack(made_of(ANSWERED)),
    output:
        page=result("table", table_format="md"),
        table=shown(result("table", table_format="tsv"), "answer", "Tables", table="{table}"),
    wildcard_constraints:
        table=one_of(ANSWERED),
    params:
        **written(ANSWERED),
