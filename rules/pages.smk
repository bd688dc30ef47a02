"""Pages: means, moderators, families, matrices and curves as tables and answers to read.

In: tables/means.tsv, moderators/, multiple-comparisons/ with tables, tables/{matrix}.tsv, curves/. Out: tables/means.{md,tex},
tables/{moderators,multiple-comparisons}/*.{md,tex} (moderators: tsv, too), tables/{matrix}.{md,tex}, tables/*-answers.{md,tsv}.
"""

from scripts.engine.job_settings import settings
from scripts.engine.rule_helpers import one_of
from scripts.reports.planning import families, moderation, pages, transfer


localrules:
    means_tables,
    moderators_tables,
    family_table,
    matrix_tables,
    curve_answers,


rule means_tables:
    input:
        means=result("means"),
        families=families.family_files(EXPERIMENT, "family_table", table_format="tsv"),
        family_records=families.family_files(EXPERIMENT, "family"),
    output:
        page=result("means_page", page_format="md"),
        tex=result("means_page", page_format="tex"),
    log:
        result("log", job="means_tables"),
    params:
        code=code("reports/means_tables.py"),
        settings=settings(**pages.means_settings(EXPERIMENT)),
    conda:
        "../envs/report.yaml"
    message:
        "means_tables"
    shell:
        "python {params.code[script]:q} --means {input.means:q} --families {input.families:q}"
        " --family-records {input.family_records:q} --page {output.page:q} --tex {output.tex:q}"
        " --settings {params.settings:q} --log {log:q}"


rule moderators_tables:
    input:
        moderators=result("moderators"),
    output:
        table=shown(
            result("moderators_table", table_format="tsv"),
            "moderators",
            "Tables",
            table="moderators",
            comparison="{comparison}",
        ),
        page=result("moderators_table", table_format="md"),
        tex=result("moderators_table", table_format="tex"),
    log:
        result("log", job="moderators_tables/{comparison}"),
    params:
        code=code("reports/moderator_tables.py"),
        settings=lambda wildcards: settings(**moderation.table_settings(EXPERIMENT, wildcards.comparison)),
    conda:
        "../envs/report.yaml"
    message:
        "moderators_tables {wildcards.comparison}"
    shell:
        "python {params.code[script]:q} --moderators {input.moderators:q} --table {output.table:q} --page {output.page:q}"
        " --tex {output.tex:q} --settings {params.settings:q} --log {log:q}"


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


rule matrix_tables:
    input:
        table=result("matrix", table_format="tsv"),
    output:
        page=result("matrix", table_format="md"),
        latex=result("matrix", table_format="tex"),
        answers_page=result("answers", study="{matrix}", answers_format="md"),
        answers_table=result("answers", study="{matrix}", answers_format="tsv"),
    log:
        result("log", job="matrix_tables/{matrix}"),
    wildcard_constraints:
        matrix=one_of(EXPERIMENT.matrices),
    params:
        code=code("reports/matrix_tables.py"),
        settings=lambda wildcards: settings(**transfer.matrix_settings(EXPERIMENT, wildcards.matrix)),
    conda:
        "../envs/report.yaml"
    message:
        "matrix_tables {wildcards.matrix}"
    shell:
        "python {params.code[script]:q} --table {input.table:q} --page {output.page:q} --latex {output.latex:q}"
        " --answers-page {output.answers_page:q} --answers-table {output.answers_table:q}"
        " --settings {params.settings:q} --log {log:q}"


rule curve_answers:
    input:
        record=result("curves"),
    output:
        answers_page=result("answers", study="curves-{curve}", answers_format="md"),
        answers_table=result("answers", study="curves-{curve}", answers_format="tsv"),
    log:
        result("log", job="curve_answers/{curve}"),
    wildcard_constraints:
        curve=one_of(EXPERIMENT.curves),
    params:
        code=code("reports/curve_answers.py"),
        settings=lambda wildcards: settings(**transfer.curves_settings(EXPERIMENT, wildcards.curve)),
    conda:
        "../envs/report.yaml"
    message:
        "curve_answers {wildcards.curve}"
    shell:
        "python {params.code[script]:q} --record {input.record:q} --answers-page {output.answers_page:q}"
        " --answers-table {output.answers_table:q} --settings {params.settings:q} --log {log:q}"
