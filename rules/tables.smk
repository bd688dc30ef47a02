"""Tables: collect numbers of many files into one table, and print all comparisons as tables.

In: metrics/, meta/, effects/, data/*/statistics.json, records of selections, timings of runs, checkpoints and encodings
(external systems have none). Out:
tables/{datasets,means,comparisons,costs,selected-seeds,chosen-recipes,extreme-queries}.tsv, tables/{matrix}.tsv,
tables/influence/{comparison}.tsv, tables/comparisons.{md,tex}, tables/effects/{comparison}.{tsv,md,tex}.
"""

from ranktrial.experiment import job_files, timings
from ranktrial.experiment.comparisons import loaded_modules
from ranktrial.experiment.drawing import Drawing
from ranktrial.experiment.labels import facts_of
from scripts.datasets import planning as datasets
from scripts.evaluation import planning as evaluation
from scripts.explorer import planning as explorer
from scripts.reports import planning as pages
from scripts.selection import planning as selection
from scripts.synthesis import planning as synthesis
from scripts.synthesis.transfer import planning as transfer_values


localrules:
    collect,
    tables,


def from_files(script, said=None, compared=(), **inputs):
    """The planned job of a table: its script, its inputs by the name of the script's options, and its settings."""
    return Drawing(script, inputs, said or {}, compared)


def influence(comparison):
    """The table of each task's influence on the summary of a comparison."""
    inputs = {name: result(name, comparison=comparison) for name in ("effects", "meta")}
    return from_files("synthesis/influence_table.py", compared=(comparison,), **inputs)


def matrix(name):
    """The table of all cells of a matrix of sources and targets."""
    metrics = transfer_values.matrix_metrics(EXPERIMENT, name)
    return from_files("synthesis/measure_matrix.py", transfer_values.matrix_settings(EXPERIMENT, name), metrics=metrics)


COLLECTED = {
    "datasets": from_files(
        "reports/datasets_table.py",
        statistics=datasets.statistics(EXPERIMENT),
        word_pieces=datasets.word_pieces(EXPERIMENT),
    ),
    "means": from_files("evaluation/means.py", metrics=evaluation.all_metrics(EXPERIMENT)),
    "means-ties-ascending": from_files("evaluation/means.py", metrics=evaluation.ascending_metrics(EXPERIMENT)),
    "comparisons": from_files(
        "synthesis/comparisons_table.py",
        synthesis.table_settings(EXPERIMENT),
        meta=job_files.of_comparisons(EXPERIMENT, "meta"),
    ),
    "costs": from_files(
        "reports/costs.py",
        {"behind": timings.timings(EXPERIMENT)},
        timing=timings.run_timings(EXPERIMENT),
        beside=timings.other_timings(EXPERIMENT),
    ),
    "selected-seeds": from_files("selection/table.py", records=selection.seed_records(EXPERIMENT)),
    "chosen-recipes": from_files("selection/table.py", records=selection.recipe_records(EXPERIMENT)),
    "extreme-queries": from_files(
        "explorer/extremes.py",
        explorer.explorer_settings(EXPERIMENT),
        metrics=explorer.metrics(EXPERIMENT),
        statistics=explorer.statistics(EXPERIMENT),
    ),
    **{f"influence/{name}": influence(name) for name in EXPERIMENT.comparisons},
    **{name: matrix(name) for name in EXPERIMENT.matrices},
}


def shown_tables():
    """The tables of all comparisons; for each, Snakemake's report shows the one at full precision."""
    in_full = {result("effects_table", comparison=name, table_format="tsv"): name for name in EXPERIMENT.comparisons}
    return [
        shown(table, "effects", "Tables", table="effects", comparison=in_full[table]) if table in in_full else table
        for table in pages.effects_tables(EXPERIMENT)
    ]


use rule in_workflow as collect with:
    input:
        unpack(lambda wildcards: COLLECTED[wildcards.table].inputs),
    output:
        table=shown(result("table", table_format="tsv"), "collect", "Tables", table="{table}"),
    wildcard_constraints:
        table=one_of(COLLECTED),
    params:
        **job(
            code(
                lambda wildcards: COLLECTED[wildcards.table].script,
                lambda wildcards: loaded_modules(
                    EXPERIMENT.comparisons[name] for name in COLLECTED[wildcards.table].compared
                ),
            ),
            lambda wildcards: COLLECTED[wildcards.table].settings,
        ),


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
