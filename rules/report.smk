"""Report: the experiment as one HTML file to read and to send, and how it was made as a graph of its rules.

In: tables/, effects/, meta/, figures/*.svg, training logs, all timing files, metrics of the systems that differ in their
number of training queries. Out: report.html. (`snakemake --report FILE.zip` makes Snakemake's own report.)
"""

from snakemake.iocontainers import Wildcards

from scripts.archive.crate.layout import HEAVY, kind_of
from scripts.common.ledger import LEDGER, recorded

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
    found = [path for path in missing if kind_of(path, EXPERIMENT.name) not in HEAVY and recorded(Path(path))]
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


def report_settings(wildcards):
    seeds = {name: list(system.seeds) for name, system in FITTED_SYSTEMS.items() if system.recipe in EXPERIMENT.recipes}
    controls = {COST_FIGURE + n: EXPERIMENT.comparisons[members[0]].control for n, members in COST_FIGURES.items()}
    shown = {"sizes": sizes(), "cost_controls": controls, "seeds": {"data": EXPERIMENT.seed, "training": seeds}}
    return settings(**summary_values(), **rule_graph(), **shown)


rule report:
    input:
        **code("reports/report.py", *LOADED),
        template="scripts/reports/page/report.html.j2",
        style="scripts/reports/page/report.css",
        page_script="scripts/reports/page/report.js",
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
        " --selected {input.selected:q} --page {output.page:q} --settings {params.settings:q} 2>&1 | tee {log:q}"
