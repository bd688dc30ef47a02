"""Costs: a table of times and memory, and figures that set the effects over one control against what they cost.

In: the timing files of runs, checkpoints and encodings, meta/. Out: tables/costs.tsv,
tables/{inference,fine-tuning}-times.{tsv,md,tex}, figures/cost-{name}.{svg,pdf,png}.
External systems have no timing.
"""

from scripts.experiment.comparisons import COST_FIGURE, cost_figures
from scripts.experiment.descriptions import for_times

FITTED_SYSTEMS = {name: system for name, system in EXPERIMENT.systems.items() if system_kind(system).timed}
TIMES = [f"tables/{name}-times" for name in ("inference", "fine-tuning")] if FITTED_SYSTEMS else []
COST_FIGURES = cost_figures(EXPERIMENT.comparisons, set(FITTED_SYSTEMS))


@cache
def timings():
    """Run timing -> the timing files of the checkpoint and the encoding behind the run."""
    found = {}
    for system in FITTED_SYSTEMS.values():
        for task in EXPERIMENT.runs_of(system):
            for seed in EXPERIMENT.seeds_on(system, task):
                beside = {}
                if system.recipe != UNTRAINED:
                    beside["training"] = checkpoint_of(system, seed) + ".timing.json"
                if system.model and encoding(system, task, seed):
                    beside["encoding"] = encoding(system, task, seed) + ".timing.json"
                found[results(f"runs/{task.folder}/{system.name}/seed-{seed}.timing.json")] = beside
    return found


def cost_systems(name):
    """The systems of a figure of costs, its control first if that has timing."""
    comparisons = [EXPERIMENT.comparisons[one] for one in COST_FIGURES[name]]
    return [one for one in [comparisons[0].control, *(one.treatment for one in comparisons)] if one in FITTED_SYSTEMS]


def cost_timings(wildcards):
    """The part of `timings` that belongs to the systems and tasks of a figure of costs."""
    tasks = EXPERIMENT.comparisons[COST_FIGURES[wildcards.costs][0]].tasks
    systems = cost_systems(wildcards.costs)
    runs = tuple(results(f"runs/{EXPERIMENT.tasks[task].folder}/{name}/") for task in tasks for name in systems)
    return {run: beside for run, beside in timings().items() if run.startswith(runs)}


def cost_settings(wildcards):
    first = EXPERIMENT.comparisons[COST_FIGURES[wildcards.costs][0]]
    labels = {name: label for name, label in LABELS["systems"].items() if name in cost_systems(wildcards.costs)}
    return settings(control=first.control, alpha=first.settings["alpha"], labels=labels, beside=cost_timings(wildcards))


rule costs:
    input:
        **code("reports/costs.py"),
        timing=list(timings()),
        beside=sorted({path for paths in timings().values() for path in paths.values()}),
    output:
        table=shown(results("tables/costs.tsv"), "costs", "Tables", table="costs"),
    log:
        results("logs/costs.log"),
    params:
        settings=settings(beside=timings()),
    conda:
        "../envs/report.yaml"
    message:
        "costs"
    shell:
        "python {input.script:q} --timing {input.timing:q} --table {output.table:q}"
        " --settings {params.settings:q} 2>&1 | tee {log:q}"


def shown_times(name):
    """A table of times in its formats; Snakemake's report shows the one at full precision."""
    first, *others = expand(results("tables/{name}-times.{kind}"), name=name, kind=["tsv", "md", "tex"])
    return [shown(first, "times", "Tables", table=f"{name} times"), *others]


rule times:
    input:
        **code("reports/times.py"),
        costs=results("tables/costs.tsv"),
    output:
        inference=shown_times("inference"),
        fine_tuning=shown_times("fine-tuning"),
    log:
        results("logs/times.log"),
    params:
        settings=settings(
            systems={name: for_times(EXPERIMENT, system) for name, system in FITTED_SYSTEMS.items()},
            tasks={task.folder: task.label for task in TASKS.values() if task.label != task.folder},
        ),
    conda:
        "../envs/report.yaml"
    message:
        "times"
    shell:
        "python {input.script:q} --costs {input.costs:q} --inference $(dirname {input.costs:q})/inference-times"
        " --fine-tuning $(dirname {input.costs:q})/fine-tuning-times --settings {params.settings:q} 2>&1 | tee {log:q}"


rule cost_figure:
    input:
        **code("reports/draw_costs.py"),
        meta=lambda wildcards: expand(results("meta/{name}.json"), name=COST_FIGURES[wildcards.costs]),
        timing=lambda wildcards: sorted(
            {path for run, beside in cost_timings(wildcards).items() for path in [run, *beside.values()]}
        ),
    output:
        svg=shown(results(f"figures/{COST_FIGURE}{{costs}}.svg"), "cost", "Costs", control="{costs}", file="svg"),
        pdf=shown(results(f"figures/{COST_FIGURE}{{costs}}.pdf"), "cost", "Costs", control="{costs}", file="pdf"),
        png=results(f"figures/{COST_FIGURE}{{costs}}.png"),
    log:
        results("logs/cost_figure/{costs}.log"),
    wildcard_constraints:
        costs=one_of(COST_FIGURES),
    params:
        settings=cost_settings,
    conda:
        "../envs/report.yaml"
    message:
        "cost_figure {wildcards.costs}"
    shell:
        "python {input.script:q} --meta {input.meta:q} --timing {input.timing:q}"
        " --figure $(echo {output.svg:q} | sed 's/[.]svg$//') --settings {params.settings:q} 2>&1 | tee {log:q}"
