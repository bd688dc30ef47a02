"""Published numbers beside ours, number by number or, with a mapping, all cells of a paper's tables with verdicts.

In: config/published/, tables/means.tsv and effects/, meta/ or tables/*-times.tsv and the importance of rankers' features.
Out: published-versus-ours.{tsv,md} and, with a mapping, .html.
"""

from scripts.reports.planning import published

PUBLISHED_FILES = published.user_files(EXPERIMENT)
BESIDE_PUBLISHED = published.compared_with(EXPERIMENT)


rule published:
    input:
        style=repository("scripts/reports/writing/page.css") if published.mapping(EXPERIMENT) else [],
        page_script=repository("scripts/reports/writing/page.js") if published.mapping(EXPERIMENT) else [],
        published=PUBLISHED_FILES.get("published", []),
        mapping=PUBLISHED_FILES.get("mapping", []),
        means=result("means"),
        datasets=result("datasets_table"),
        times=BESIDE_PUBLISHED["times"],
        importances=[table for tables in published.importances(EXPERIMENT).values() for table in tables],
        effects=BESIDE_PUBLISHED["effects"],
        meta=BESIDE_PUBLISHED["meta"],
    output:
        table=shown(result("published_table"), "published", "Tables", table="published versus ours"),
        page=result("published_page", page_format="md"),
        html=published.page_as_html(EXPERIMENT),
    log:
        result("log", job="published"),
    params:
        code=code("reports/published.py"),
        settings=lambda wildcards: settings(**published.published_settings(EXPERIMENT), **sha256_of(**PUBLISHED_FILES)),
    conda:
        "../envs/report.yaml"
    message:
        "published"
    shell:
        "python {params.code[script]:q} --published {input.published:q} --mapping {input.mapping:q} --means {input.means:q}"
        " --datasets {input.datasets:q} --times {input.times:q} --importances {input.importances:q} --effects {input.effects:q}"
        " --meta {input.meta:q} --table {output.table:q} --page {output.page:q} --html {output.html:q} --settings {params.settings:q} --log {log:q}"
