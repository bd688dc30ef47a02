"""The report: the experiment in one HTML file, a summary in Markdown, and a comparison with published numbers.

In: figures/ and the inputs of all sections (scripts/reports/sections/); for the comparison, config/published/, tables/,
effects/, meta/, importance of features, Anserini's reference scores. Out: report.html, summary.md,
published-versus-ours.{tsv,md} and, with a mapping, .html. (`snakemake --report FILE.zip` makes Snakemake's own report.)
"""

from ranktrial.experiment.comparisons import loaded_modules
from scripts.bm25 import planning as bm25
from scripts.evaluation import planning as evaluation
from scripts.reports import sections
from scripts.reports import planning as pages

PUBLISHED_FILES = pages.user_files(EXPERIMENT)
BESIDE_PUBLISHED = pages.compared_with(EXPERIMENT)
LOOKS = [f"ranktrial/reports/writing/page.{kind}" for kind in ("css", "js")]


localrules:
    report,
    published,


report: "captions/workflow.rst"


use rule in_workflow as report with:
    input:
        unpack(planned(sections.inputs)),
    output:
        summary=result("summary"),
        page=shown(result("report"), "page", "Report", page="report"),
    params:
        **job(
            "reports/report.py",
            lambda wildcards: sections.settings(EXPERIMENT) | graph().drawn(rule.name for rule in workflow.rules),
            [*LOOKS, *sections.sources(), *loaded_modules(EXPERIMENT.comparisons.values())],
        ),


use rule in_workflow as published with:
    input:
        published=PUBLISHED_FILES.get("published", []),
        references=bm25.references(EXPERIMENT),
        mapping=PUBLISHED_FILES.get("mapping", []),
        means=result("means"),
        ascending=result("ascending_means") if evaluation.ascending_metrics(EXPERIMENT) else [],
        datasets=result("datasets_table"),
        times=BESIDE_PUBLISHED["times"],
        importances=[table for tables in pages.importances(EXPERIMENT).values() for table in tables],
        effects=BESIDE_PUBLISHED["effects"],
        meta=BESIDE_PUBLISHED["meta"],
        matrices=BESIDE_PUBLISHED["matrices"],
    output:
        table=shown(result("published_table"), "published", "Tables", table="published versus ours"),
        page=result("published_page", page_format="md"),
        html=pages.page_as_html(EXPERIMENT),
    params:
        **job("reports/published.py", planned(pages.published_settings), LOOKS if pages.mapping(EXPERIMENT) else []),
