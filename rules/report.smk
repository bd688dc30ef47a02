"""Report: the experiment as one HTML file to read and to send, and how it was made as a graph of its rules.

In: tables/, effects/, meta/, figures/*.svg, training logs, all timing files, metrics of the systems that differ in their
number of training queries. Out: report.html. (`snakemake --report FILE.zip` makes Snakemake's own report.)
"""

from scripts.archive.crate.layout import HEAVY, kind_of
from scripts.common.ledger import LEDGER
from scripts.engine.rule_graph import deleted_outputs, rule_graph

report: "captions/workflow.rst"


SCALED = ("queries", "epochs", "checkpoint_steps")  # of a recipe: what may go with the number of its training queries


def training_logs():
    """The logs of every training behind a system, and of those that it starts from."""
    found = set()
    for system in FITTED_SYSTEMS.values():
        for seed in system.seeds:
            recipe = system.recipe
            while recipe in EXPERIMENT.recipes:
                found.add(results(f"models/{system.model}/{recipe}/seed-{seed}.log.tsv"))
                recipe = EXPERIMENT.recipes[recipe]["start_from"]
    return sorted(found)


def timing_files():
    """The timings of all runs, of the encodings behind them, and of every training once, whichever seed is kept."""
    ranked = {path for run, beside in timings().items() for path in [run, *beside.values()]}
    trained = {path.removesuffix(".log.tsv") + ".timing.json" for path in training_logs()}
    return sorted({path for path in ranked if not path.startswith(results("models/"))} | trained)


def sizes():
    """The systems that differ in their number of training queries alone, a group each with its untrained system."""
    groups, untrained = {}, {}
    for name, system in FITTED_SYSTEMS.items():
        ranks = (system.kind, system.model, system.first_stage, system.depth)
        if system.recipe not in EXPERIMENT.recipes:
            untrained[ranks] = name
            continue
        recipe = EXPERIMENT.recipes[system.recipe]
        alike = json.dumps({key: value for key, value in recipe.items() if key not in SCALED}, sort_keys=True)
        groups.setdefault((ranks, alike), {})[name] = recipe
    return [
        {
            "name": f"{ranks[1]} trained on {next(iter(members.values()))['train_on']}, from {next(iter(members))}",
            "systems": {name: recipe["queries"] for name, recipe in members.items()},
            "train_on": next(iter(members.values()))["train_on"],
            "untrained": untrained.get(ranks),
        }
        for (ranks, _), members in groups.items()
        if len({recipe["queries"] for recipe in members.values()}) > 1
    ]


def sizes_metrics():
    """The metrics of the systems in `sizes`."""
    names = {name for group in sizes() for name in [*group["systems"], group["untrained"]] if name}
    systems = [EXPERIMENT.systems[name] for name in sorted(names)]
    return [path for one in systems for task in EXPERIMENT.runs_of(one) for path in metrics_of(one.name, task)]


@cache
def graph():
    """The graph of the rules behind the results."""
    return rule_graph(workflow.rules, rules.all.input.shown)


@cache
def gone():
    """The files that jobs behind the results had written and that were deleted since, of the kinds in every archive.

    (Checkpoints, embeddings, indices and texts may be deleted to save space.)
    """
    if not (LEDGER / RESULTS).is_dir():
        return []
    missing = [path for path in deleted_outputs(graph()) if kind_of(path, EXPERIMENT.name) not in HEAVY]
    if missing:
        told = f"{len(missing)} deleted files are made again, with all that depends on them, such as {missing[0]}"
        print(f"{told} (that one alone: snakemake {missing[0]} --configfile {CONFIG_NAME})", file=sys.stderr)
    return missing


def deleted(wildcards):
    """What is made again, though what was made of it is there."""
    return gone()


def report_settings(wildcards):
    seeds = {name: list(system.seeds) for name, system in FITTED_SYSTEMS.items() if system.recipe in EXPERIMENT.recipes}
    controls = {COST_FIGURE + n: EXPERIMENT.comparisons[members[0]].control for n, members in COST_FIGURES.items()}
    shown = {"sizes": sizes(), "cost_controls": controls, "seeds": {"data": EXPERIMENT.seed, "training": seeds}}
    return settings(**summary_values(), **graph().drawn(rule.name for rule in workflow.rules), **shown)


rule report:
    input:
        **code("reports/report.py"),
        template=repository("scripts/reports/page/report.html.j2"),
        style=repository("scripts/reports/page/report.css"),
        page_script=repository("scripts/reports/page/report.js"),
        datasets=results("tables/datasets.tsv"),
        means=results("tables/means.tsv"),
        comparisons=results("tables/comparisons.tsv"),
        costs=results("tables/costs.tsv"),
        effects=EFFECTS,
        meta=META,
        figures=expand(results("figures/{name}.svg"), name=FIGURES),
        training_logs=training_logs(),
        timing=timing_files(),
        metrics=sizes_metrics(),
        published=results("published-versus-ours.tsv") if EXPERIMENT.published else [],
        selected=results("tables/selected-seeds.tsv") if SELECTIONS else [],
    output:
        page=shown(results("report.html"), "page", "Report", page="report"),
    log:
        results("logs/report.log"),
    params:
        settings=report_settings,
    conda:
        "../envs/report.yaml"
    message:
        "report"
    shell:
        "python {input.script:q} --datasets {input.datasets:q} --means {input.means:q} --comparisons {input.comparisons:q}"
        " --costs {input.costs:q}"
        " --effects {input.effects:q} --meta {input.meta:q} --figures {input.figures:q} --timing {input.timing:q}"
        " --training-log {input.training_logs:q} --metrics {input.metrics:q} --published {input.published:q}"
        " --selected {input.selected:q} --page {output.page:q} --settings {params.settings:q} --log {log:q}"
