"""The configuration: its sections, and the keys of the whole experiment, of the explorer and of all types of systems.

Plug-ins declare further keys of some sections; `schema.records` returns the records of entries that include them. Kinds
of figures declare sections of their own, which `schema.whole` includes. The
types of systems are modules of ranktrial/experiment/systems/. Reads and writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from ranktrial.common.keys import NO_KEY, Depth, FilePath, Label, Name, Names, Needs, Not, Rule, Seed, Size, TaskName
from ranktrial.configuration.sections.comparison import (
    ComparisonEntry,
    CurvesEntry,
    MatrixEntry,
    MultipleComparison,
    Study,
)
from ranktrial.configuration.sections.dataset import Dataset
from ranktrial.configuration.sections.features import FeatureEntry
from ranktrial.configuration.sections.recipe import Recipe
from ranktrial.models.kernels import Kernels
from ranktrial.models.model_keys import Model


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """The keys of every system type."""

    label: Annotated[Label | None, "name in figures and tables"] = None
    type: Annotated[str, NO_KEY] = ""  # the NAME of its module


@dataclass(frozen=True, kw_only=True)
class Made(Labelled):
    """The keys of the types whose runs the workflow makes."""

    tasks: Annotated[Literal["all"] | Names | None, "the tasks that the system ranks"] = None


@dataclass(frozen=True, kw_only=True)
class SelectSeed:
    """The task and score by which one seed is selected."""

    task: Annotated[
        TaskName | None,
        "the task that decides: dataset/dev; or dataset, its test split, to reproduce work that selected on the "
        "test split",
    ] = None
    score: Annotated[
        dict[str, Size] | None,
        Not("select_seed.by", "the score is that of the other system"),
        "weights of measures, divided by their sum; default {R@1: 3, R@3: 2, R@5: 1}; the smallest seed wins a tie",
        Rule(min_properties=1),
    ] = None
    by: Annotated[
        str | None, "instead of task: a system with the same model, recipe and seeds, whose selected seed is used"
    ] = None


@dataclass(frozen=True, kw_only=True)
class Explorer:
    """The page that shows single queries and their rankings."""

    texts: Annotated[
        bool,
        "show texts, including those of queries in the report; false: only ids, if a licence forbids "
        "redistributing the texts",
    ] = True
    depth: Annotated[Depth, "documents shown per ranking; fewer if `megabytes` is too small"] = 100
    megabytes: Annotated[
        int,
        "maximum size of the page and its data in megabytes; the page states what it leaves out",
        Rule(minimum=1, maximum=10_000),
    ] = 200


@dataclass(frozen=True, kw_only=True)
class Actor:
    """The person or group that runs an experiment."""

    name: Annotated[Label, "name of a person or group"]
    orcid: Annotated[
        str | None,
        "ORCID of the person",
        Rule(title="an ORCID such as 0000-0002-1825-0097", pattern="^[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X]$"),
    ] = None
    team: Annotated[Label | None, "name of the team in an evaluation campaign"] = None
    mail: Annotated[Label | None, "e-mail address for correspondence"] = None
    role: Annotated[
        Literal["experimenter", "reproducer"] | None,
        "experimenter: the experiment itself; reproducer: a repetition of it",
    ] = None


@dataclass(frozen=True, kw_only=True)
class Published:
    """The published numbers of a paper."""

    file: Annotated[
        FilePath,
        "a TSV file with one printed number per row and the place of the corresponding result here, see "
        "docs/archive.md",
    ]
    mapping: Annotated[
        FilePath | None,
        "a YAML file that maps the paper's names to the names here; the TSV file then has one row per printed cell",
    ] = None
    part: Annotated[
        bool,
        "report systems and tasks of the mapping that this experiment lacks as not run, not as an error",
        Needs("published.mapping"),
    ] = False
    beside: Annotated[
        dict[str, str],
        "maps a comparison to another one whose numbers are shown as well, such as one with other settings",
        Not("published.mapping", "its cells are means, not comparisons"),
    ] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Unchanged:
    """The keys that a resolved experiment takes as they are."""

    experiment: Annotated[Name, "name of the experiment and of its folder below results/"]
    measures: Annotated[Names, "measures by their ir-measures names, each computed for every query"] = (
        "nDCG@10",
        "RR@10",
        "AP@5",
        "R@100",
        "Judged@10",
    )
    lower_is_better: Annotated[
        tuple[str, ...],
        "the measures for which a lower value is better, such as a rank or an error; sentences, figure axes, "
        "letters and one-sided tests follow",
        Rule(unique_items=True),
    ] = ()
    depth: Annotated[Depth, "documents kept per query"] = 1000
    seed: Annotated[Seed, "random seed of data preparation (splits, samples, random negatives) and of permutations"] = (
        42
    )
    shards: Annotated[
        int,
        "number of jobs into which the encoding of each corpus, each search and the scoring of pairs are split, to "
        "use as many GPUs or nodes at once; vectors and runs do not change",
        Rule(minimum=1, maximum=10_000),
    ] = 1
    device: Annotated[
        Literal["auto", "cpu"],
        "where torch models run; auto: on the GPU that the job is given (a job whose GPU torch cannot use stops); "
        "cpu: on the CPU even if there are GPUs, and none is requested from Slurm",
    ] = "auto"
    kernels: Kernels = "fast"
    report_to: Annotated[
        Literal["tensorboard", "wandb", "mlflow"] | None,
        "a program that also logs trainings, as in transformers, while they run; another one trains nothing again",
    ] = None
    timing: Annotated[
        Literal["shared", "exclusive"],
        "whether searches and rankings, which are timed, run at the same time as other jobs; exclusive: one at a "
        "time while no other job of the experiment runs, and under Slurm on a node of their own",
    ] = "shared"
    mirrors: Annotated[
        tuple[FilePath, ...],
        "folders that are searched for a file of the same name and SHA-256 before anything is downloaded, and for "
        "external files; then those of the environment variable RANKTRIAL_MIRRORS",
    ] = ()
    datasets: Annotated[dict[Name, Dataset], "data: documents, queries and judgements", Rule(min_properties=1)]
    models: Annotated[dict[Name, Model], "pretrained weights, and how texts are passed to them"] = field(
        default_factory=dict
    )
    recipes: Annotated[dict[Name, Recipe], "how models are fine-tuned, and on which data"] = field(default_factory=dict)
    word_pieces: Annotated[
        Name | None,
        "the model whose tokenizer counts the word pieces of documents and queries for the table of datasets",
    ] = None
    font: Annotated[
        Label | None,
        "font of all figures: the name of an installed font, such as Times New Roman; default DejaVu Sans, which "
        "matplotlib includes",
    ] = None
    actor: Annotated[
        Actor | None, "who runs the experiment, for the archive (CITATION.cff, RO-Crate) and the runs' ir_metadata"
    ] = None
    published: Annotated[Published | None, "published numbers that are shown beside those of this experiment"] = None
    references: Annotated[
        Literal["anserini"] | None,
        "reference scores that are shown beside those of this experiment; anserini: the expected scores and index "
        "sizes that come with Pyserini, for the collections that it covers; no network is needed",
        Not("published.mapping", "its page has cells of one paper"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Configuration(Unchanged):
    """The whole configuration, after fan-out."""

    tasks: Annotated[
        tuple[TaskName, ...],
        "what systems are scored on: a dataset (its test split) or dataset/split",
        Rule(min_items=1, unique_items=True),
    ]
    systems: Annotated[dict[Name, Labelled], "everything that ranks documents", Rule(min_properties=1)]
    comparisons: Annotated[dict[Name, ComparisonEntry], "pairs of systems compared over tasks"] = field(
        default_factory=dict
    )
    multiple_comparisons: Annotated[
        dict[Name, MultipleComparison],
        "multiple comparisons: all pairs of systems or all against one control, with a familywise error rate",
    ] = field(default_factory=dict)
    features: Annotated[
        dict[Name, FeatureEntry],
        "files with features of queries and their candidates, for learning to rank; `features/{task}/{name}.parquet`",
    ] = field(default_factory=dict)
    matrices: Annotated[
        dict[Name, MatrixEntry],
        "tables of sources by targets: zero-shot, full-shot, the baseline and pseudo-labels, with marks for "
        "significant differences",
    ] = field(default_factory=dict)
    curves: Annotated[
        dict[Name, CurvesEntry],
        "figures of a measure over the number of training queries, one curve per starting point",
    ] = field(default_factory=dict)
    explorer: Annotated[Explorer, "the page of single queries and their rankings, `explorer/index.html`"] = field(
        default_factory=Explorer
    )
    plan_study: Annotated[
        Study | None,
        "planning of the next study: the effect that can be detected with given numbers of queries, collections "
        "and seeds (`snakemake plan_study`)",
    ] = None
