"""Pages: the experiment as one HTML file to read and to send, with the graph of its rules, and a summary in Markdown.

In: tables/, effects/, meta/, figures/*.svg, training logs, all timing files, metrics of the systems that differ in their
number of training queries. Out: summary.md, report.html. (`snakemake --report FILE.zip` makes Snakemake's own report.)
"""

from snakemake.iocontainers import Wildcards

from scripts.common.ledger import LEDGER, recorded
from scripts.experiment.results_paths import HEAVY, kind
from scripts.reports.planning import pages

report: "captions/workflow.rst"


@cache
def behind(*targets):
    """The jobs behind the targets, each a rule with its wildcards, and the pairs of rules of which the first makes what
    the second takes. Walked from the targets back to the raw data, as Snakemake does it.
    """
    makers = [rule for rule in workflow.rules if rule.products()]
    jobs, feeds, made_by = {}, set(), {}
    todo = [(None, path) for path in targets]
    while todo:
        taker, path = todo.pop()
        if path not in made_by:
            maker = next((rule for rule in makers if rule.is_producer(path)), None)
            made_by[path] = maker and maker.name
            found = maker and Wildcards(fromdict=maker.get_wildcards(path))
            if maker and (maker.name, tuple(found)) not in jobs:
                jobs[maker.name, tuple(found)] = maker, found
                todo += [(maker.name, one) for one in map(str, maker.expand_input(found)[0])]
        if made_by[path] and taker:
            feeds.add((made_by[path], taker))
    return jobs, feeds


@cache
def gone():
    """The files that jobs behind the results had written and that were deleted since, of the kinds in every archive.

    (Checkpoints, embeddings, indices and texts may be deleted to save space.)
    """
    if not (LEDGER / RESULTS).is_dir():
        return []
    jobs, _ = behind(*rules.all.input.shown)
    written = {str(out.apply_wildcards(found)) for maker, found in jobs.values() for out in maker.output}
    missing = [path for path in sorted(written) if not os.path.exists(path)]
    found = [path for path in missing if kind(path) not in HEAVY and recorded(Path(path))]
    if found:
        said = f"{len(found)} deleted files are made again, with all that depends on them, such as {found[0]}"
        print(f"{said} (that one alone: snakemake {found[0]} --configfile {CONFIG_FILES[-1]})", file=sys.stderr)
    return found


def deleted(wildcards):
    """What is made again, though what was made of it is there."""
    return gone()


def rule_graph():
    """The number of jobs of each rule, and the pairs of rules of which the first makes what the second takes."""
    jobs, feeds = behind(*rules.all.input.shown)
    names = [name for name, _ in jobs]
    place = {rule.name: number for number, rule in enumerate(workflow.rules)}
    # A recipe may start from another, and a chosen seed depends on scores: what leads back up comes last.
    feeds = sorted(feeds, key=lambda pair: (place[pair[0]] >= place[pair[1]], pair))
    return {"jobs": {name: names.count(name) for name in sorted(set(names))}, "feeds": feeds}


rule summary:
    input:
        **code("reports/summary.py", *LOADED),
        datasets=result("datasets_table"),
        means=result("means"),
        comparisons=result("comparisons", table_format="tsv"),
        costs=result("costs"),
        effects=EFFECTS,
        meta=META,
        selected=pages.selected_seeds(EXPERIMENT),
        published=published.table(EXPERIMENT),
    output:
        summary=result("summary"),
    log:
        result("log", job="summary"),
    params:
        settings=settings(**pages.summary_settings(EXPERIMENT, CAUTIONS)),
    conda:
        "../envs/report.yaml"
    message:
        "summary"
    shell:
        "python {input.script:q} --datasets {input.datasets:q} --means {input.means:q}"
        " --comparisons {input.comparisons:q} --costs {input.costs:q} --effects {input.effects:q} --meta {input.meta:q}"
        " --published {input.published:q} --selected {input.selected:q} --summary {output.summary:q}"
        " --settings {params.settings:q} 2>&1 | tee {log:q}"


rule report:
    input:
        **code("reports/report.py", *LOADED),
        template="scripts/reports/page/report.html.j2",
        style="scripts/reports/page/report.css",
        page_script="scripts/reports/page/report.js",
        datasets=result("datasets_table"),
        means=result("means"),
        comparisons=result("comparisons", table_format="tsv"),
        costs=result("costs"),
        effects=EFFECTS,
        meta=META,
        figures=figures.figure_files(EXPERIMENT, ("svg",)),
        training_logs=pages.training_logs(EXPERIMENT),
        timing=pages.timing_files(EXPERIMENT),
        metrics=pages.sizes_metrics(EXPERIMENT),
        published=published.table(EXPERIMENT),
        selected=pages.selected_seeds(EXPERIMENT),
    output:
        page=shown(result("report"), "page", "Report", page="report"),
    log:
        result("log", job="report"),
    params:
        settings=lambda wildcards: settings(
            **pages.summary_settings(EXPERIMENT, CAUTIONS), **pages.report_settings(EXPERIMENT), **rule_graph()
        ),
    conda:
        "../envs/report.yaml"
    message:
        "report"
    shell:
        "python {input.script:q} --datasets {input.datasets:q} --means {input.means:q} --comparisons {input.comparisons:q}"
        " --costs {input.costs:q}"
        " --effects {input.effects:q} --meta {input.meta:q} --figures {input.figures:q} --timing {input.timing:q}"
        " --training-log {input.training_logs:q} --metrics {input.metrics:q} --published {input.published:q}"
        " --selected {input.selected:q} --page {output.page:q} --settings {params.settings:q} 2>&1 | tee {log:q}"
