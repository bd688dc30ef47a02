"""Pages: tables for print (Markdown and LaTeX), tables that no other rule writes, and written answers.

In: tables/means.tsv, tables/costs.tsv, moderators/, multiple-comparisons/ with tables, tables/{matrix}.tsv, curves/,
judgements by humans and by models with metrics for both. Out: tables/{means,{matrix}}.{md,tex},
tables/multiple-comparisons/*.{md,tex}, tables/{inference,fine-tuning}-times.{tsv,md,tex},
tables/moderators/*.{tsv,md,tex}, tables/*-answers.{md,tsv}, tables/judges/{dataset}.{md,tsv}.
"""

from scripts.reports import planning as pages

TO_PRINT = pages.pages_to_print(EXPERIMENT)
IN_FULL = pages.full_tables(EXPERIMENT)
ANSWERED = pages.answers(EXPERIMENT)


def written(tables):
    """The parameters of the planned jobs of tables; the script is a file, with a function if it has several."""

    def of_job(wildcards):
        return tables[wildcards.table]()

    script = code(lambda wildcards: of_job(wildcards).script.partition(":")[0])
    function = lambda wildcards: of_job(wildcards).script.partition(":")[2]
    return job(script, lambda wildcards: of_job(wildcards).settings) | {"function": function}


localrules:
    page,
    full_table,
    answer,


use rule in_workflow as page with:
    input:
        unpack(lambda wildcards: TO_PRINT[wildcards.table]().inputs),
    output:
        page=result("table", table_format="md"),
        tex=result("table", table_format="tex"),
    wildcard_constraints:
        table=one_of(TO_PRINT),
    params:
        **written(TO_PRINT),


use rule in_workflow as full_table with:
    input:
        unpack(lambda wildcards: IN_FULL[wildcards.table]().inputs),
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
        unpack(lambda wildcards: ANSWERED[wildcards.table]().inputs),
    output:
        page=result("table", table_format="md"),
        table=shown(result("table", table_format="tsv"), "answer", "Tables", table="{table}"),
    wildcard_constraints:
        table=one_of(ANSWERED),
    params:
        **written(ANSWERED),
