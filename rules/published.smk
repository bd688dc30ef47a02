"""Published numbers beside ours, number by number or, with a mapping, all cells of a paper's tables with verdicts.

In: config/published/, tables/means.tsv and effects/, meta/ or tables/*-times.tsv.
Out: published-versus-ours.{tsv,md} and, with a mapping, .html.
"""

from scripts.experiment.charts import weights_name
from scripts.experiment.descriptions import for_times
from scripts.experiment.printed_cells import read_mapping

PUBLISHED = dict(EXPERIMENT.published or {})
MAPPED = "mapping" in PUBLISHED
if PUBLISHED:
    PUBLISHED |= {"table": results("published-versus-ours.tsv"), "page": results("published-versus-ours.md")}
    PUBLISHED["html"] = results("published-versus-ours.html") if MAPPED else []


def mapped_system(name):
    """What tells a system from the others that its entry became, and where its time of fine-tuning stands."""
    system = EXPERIMENT.systems[name]
    weights = weights_name(EXPERIMENT.models[system.model]["weights"]) if system.model else ""
    told = for_times(EXPERIMENT, system)
    return {"system": name, "weights": weights, "model": told["model"], "recipe": told.get("recipe", "")}


def published_settings(wildcards):
    read = sha256_of(published=PUBLISHED.get("file"), mapping=PUBLISHED.get("mapping"))
    if not MAPPED:
        return settings(beside=PUBLISHED.get("beside", {}), **read)
    meant = {entry for line in read_mapping(Path(PUBLISHED["mapping"])).systems for entry in line.ours}
    entries = {entry: [mapped_system(name) for name in EXPERIMENT.entries.get(entry, [])] for entry in sorted(meant)}
    return settings(entries=entries, tasks={task.name: folder for folder, task in TASKS.items()}, **read)


rule published:
    input:
        **code("reports/published.py"),
        published=PUBLISHED.get("file", []),
        mapping=PUBLISHED.get("mapping", []),
        means=results("tables/means.tsv"),
        times=expand(results("{table}.tsv"), table=TIMES if MAPPED else []),
        effects=[] if MAPPED else EFFECTS,
        meta=[] if MAPPED else META,
    output:
        table=shown(results("published-versus-ours.tsv"), "published", "Tables", table="published versus ours"),
        page=results("published-versus-ours.md"),
        html=PUBLISHED.get("html", []),
    log:
        results("logs/published.log"),
    params:
        settings=published_settings,
    conda:
        "../envs/report.yaml"
    message:
        "published"
    shell:
        "python {input.script:q} --published {input.published:q} --mapping {input.mapping:q} --means {input.means:q}"
        " --times {input.times:q} --effects {input.effects:q} --meta {input.meta:q} --table {output.table:q}"
        " --page {output.page:q} --html {output.html:q} --settings {params.settings:q} --log {log:q}"
