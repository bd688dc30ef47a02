"""A configuration: its sections, and the keys of the whole experiment; reads and writes nothing.

Kinds of a package declare further keys of some sections: `records` has the records of entries with these.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from scripts.common.keys import LEFT_OUT, Depth, FilePath, Label, Name, Names, Rule, Seed, TaskName
from scripts.experiment.sections.charts import ChartEntry, CurvesEntry, MatrixEntry
from scripts.experiment.sections.comparison import ComparisonEntry, MultipleComparison
from scripts.experiment.sections.dataset import Dataset
from scripts.experiment.sections.explorer import Explorer
from scripts.experiment.sections.features import FeatureEntry
from scripts.experiment.sections.recipe import Recipe
from scripts.experiment.sections.study import Study
from scripts.experiment.sections.system import Labelled
from scripts.models.kernels import Kernels
from scripts.models.model_keys import Model


@dataclass(frozen=True, kw_only=True)
class Actor:
    """Who runs an experiment."""

    name: Annotated[Label, "a person's or a group's"]
    orcid: Annotated[
        str | None,
        "of a person",
        Rule(title="an ORCID such as 0000-0002-1825-0097", pattern="^[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X]$"),
        LEFT_OUT,
    ] = None
    team: Annotated[Label | None, "as named in an evaluation campaign", LEFT_OUT] = None
    mail: Annotated[Label | None, "an address to write to", LEFT_OUT] = None
    role: Annotated[
        Literal["experimenter", "reproducer"] | None,
        "whether this is the experiment itself or a repetition",
        LEFT_OUT,
    ] = None


@dataclass(frozen=True, kw_only=True)
class Published:
    """Numbers of a paper."""

    file: Annotated[FilePath, "a TSV with one printed number per row and where ours stands, see docs/statistics.md"]
    mapping: Annotated[
        FilePath | None,
        "a YAML file that translates the paper's words into names here; the TSV then has one row per printed cell",
        LEFT_OUT,
    ] = None
    part: Annotated[
        bool, "mapping: systems and tasks in it that this experiment lacks are reported as not run, not as a mistake"
    ] = False
    beside: Annotated[
        dict[str, str],
        "comparison: another one whose numbers are shown as well, such as one with other settings",
    ] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """All of a configuration, after fan-out."""

    experiment: Annotated[Name, "names the folder under results/"]
    measures: Annotated[Names, "measures by their ir-measures names, each scored for every query"] = (
        "nDCG@10",
        "RR@10",
        "AP@5",
        "R@100",
        "Judged@10",
    )
    lower_is_better: Annotated[
        tuple[str, ...],
        "the measures of which a lower value is better, such as a rank or an error: sentences, figure axes, letters "
        "and one-sided tests follow",
        Rule(unique_items=True),
    ] = ()
    depth: Annotated[Depth, "documents kept per query"] = 1000
    seed: Annotated[
        Seed,
        "seeds the choices that data preparation makes (splits, samples, random negatives) and permutations",
    ] = 42
    shards: Annotated[
        int,
        "jobs into which the encoding of each corpus, each search and the scoring of pairs are split, for as many GPUs "
        "or nodes at once; vectors and runs are the same",
        Rule(minimum=1, maximum=10_000),
    ] = 1
    device: Annotated[
        Literal["auto", "cpu"],
        "where models of torch run; auto: on the GPU that a job is given, and a job whose GPU torch cannot use stops; "
        "cpu: on processors, also where there are GPUs, and Slurm is asked for none",
    ] = "auto"
    kernels: Kernels = "fast"
    timing: Annotated[
        Literal["shared", "exclusive"],
        "whether searches and rankings, which are timed, run beside other jobs; exclusive: one at a time and beside no "
        "other job of the experiment, under Slurm on a node of its own",
    ] = "shared"
    mirrors: Annotated[
        tuple[FilePath, ...],
        "folders searched (by file name, same SHA-256) before anything is downloaded, and for external files",
    ] = ()
    tasks: Annotated[
        tuple[TaskName, ...],
        "what systems are scored on: a dataset (its test split) or dataset/split",
        Rule(min_items=1, unique_items=True),
    ]
    datasets: Annotated[dict[Name, Dataset], "data: documents, queries and judgements", Rule(min_properties=1)]
    models: Annotated[dict[Name, Model], "weights, and how they read texts"] = field(default_factory=dict)
    recipes: Annotated[dict[Name, Recipe], "how models are fine-tuned, and on what"] = field(default_factory=dict)
    systems: Annotated[dict[Name, Labelled], "whatever ranks documents", Rule(min_properties=1)]
    comparisons: Annotated[dict[Name, ComparisonEntry], "pairs of systems over tasks"] = field(default_factory=dict)
    multiple_comparisons: Annotated[
        dict[Name, MultipleComparison],
        "multiple comparisons: all pairs of systems or all against one control, with a familywise error rate",
    ] = field(default_factory=dict)
    word_pieces: Annotated[
        Name | None,
        "the model whose tokenizer counts the word pieces of documents and queries for the table of datasets",
        LEFT_OUT,
    ] = None
    font: Annotated[
        Label | None,
        "of all figures: the name of an installed font, such as Times New Roman; DejaVu Sans, which comes with "
        "matplotlib, where none is named",
        LEFT_OUT,
    ] = None
    charts: Annotated[dict[Name, ChartEntry], "bar charts of means, the systems of one model beside one another"] = (
        field(default_factory=dict)
    )
    features: Annotated[
        dict[Name, FeatureEntry],
        "files with features of queries and their candidates, for learning to rank; `features/{task}/{name}.parquet`",
    ] = field(default_factory=dict)
    matrices: Annotated[
        dict[Name, MatrixEntry],
        "tables of sources by targets: zero-shot, full-shot, the baseline and pseudo-labels, with marks of what "
        "differs",
    ] = field(default_factory=dict)
    curves: Annotated[
        dict[Name, CurvesEntry],
        "figures of a measure over the number of training queries, one curve per starting point",
    ] = field(default_factory=dict)
    explorer: Annotated[Explorer, "the page of single queries and their rankings, `explorer/index.html`"] = field(
        default_factory=Explorer
    )
    actor: Annotated[
        Actor | None,
        "who runs the experiment, for the archive (CITATION.cff, RO-Crate) and the runs' ir_metadata",
        LEFT_OUT,
    ] = None
    published: Annotated[Published | None, "numbers of a paper to set beside those of this experiment", LEFT_OUT] = None
    references: Annotated[
        Literal["anserini"] | None,
        "reference scores to set beside those of this experiment: anserini takes the expected scores and sizes of "
        "indices that come with Pyserini, of the collections that it knows; no network is needed",
        LEFT_OUT,
    ] = None
    plan_study: Annotated[
        Study | None,
        "planning of the next study: the effect that numbers of queries, collections and seeds can detect (`snakemake "
        "plan_study`)",
        LEFT_OUT,
    ] = None
