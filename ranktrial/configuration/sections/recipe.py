"""Keys of the section `recipes`: training data, labels and negatives of a model; reads and writes nothing.

The keys of the training itself are those of ranktrial/models/training_keys.py, which the training job also reads.
recipe_checks.py checks combinations of a recipe's keys; checks.py checks them against the other sections.

`epochs` may be a mapping {32: 32, 128: 8, all: 1}. A recipe then trains for the epochs of the largest listed number
that is not above its `queries`; below the smallest number, those of the smallest apply, and all queries need the entry
`all`. The recipe keeps only the resulting number, so that equal trainings have equal settings however they were
written. A recipe that trains on a sample also keeps the rule as text, for the report.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Any, Literal

from ranktrial.common.errors import UserError
from ranktrial.common.keys import NO_KEY, NULL, Count, JsonObject, Length, Needs, Not, Rule, TaskName, Written
from ranktrial.models.training_keys import Training


@dataclass(frozen=True)
class RecipeChoice:
    """The choice of the best recipe of the entry `recipe`: that of the system in `members` that is best on `task`.

    Members are compared by the mean of `measure` over their seeds.
    """

    task: str
    dataset: str
    split: str
    measure: str
    recipe: str
    members: tuple[str, ...]


BM25, RANDOM, GENERATED = "bm25", "random", "generated"
UNTRAINED = "untrained"  # the recipe name of a model's own weights
PASSAGE_LENGTH = 150  # characters
BATCH_ORDER = {"proportional": "in proportion to their size", "round_robin": "in turn"}
MARGINS = ("absolute_margin", "relative_margin")
FILTERS = (*MARGINS, "max_score", "min_score")

FILTERED = " or ".join([*(f"negatives.{one}" for one in FILTERS), "positives.found_within"])
SeveralNames = Annotated[tuple[str, ...], Rule(min_items=2, unique_items=True)]
Score = Annotated[float, Rule(minimum=-1_000_000, maximum=1_000_000)]


OF_RANKING = Not("negatives.from: random", "expected from: bm25, to whose ranking it refers, or from: a system")


@dataclass(frozen=True, kw_only=True)
class Negatives:
    """The sources of a recipe's negatives, and their filters."""

    from_: Annotated[
        str | tuple[str, ...],
        Written(Literal["bm25", "random"] | Annotated[str, Rule(title="the name of a system")] | SeveralNames),
        "bm25: the top-ranked documents not judged relevant; random: any document of the corpus; a system of the "
        "configuration: its top-ranked documents. In a list, [bm25, zero-shot] means both in turn (bm25, zero-shot "
        "means two recipes)",
    ] = BM25
    per_query: Annotated[Length, "number of negatives per query and positive"] = 3
    sampling_strategy: Annotated[
        Literal["top", "random"], "top takes the highest-ranked candidates, random samples from them", OF_RANKING
    ] = "top"
    range_min: Annotated[int, "number of top-ranked documents to skip", Rule(minimum=0, maximum=199), OF_RANKING] = 0
    range_max: Annotated[
        Annotated[int, Rule(minimum=1, maximum=200)] | None,
        "bm25, systems: lowest rank of a candidate, relevant documents counted; null: all, for bm25 200",
        NULL,
    ] = None
    absolute_margin: Annotated[
        Annotated[float, Rule(minimum=0, maximum=1_000_000)] | None,
        "a negative must score at least this much below the query's lowest-scored positive; null: no margin",
        OF_RANKING,
        NULL,
    ] = None
    relative_margin: Annotated[
        Annotated[float, Rule(minimum=0, exclusive_maximum=1)] | None,
        "the same margin as a share of the absolute value of the positive's score; null: no margin",
        OF_RANKING,
        NULL,
    ] = None
    max_score: Annotated[Score | None, "maximum score of a negative; null: any", OF_RANKING, NULL] = None
    min_score: Annotated[Score | None, "minimum score of a negative; null: any", OF_RANKING, NULL] = None
    cross_encoder: Annotated[
        str | None,
        "a system with a cross-encoder whose scores of candidates and positives are used for margins and score "
        "limits; null: the scores of the ranking",
        OF_RANKING,
        Needs(FILTERED),
        NULL,
    ] = None
    draw: Annotated[
        Literal["once", "epoch"],
        "once: all epochs use the same examples; epoch: positives and negatives are drawn anew for each epoch",
        Needs("negatives.sampling_strategy: random or negatives.from: random or positives.per_query"),
        Not("long_documents: passages", "each epoch would have another number of them"),
    ] = "once"
    exclude_evaluation: Annotated[bool, "never use a document that is relevant in dev or test as a negative"] = True

    @property
    def sources(self) -> tuple[str, ...]:
        """All sources of the negatives, in their order."""
        return self.from_ if isinstance(self.from_, tuple) else (self.from_,)

    @property
    def systems(self) -> tuple[str, ...]:
        """The sources that are systems of the configuration."""
        return tuple(name for name in self.sources if name not in (BM25, RANDOM))

    @property
    def filters(self) -> dict[str, float]:
        """The filters of the negatives, with their values."""
        return {rule: value for rule in FILTERS if (value := getattr(self, rule)) is not None}

    @property
    def mined(self) -> bool:
        """Whether the negatives come from systems or from several sources, or are filtered."""
        return bool(isinstance(self.from_, tuple) or self.systems or self.filters or self.cross_encoder)


@dataclass(frozen=True, kw_only=True)
class Positives:
    """The relevant documents that are used as positives."""

    per_query: Annotated[
        Literal["all"] | Length, "all: every relevant document; or the number of relevant documents that are drawn"
    ] = "all"
    among_candidates: Annotated[
        bool,
        "use only positives among the documents that BM25 ranks up to range_max; queries without any are counted "
        "and left out",
    ] = False
    found_within: Annotated[
        Count | None,
        "use only positives that rank at most here among the positives and candidates of their query, by the "
        "scores of negatives.cross_encoder; queries without any are counted and left out; null: all",
        Needs("negatives.cross_encoder", "it ranks by its scores"),
        NULL,
    ] = None


@dataclass(frozen=True, kw_only=True)
class StartRule:
    """The training of a recipe on the same dataset, or on each of the others."""

    recipe: Annotated[str, "name of the recipe"]
    dataset: Annotated[
        Literal["same", "others"],
        "same: its training on the same dataset; others: one recipe for each of its trainings on another dataset",
    ]


@dataclass(frozen=True, kw_only=True)
class Choose:
    """The task and measure by which the best recipe is selected."""

    task: Annotated[TaskName | None, "the task for the selection, dataset/split; default the dev split of train_on"] = (
        None
    )
    measure: Annotated[str, "measure whose mean over the queries decides"] = "nDCG@10"


@dataclass(frozen=True, kw_only=True)
class Recipe(Training):
    """One recipe. `epochs_rule` is text for the report; `chosen` is set if the best of several recipes is selected."""

    train_on: Annotated[
        str | tuple[str, ...],
        Written(
            Annotated[str, Rule(title="the name of a dataset")]
            | Annotated[SeveralNames, Rule(title="several names in one training, such as [[a, b]]")]
        ),
        "the dataset with the train split. In a list, [a, b] means both in one training, with each batch from one "
        "of them (a, b means two recipes); numbers of queries and negatives are per dataset",
    ]
    labels: Annotated[
        Literal["human", "bm25", "permuted", "generated"],
        "human: the qrels; bm25: pseudo-labels, BM25's top document counts as relevant; generated: for a dataset "
        "of format generated, the document from which a model wrote the query is relevant; permuted: an "
        "uninformative control in which each training query has the judgements of another, drawn by the "
        "experiment's seed",
    ] = "human"
    bm25: Annotated[
        str | None,
        "the system of type bm25 whose ranking of the training queries supplies BM25's labels, candidates and "
        "negatives, such as one tuned on dev; default: k1 0.9 and b 0.4",
    ] = None
    negatives: Annotated[Negatives, "documents used as negatives"] = Negatives()
    positives: Annotated[Positives, "relevant documents used as positives"] = Positives()
    queries: Annotated[
        Literal["all"] | Count, "number of training queries: all, or the size of a sample drawn by the seed"
    ] = "all"
    samples: Annotated[
        int,
        "number of different samples of training queries: seed s learns from sample (s - 1) mod samples + 1",
        Rule(minimum=1, maximum=1000),
    ] = 1
    sampling: Annotated[
        Literal["nested", "independent"],
        "nested: a smaller sample is part of the larger one with the same sample number; independent: each size "
        "has its own sample",
    ] = "nested"
    folds: Annotated[
        Annotated[int, Rule(minimum=2, maximum=100)] | None,
        "number of folds into which the training queries are divided, for a system of type out-of-fold; null: none",
        Needs("left_out_fold"),
        NULL,
    ] = None
    left_out_fold: Annotated[
        Count | None,
        "the fold, from 1, whose queries are left out of training; a list of all folds makes one recipe per fold",
        Needs("folds"),
        NULL,
    ] = None
    start_from: Annotated[
        str | None,
        Written(str | StartRule | None),
        "another recipe whose checkpoint is trained further; {recipe: R, dataset: same}: the training of R on the "
        "same dataset; dataset: others: one recipe for each training of R on another dataset",
        NULL,
    ] = None
    start_seed: Annotated[
        Literal["same"] | Annotated[int, Rule(minimum=1, maximum=2**32 - 1)],
        "seed of the checkpoint from which each seed starts; same: its own number",
    ] = "same"
    passage_length: Annotated[
        Length, "maximum length in characters of a passage made of whole sentences", Needs("long_documents: passages")
    ] = PASSAGE_LENGTH
    choose: Annotated[
        Choose | None,
        "select the best on dev of the recipes that lists make of this entry: a system that names it ranks the dev "
        "queries with each recipe, and the tasks with the recipe whose mean of measure over its seeds is highest "
        "(the first in a tie); {} means nDCG@10",
    ] = None
    epochs_rule: Annotated[str | None, NO_KEY] = None
    chosen: Annotated[RecipeChoice | None, NO_KEY] = None

    @property
    def datasets(self) -> tuple[str, ...]:
        """The training datasets, in their order."""
        return self.train_on if isinstance(self.train_on, tuple) else (self.train_on,)

    @property
    def of_each_dataset(self) -> list[Recipe]:
        """The recipe restricted to each of its datasets; the examples are made from these."""
        return [replace(self, train_on=dataset) for dataset in self.datasets]

    @property
    def length_of_passages(self) -> int | None:
        """The maximum length of the training passages; None if it trains on whole texts."""
        return self.passage_length if self.long_documents == "passages" else None

    @property
    def is_decided_on_dev(self) -> bool:
        """Whether the dev queries decide which weights the training keeps."""
        return self.load_best_model_at_end or self.early_stopping_patience is not None

    @property
    def needs_bm25(self) -> bool:
        """Whether labels, positives or negatives come from BM25's ranking of the training queries."""
        return BM25 in (self.labels, *self.negatives.sources) or self.positives.among_candidates

    @property
    def ranked_by(self) -> dict[str, str]:
        """The systems of the configuration that rank the training queries, each with the key that names it."""
        of_negatives = dict.fromkeys(self.negatives.systems, "negatives.from")
        return of_negatives | ({self.bm25: "bm25"} if self.bm25 else {})

    @property
    def draws_by_epoch(self) -> bool:
        """Whether positives and negatives are drawn anew for each epoch."""
        return self.negatives.draw == "epoch"

    @property
    def has_independent_samples(self) -> bool:
        """Whether its samples of queries are independent of those of other sizes."""
        return self.queries != "all" and self.sampling == "independent"

    @property
    def datasets_text(self) -> str:
        """The text of its datasets and, if there are several, of the order of their batches."""
        names = self.datasets
        order = f", whose batches come {BATCH_ORDER[self.multi_dataset_batch_sampler]}" if len(names) > 1 else ""
        return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part) + order


RULE = "epochs_rule"  # the key of the rule as text; not a setting of training
ALL = "all"


def with_text_keys(config: JsonObject, source: str) -> JsonObject:
    """Return the configuration with numbers of queries as text, like all other keys.

    Raises UserError if the numbers are not in ascending order. Keys that are text already are not checked, since the
    JSON settings of a job sort them.
    """
    recipes = config.get("recipes")
    if not isinstance(recipes, dict) or not any(_by_size(entry) for entry in recipes.values()):
        return config
    with_text = {}
    for name, entry in recipes.items():
        with_text[name] = entry
        if _by_size(entry):
            where = f"{source}: recipes.{name}.epochs"
            numbers = [size for size in entry["epochs"] if isinstance(size, int)]
            if any(first >= second for first, second in pairwise(numbers)):
                raise UserError(
                    f"{where}: {', '.join(map(str, numbers))} do not rise; write the numbers of queries rising"
                )
            made = {str(size) if type(size) is int else size: value for size, value in entry["epochs"].items()}
            if len(made) < len(entry["epochs"]):
                raise UserError(f"{where}: a number of queries is listed twice, as a number and as text")
            with_text[name] = entry | {"epochs": made}
    return {**config, "recipes": with_text}


def _by_size(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("epochs"), dict)


def settle_epochs(config: dict[str, Any], source: str) -> None:
    """Set the epochs of each recipe of a valid configuration to those of its number of queries. Raises UserError."""
    for name, entry in config.get("recipes", {}).items():
        if isinstance(entry["epochs"], dict):
            by_size = entry["epochs"]
            entry["epochs"] = epochs_of(by_size, entry["queries"], f"{source}: recipes.{name}.epochs")
            if entry["queries"] != ALL:
                entry[RULE] = epochs_text(by_size)
        if entry["queries"] == ALL:  # there is only one sample
            entry |= {"samples": 1, "sampling": "nested"}


def epochs_of(by_size: dict[str, float], queries: int | str, where: str) -> float:
    """Return the epochs for a number of training queries. Raises UserError, with a message that begins with `where`."""
    in_order = _in_order(by_size)
    for (smaller, more), (larger, fewer) in pairwise(in_order):
        if fewer > more:
            problem = f"{where}: rise from {more:g} at {smaller} to {fewer:g} at {larger}"
            raise UserError(f"{problem}; expected no more epochs for more queries")
    if queries == ALL:
        if ALL not in by_size:
            raise UserError(f"{where}: has no entry all, but the recipe learns from all queries; add one")
        return by_size[ALL]
    listed = [(int(size), epochs) for size, epochs in in_order if size != ALL]
    if not listed:
        raise UserError(f"{where}: has no number of queries, but the recipe learns from {queries}; add one")
    fitting = [epochs for size, epochs in listed if size <= int(queries)]
    return fitting[-1] if fitting else listed[0][1]


def epochs_text(by_size: dict[str, float]) -> str:
    """Return the rule as text, such as `32 epochs from 32 queries, 8 from 128, 1 with all`."""
    words: list[str] = []
    for size, epochs in _in_order(by_size):
        unit = "" if words else (" epoch" if epochs == 1 else " epochs")
        queries = " queries" if not words and size != ALL else ""
        words.append(f"{epochs:g}{unit} " + (f"with {ALL}" if size == ALL else f"from {size}{queries}"))
    return ", ".join(words)


def _in_order(by_size: dict[str, float]) -> list[tuple[str, float]]:
    """Return the entries by ascending number, `all` last."""
    return sorted(by_size.items(), key=lambda entry: float("inf") if entry[0] == ALL else int(entry[0]))
