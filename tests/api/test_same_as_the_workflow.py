"""The library gives what the workflow gives for the same values: numbers, sentences, tables, figures, the page's parts.

The workflow's side is made by its planning and by the functions of its jobs, with the files between them.
"""

import json
import random
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import ranktrial as rt
from ranktrial.api.explorer import Texts, explorer_of
from ranktrial.api.page import Beside, blocks_of
from ranktrial.common.settings import read_record, read_settings
from ranktrial.common.tables import COMPARISONS, EFFECTS, read_table
from ranktrial.experiment import exhibits
from ranktrial.experiment.labels import facts_of
from ranktrial.experiment.resolution import resolve
from ranktrial.experiment.results_paths import path
from ranktrial.ir.trec import read_qrels, read_run
from ranktrial.records.comparison import FamilyRecord, MetaRecord, table_of, without_missing
from ranktrial.reports.contents import data
from ranktrial.reports.figures.page import save
from ranktrial.reports.writing.content import Section
from scripts.evaluation import imports, score
from scripts.evaluation import planning as evaluation
from scripts.evaluation.tables import write_means
from scripts.explorer import planning as explorer
from scripts.explorer.jobs import explorer as write_explorer
from scripts.explorer.jobs import extreme_queries
from scripts.reports import figure, tables
from scripts.reports import planning as planned
from scripts.reports.sections import Report, Settings, answers, comparisons, families
from scripts.synthesis import compare, compare_many
from scripts.synthesis import planning as synthesis
from scripts.synthesis.tables import comparisons_table
from tests.support.calling import call
from tests.support.small_experiment import SYSTEMS, TASKS, write_data

NAMES = ("better-against-base", "third-against-base")


class Workflow:
    """The results of a configuration, below the current folder."""

    def __init__(self, config):
        self.experiment = experiment = resolve(config, "test")
        fields = {"experiment": experiment.name}
        for task in experiment.tasks.values():
            for system in experiment.systems.values():
                for seed in map(str, system.seeds):
                    self._values(task, system.name, seed)
        for name in experiment.comparisons:
            inputs = synthesis.comparison_inputs(experiment, name)
            out = {kind: path(kind, **fields, comparison=name) for kind in ("effects", "meta")}
            call(compare.compare, synthesis.comparison_settings(experiment, name), **inputs, **out)
        self.table = path("comparisons", **fields, table_format="tsv")
        self.of_comparisons = {kind: [path(kind, **fields, comparison=name) for name in experiment.comparisons]
                               for kind in ("effects", "meta")}  # fmt: skip
        settings = synthesis.table_settings(experiment)
        call(comparisons_table, settings, meta=self.of_comparisons["meta"], table=self.table)
        for name in experiment.families:
            out = {"table": path("family_table", **fields, family=name, table_format="tsv"),
                   "record": path("family", **fields, family=name)}  # fmt: skip
            call(compare_many.compare_many, synthesis.family_settings(experiment, name),
                 metrics=synthesis.family_metrics(experiment, name), **out)  # fmt: skip
        self.means = path("means", **fields)
        call(write_means, None, metrics=evaluation.all_metrics(experiment), table=self.means)

    def _values(self, task, system, seed):
        experiment, where = self.experiment, {"system": system, "task": task.folder, "seed": seed}
        metrics = path("metrics", experiment=experiment.name, **where)
        source = evaluation.external_files(experiment, **where)
        if task.values_given:
            settings = evaluation.import_scores_settings(experiment, **where)
            return call(imports.import_scores, settings, source=source, metrics=metrics)
        run, qrels = path("run", experiment=experiment.name, **where), f"data/{task.name}.qrels"
        settings = evaluation.import_run_settings(experiment, system)
        call(
            imports.import_run,
            settings,
            source=source,
            others=[],
            qrels=qrels,
            corpus=[],
            queries=[],
            run=run,
        )
        settings = evaluation.score_settings(experiment, system, "")
        return call(score.score, settings, run=run, qrels=qrels, original=[], metrics=metrics)

    def effects(self, name):
        return read_table(Path(path("effects", experiment=self.experiment.name, comparison=name)), *EFFECTS)

    def meta(self, name):
        return read_record(MetaRecord, Path(path("meta", experiment=self.experiment.name, comparison=name)))

    def svg(self, name):
        """The bytes of a forest plot."""
        exhibit = exhibits.exhibit(self.experiment, name)
        files = {kind: f"drawn.{kind}" for kind in ("svg", "pdf", "png")}
        call(figure.drawn("forest"), exhibit.settings, **exhibit.inputs, **files)
        return Path("drawn.svg").read_bytes()

    def printed(self, name):
        """The tables of a comparison, by their ending."""
        every = {suffix: path("effects_table", experiment=self.experiment.name, comparison=name, table_format=suffix)
                 for suffix in ("tsv", "md", "tex")}  # fmt: skip
        facts = facts_of(self.experiment, self.experiment.comparisons.values())
        settings = {"facts": facts, "looks": planned.table_settings(self.experiment)}
        others = [path("effects_table", experiment=self.experiment.name, comparison=other, table_format=suffix)
                  for other in self.experiment.comparisons for suffix in ("tsv", "md", "tex")]  # fmt: skip
        call(tables.write_tables, settings, **self.of_comparisons, comparisons=self.table,
             effects_tables=others, comparisons_tables=[])  # fmt: skip
        return {suffix: Path(file).read_text(encoding="utf-8") for suffix, file in every.items()}

    def report(self):
        """The report, as its sections see it."""
        experiment = self.experiment
        own = {section.NAME: section.settings(experiment) for section in (comparisons,)}
        said = {"experiment": experiment.name, "facts": facts_of(experiment, experiment.comparisons.values()) | {"measures": ["accuracy"]},
                "sections": own, "exhibits": [], "jobs": {}, "feeds": []}  # fmt: skip
        inputs = answers.inputs(experiment) | families.inputs(experiment)
        files = {name: [Path(file) for file in given] for name, given in inputs.items()}
        call(extreme_queries, explorer.explorer_settings(experiment), metrics=explorer.metrics(experiment),
             statistics=[], table=files["extremes"][0])  # fmt: skip
        return Report(read_settings(Settings, said), files)

    def explorer(self):
        """The folder of the explorer's data."""
        experiment, folder = self.experiment, path("explorer", experiment=self.experiment.name)
        call(write_explorer, explorer.explorer_settings(experiment), metrics=explorer.metrics(experiment),
             runs=explorer.runs(experiment), folder=folder)  # fmt: skip
        return Path(folder) / "data"


def values(rng, systems, tasks, queries, seeds=1):
    """Rows of a long table: four decimals, some queries in one system only."""
    rows = []
    for task in range(tasks):
        for query in range(queries + task):
            level = rng.random()
            for place, system in enumerate(systems):
                for seed in range(seeds if system == "better" else 1):
                    value = min(1.0, max(0.0, level + 0.05 * place + rng.gauss(0, 0.2)))
                    if not (system == "third" and query == 3):
                        rows.append((f"t{task}", f"q{task}-{query}", system, seed, round(value, 4)))
    return pd.DataFrame(rows, columns=["task", "query", "system", "seed", "value"])


def config_of(frame, comparisons, **more):
    """The table as files of scores, and the configuration of a workflow that compares them."""
    systems = {}
    for (task, system), rows in frame.groupby(["task", "system"], sort=False):
        files = []
        for seed, of_seed in rows.groupby("seed"):
            files.append(f"data/{task}.{system}.{seed}.tsv")
            of_seed[["query", "value"]].to_csv(files[-1], sep="\t", index=False, header=False)
        entry = systems.setdefault(system, {"type": "external", "scores": {}})
        entry["scores"][task] = files if len(files) > 1 else files[0]
    tasks = list(dict.fromkeys(frame["task"]))
    datasets = {task: {"format": "scores", "measure": "accuracy"} for task in tasks}
    return {
        "experiment": "own",
        "datasets": datasets,
        "systems": systems,
        "tasks": tasks,
        "comparisons": comparisons,
        **more,
    }


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def assert_same_numbers(workflow, found, names):
    for name in names:
        ours, theirs = found.comparisons[name], workflow.meta(name)
        pd.testing.assert_frame_equal(table_of(ours.effects), without_missing(workflow.effects(name)), check_exact=True)
        assert ours.meta == theirs
    every = read_table(Path(workflow.table), *COMPARISONS)
    pd.testing.assert_frame_equal(
        without_missing(found.summary).drop(columns="family"),
        without_missing(every).drop(columns="family"),
        check_exact=True,
    )


@pytest.mark.parametrize("options", [{}, {"effect": "SMD"}, {"margin": 0.05, "ddof": 0, "estimator": "DL",
                                     "interval": "knapp-hartung", "task_interval": "normal", "bayesian": {}}])  # fmt: skip
def test_two_systems_on_several_tasks(folder, options):
    frame = values(random.Random(1), ("base", "better"), tasks=5, queries=30, seeds=3)
    how = {"permutations": 300, **options}
    comparison = {"control": "base", "treatment": "better", "measure": "accuracy", **how}
    workflow = Workflow(config_of(frame, {NAMES[0]: comparison}))
    found = rt.compare(frame, measure="accuracy", **how)
    assert_same_numbers(workflow, found, NAMES[:1])
    printed = workflow.printed(NAMES[0])
    assert found.table("t.md") == printed["md"] and found.table("t.tex") == printed["tex"]
    assert found.sentence() in printed["md"] and "On these five tasks, " in found.sentence()
    found.forest_plot("ours.svg")
    assert Path("ours.svg").read_bytes() == workflow.svg(NAMES[0])


def test_one_task_and_a_lower_value_is_better(folder):
    frame = values(random.Random(2), ("base", "better"), tasks=1, queries=40)
    comparison = {"control": "base", "treatment": "better", "measure": "accuracy", "permutations": 300}
    workflow = Workflow(config_of(frame, {NAMES[0]: comparison}, lower_is_better=["accuracy"]))
    found = rt.compare(frame, measure="accuracy", lower_is_better=True, permutations=300)
    assert_same_numbers(workflow, found, NAMES[:1])
    found.forest_plot("ours.svg")
    assert Path("ours.svg").read_bytes() == workflow.svg(NAMES[0])


def test_many_systems_against_a_control_and_the_page(folder):
    frame = values(random.Random(3), SYSTEMS, tasks=4, queries=25)
    own = {"control": "base", "measure": "accuracy", "permutations": 300, "figure": {"together": "all"}}
    entries = {name: {**own, "treatment": name.split("-")[0]} for name in NAMES}
    many = {"all": {"systems": list(SYSTEMS), "against": "base", "measure": "accuracy"}}
    workflow = Workflow(config_of(frame, entries, multiple_comparisons=many))
    found = rt.compare(frame, control="base", measure="accuracy", permutations=300)
    assert_same_numbers(workflow, found, NAMES)
    record = read_record(FamilyRecord, Path(path("family", experiment="own", family="all")))
    assert found.family.record == record and record.against == "base"
    report = workflow.report()
    beside = Beside([data.ALL_QUERIES], extremes=comparisons.figures(report).extremes)
    ours = explorer_of(found, "", "", Texts()).extremes
    assert len(ours) == 20 * len(NAMES)
    assert_frame_equal(without_missing(ours), without_missing(beside.extremes), check_dtype=False)
    blocks, beginning = blocks_of(found, beside), answers.blocks(report)
    assert len(beginning) == 4 and blocks[: len(beginning)] == beginning
    sections = {block.anchor: block for block in blocks if isinstance(block, Section)}
    assert [sections["comparisons"]] == comparisons.blocks(report)
    assert [sections["families"]] == families.blocks(report)
    found.forest_plot("ours.svg")
    assert Path("ours.svg").read_bytes() == workflow.svg("all")


def same_bytes(first, second):
    return Path(first).read_bytes() == Path(second).read_bytes()


def in_clusters(file):
    """Judgements or a run whose documents are those of four queries each, so that these are a cluster."""
    rows = [line.split() for line in file.read_text().splitlines()]
    for row in rows:
        row[2] = f"{int(row[0][1:]) // 4}-{row[2]}"
    file.write_text("".join(" ".join(row) + "\n" for row in rows))


def test_runs_with_judgements_and_their_unjudged_documents(folder, monkeypatch):
    write_data(folder)
    for file in [*folder.glob("data/*.qrels"), *folder.glob("data/*.run")]:
        in_clusters(file)
    systems = {name: {"type": "external", "runs": {task: f"data/{task}.{name}.run" for task in TASKS}}
               for name in SYSTEMS[:2]}  # fmt: skip
    config = {
        "experiment": "runs",
        "measures": ["nDCG@10"],
        "datasets": {task: {"format": "qrels", "location": f"data/{task}.qrels"} for task in TASKS},
        "systems": systems,
        "tasks": list(TASKS),
        "comparisons": {NAMES[0]: {"control": "base", "treatment": "better", "permutations": 300}},
    }
    monkeypatch.setattr("ranktrial.experiment.job_files.qrels", lambda experiment, task: f"data/{task.name}.qrels")
    workflow = Workflow(config)
    qrels = {task: read_qrels(folder / f"data/{task}.qrels") for task in TASKS}
    runs = {name: {task: read_run(folder / f"data/{task}.{name}.run") for task in TASKS} for name in SYSTEMS[:2]}
    found = rt.compare(runs, qrels=qrels, permutations=300)
    assert_same_numbers(workflow, found, NAMES[:1])
    meta = found.comparisons[NAMES[0]].meta
    assert meta.unjudged is not None and set(meta.clusters) == set(TASKS)
    by_file = {name: {task: f"data/{task}.{name}.run" for task in TASKS} for name in SYSTEMS[:2]}
    same = rt.compare(by_file, qrels={task: f"data/{task}.qrels" for task in TASKS}, permutations=300)
    assert json.dumps(same.numbers()) == json.dumps(found.numbers())
    frame = rt.evaluate(qrels, runs, ["nDCG@10", "RR@10"])
    theirs = workflow.explorer()
    found.report("own.html")
    for number, task in enumerate(TASKS, 1):
        files = sorted(file.name for file in (theirs / task).iterdir())
        assert {"queries.js", "rankings-0.js", "documents-0.js"} <= set(files)
        assert all(same_bytes(theirs / task / name, f"own-explorer/data/task-{number}/{name}") for name in files)
    without_runs = rt.compare(frame, qrels=qrels, measure="nDCG@10", permutations=300).comparisons[NAMES[0]].meta
    lost = [warning for warning in meta.warnings if warning not in without_runs.warnings]
    assert replace(meta, unjudged=None, warnings=[]) == replace(without_runs, warnings=[]) and not lost


def test_a_figure_of_the_report_is_saved_as_bytes_that_do_not_change(folder):
    frame = values(random.Random(4), ("base", "better"), tasks=2, queries=20)
    drawn = rt.compare(frame, permutations=100).forest_plot()
    save(drawn, folder / "one.pdf")
    save(rt.compare(frame, permutations=100).forest_plot(), folder / "two.pdf")
    assert (folder / "one.pdf").read_bytes() == (folder / "two.pdf").read_bytes()
