"""All paths under results/: builds and parses them and returns the kind of each file. Reads and writes nothing.

There is one table, so that rules, scripts and archives cannot disagree. It needs only the standard library, because an
archive is verified by the code that it contains, where nothing else may be installed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ranktrial.common.errors import UserError

# Kinds of files, in the order in which an archive lists them.
KINDS = (
    "timing", "training", "checkpoint", "embedding", "index", "text", "qrels", "data", "run", "origin of a run",
    "metric", "effect", "meta-analysis", "figure", "table", "report", "log", "benchmark",
)  # fmt: skip
DOWNLOAD = "download"
NOT_ARCHIVED = "result"  # files under results/ that no archive contains
HEAVY = ("checkpoint", "embedding", "index", "text", DOWNLOAD)  # left out of a lean archive

NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"  # of experiments, tasks, systems …: `Name` in ranktrial/common/keys.py
RESERVED = ("downloads", "state")  # folders under results/ that do not belong to an experiment
SELECTED = "selected"  # replaces the seed in the names of runs
SPLITS = ("train", "dev", "test")
FIGURE_FORMATS = ("svg", "pdf", "png")
CAPTION_FORMATS = ("txt", "tex")
TABLE_FORMATS = ("tsv", "md", "tex")
EXPORTED_FORM = "onnx-(?:fp32|int8)"  # backend and precision, after recipe and "+", which no name has
# The patterns of fields that are not names like those of systems.
FIELDS = {
    "experiment": rf"(?!(?:{'|'.join(RESERVED)})/){NAME}",
    "split": "|".join(SPLITS),
    "texts": rf"corpus|queries/(?:{'|'.join(SPLITS)})",
    "length": "[0-9]+",
    "passages": "(?:/passages-[0-9]+)?",  # empty for whole texts
    "part": r"(?:\.shards/[0-9]+-of-[0-9]+)?",  # empty if one job made the whole
    "form": "[a-z]+(?:-[a-z]+)*",  # of an index (ranktrial/inference/indices)
    # [a-z][a-z]: a language
    "how": r"(?:-(?:english|standard|[a-z][a-z])-(?:together|best)(?:-vectors)?(?:-appended)?)?",
    "made": "u?binary|(?=[a-z_]*[A-Z0-9])[A-Za-z0-9_]+",  # the name of a derived index, unlike that of a form
    "recipe": rf"{NAME}(?:\+{EXPORTED_FORM})?",
    "seed": rf"[0-9]+|selected(?:-{NAME})?",
    "figure": f"{NAME}(?:/{NAME})*",
    "figure_format": "|".join(FIGURE_FORMATS),
    "caption_format": "|".join(CAPTION_FORMATS),
    "table_format": "|".join(TABLE_FORMATS),
    "scored": "negatives|teachers",
    "ranked": rf"runs/{NAME}|(?:negatives|teachers)/{NAME}/[^/]+",  # a task, or pairs that are scored for trainings
    "page_format": "tsv|md|html",
    "answers_format": "md|tsv",
    "ties": "(?:-ties-ascending)?",
    "choices": "selected-seeds|chosen-recipes",
    "work": "inference|fine-tuning",
    "extent": "crate|full",
    "examples": r"[^/]+",
    "pairs": r"[^/]+",
    "analyzer": "english|standard|[a-z][a-z]",
    "download": r"[^/]+",
    "job": ".+",
    "rest": ".+",
}


@dataclass(frozen=True)
class Place:
    """The place of files of one kind: `pattern` has fields in braces; a folder includes all files in it."""

    kind: str
    pattern: str
    is_folder: bool = False


def _of_experiment(kind: str, pattern: str, is_folder: bool = False) -> Place:
    return Place(kind, f"results/{{experiment}}/{pattern}", is_folder)


# The first pattern that fits a path applies, so patterns with a special suffix precede the folder next to them.
PLACES = {
    "download": Place(DOWNLOAD, "results/downloads/{download}", is_folder=True),
    "state": Place(NOT_ARCHIVED, "results/state/{rest}"),
    "kept_queries": _of_experiment(NOT_ARCHIVED, "data/{dataset}.resume", is_folder=True),
    "generation": _of_experiment("data", "data/{dataset}/generation.json"),
    "corpus": _of_experiment("text", "data/{dataset}/corpus.jsonl"),
    "appended": _of_experiment("text", "bm25/{dataset}/appended.jsonl"),
    "queries": _of_experiment("text", "data/{dataset}/queries/{split}.jsonl"),
    "texts": _of_experiment("text", "data/{dataset}/{texts}.jsonl"),
    "qrels": _of_experiment("qrels", "data/{dataset}/qrels/{split}.qrels"),
    "statistics": _of_experiment("data", "data/{dataset}/statistics.json"),
    "word_pieces": _of_experiment("data", "data/{dataset}/word-pieces.json"),
    "judge_answers": _of_experiment("data", "judges/{dataset}/answers.jsonl.gz"),
    "judge_timing": _of_experiment("timing", "judges/{dataset}/timing.json"),
    "kept_judgements": _of_experiment(NOT_ARCHIVED, "judges/{dataset}/answers.jsonl.gz.resume", is_folder=True),
    "passages": _of_experiment("text", "passages/{dataset}/{length}/{texts}.jsonl"),
    "split_run": _of_experiment("run", "bm25/{dataset}/{split}.trec.gz"),
    "split_run_timing": _of_experiment("timing", "bm25/{dataset}/{split}.timing.json"),
    "elasticsearch_index": _of_experiment("data", "bm25/{dataset}/{system}.elasticsearch.json"),
    "parameters": _of_experiment("data", "bm25/{dataset}/{system}.parameters.json"),
    "grid": _of_experiment("data", "bm25/{dataset}/{system}.grid.tsv"),
    "index": _of_experiment("index", "bm25/{dataset}/index{how}", is_folder=True),
    "term_counts": _of_experiment("index", "bm25/{dataset}/term-counts{how}", is_folder=True),
    "query_terms": _of_experiment("data", "bm25/{dataset}/query-terms/{split}.{analyzer}.json"),
    "features": _of_experiment("data", "features/{task}/{features}.parquet"),
    "features_timing": _of_experiment("timing", "features/{task}/{features}.timing.json"),
    "structures": _of_experiment("text", "features/{task}/{features}.structures.jsonl"),
    "letor": _of_experiment("data", "features/{task}/{features}.letor.txt"),
    "fusion_weights": _of_experiment("data", "fusion/{dataset}/{system}/seed-{seed}.weights.json"),
    "fusion_grid": _of_experiment("data", "fusion/{dataset}/{system}/seed-{seed}.grid.tsv"),
    "ranker": _of_experiment("training", "rankers/{source}/{system}/seed-{seed}.model"),
    "ranker_timing": _of_experiment("timing", "rankers/{source}/{system}/seed-{seed}.timing.json"),
    "ranker_record": _of_experiment("training", "rankers/{source}/{system}/seed-{seed}.json"),
    "refitted_ranker": _of_experiment("training", "rankers/{source}/{system}/refitted/seed-{seed}.model"),
    "refitted_ranker_timing": _of_experiment("timing", "rankers/{source}/{system}/refitted/seed-{seed}.timing.json"),
    "refitted_ranker_record": _of_experiment("training", "rankers/{source}/{system}/refitted/seed-{seed}.json"),
    "ranker_grid": _of_experiment("training", "rankers/{source}/{system}/seed-{seed}.grid.tsv"),
    "ranker_importance": _of_experiment("training", "rankers/{source}/{system}/seed-{seed}.importance.tsv"),
    "command_model": _of_experiment("checkpoint", "rankers/{source}/{system}/seed-{seed}", is_folder=True),
    "negatives": _of_experiment("data", "negatives/{dataset}/{examples}.tsv"),
    "mining_record": _of_experiment("training", "negatives/{dataset}/{examples}.mining.json"),
    "pairs": _of_experiment("data", "{scored}/{dataset}/{pairs}.trec.gz"),
    "pair_scores": _of_experiment("run", "{scored}/{dataset}/{pairs}/{system}/seed-{seed}.trec.gz"),
    "pair_scores_timing": _of_experiment("timing", "{scored}/{dataset}/{pairs}/{system}/seed-{seed}.timing.json"),
    "checkpoint_timing": _of_experiment("timing", "models/{model}/{recipe}/seed-{seed}.timing.json"),
    "training_log": _of_experiment("training", "models/{model}/{recipe}/seed-{seed}.log.tsv"),
    "seed_selection": _of_experiment("training", "models/{model}/{recipe}/seed-{seed}.json"),
    "unfinished_training": _of_experiment(NOT_ARCHIVED, "models/{model}/{recipe}/seed-{seed}.resume", is_folder=True),
    "choice": _of_experiment("training", "models/{model}/{recipe}/choice.json"),
    "checkpoint": _of_experiment("checkpoint", "models/{model}/{recipe}/seed-{seed}", is_folder=True),
    "made_index_timing": _of_experiment(
        "timing", "embeddings/{dataset}/{model}/{recipe}/seed-{seed}.{made}.timing.json"
    ),
    "made_index": _of_experiment(
        "embedding", "embeddings/{dataset}/{model}/{recipe}/seed-{seed}.{made}", is_folder=True
    ),
    "kept_embeddings": _of_experiment(
        NOT_ARCHIVED, "embeddings/{dataset}{passages}/{model}/{recipe}/seed-{seed}{part}.{form}.resume", is_folder=True
    ),
    "embeddings_timing": _of_experiment(
        "timing", "embeddings/{dataset}{passages}/{model}/{recipe}/seed-{seed}{part}.{form}.timing.json"
    ),
    "embeddings": _of_experiment(
        "embedding", "embeddings/{dataset}{passages}/{model}/{recipe}/seed-{seed}{part}.{form}", is_folder=True
    ),
    "run": _of_experiment("run", "runs/{task}/{system}/seed-{seed}.trec.gz"),
    "run_timing": _of_experiment("timing", "runs/{task}/{system}/seed-{seed}.timing.json"),
    "ranking": _of_experiment("run", "{ranked}/{system}/seed-{seed}{part}.trec.gz"),  # any run of a model, or a part
    "ranking_timing": _of_experiment("timing", "{ranked}/{system}/seed-{seed}{part}.timing.json"),
    "run_origin": _of_experiment("origin of a run", "runs/{task}/{system}/seed-{seed}.ir_metadata.yaml"),
    "run_answers": _of_experiment("data", "runs/{task}/{system}/seed-{seed}.answers.jsonl.gz"),
    "kept_answers": _of_experiment(NOT_ARCHIVED, "{ranked}/{system}/seed-{seed}{part}.trec.gz.resume", is_folder=True),
    "metrics": _of_experiment("metric", "metrics/{task}/{system}/seed-{seed}.tsv"),
    "ascending_metrics": _of_experiment("metric", "metrics-ties-ascending/{task}/{system}/seed-{seed}.tsv"),
    "scored": _of_experiment("metric", "metrics{ties}/{task}/{system}/seed-{seed}.tsv"),  # either of both
    "effects": _of_experiment("effect", "effects/{comparison}.tsv"),
    "meta": _of_experiment("meta-analysis", "meta/{comparison}.json"),
    "family": _of_experiment("effect", "multiple-comparisons/{family}.json"),
    "moderators": _of_experiment("meta-analysis", "moderators/{comparison}.json"),
    "figure": _of_experiment("figure", "figures/{figure}.{figure_format}"),
    "caption": _of_experiment("figure", "figures/{figure}.{caption_format}"),
    "datasets_table": _of_experiment("table", "tables/datasets.tsv"),
    "means": _of_experiment("table", "tables/means.tsv"),
    "ascending_means": _of_experiment("table", "tables/means-ties-ascending.tsv"),
    "means_page": _of_experiment("table", "tables/means.{page_format}"),
    "costs": _of_experiment("table", "tables/costs.tsv"),
    "choices": _of_experiment("table", "tables/{choices}.tsv"),
    "comparisons": _of_experiment("table", "tables/comparisons.{table_format}"),
    "times": _of_experiment("table", "tables/{work}-times.{table_format}"),
    "effects_table": _of_experiment("table", "tables/effects/{comparison}.{table_format}"),
    "moderators_table": _of_experiment("table", "tables/moderators/{comparison}.{table_format}"),
    "influence_table": _of_experiment("table", "tables/influence/{comparison}.tsv"),
    "all_queries": _of_experiment("table", "tables/queries.tsv.gz"),
    "queries_table": _of_experiment("table", "tables/queries/{comparison}.tsv"),
    "query_differences": _of_experiment("table", "tables/query-differences/{comparison}.tsv"),
    "judge_table": _of_experiment("table", "tables/judges/{dataset}.{page_format}"),
    "extreme_queries": _of_experiment("table", "tables/extreme-queries.tsv"),
    "family_table": _of_experiment("table", "tables/multiple-comparisons/{family}.{table_format}"),
    "study_design": _of_experiment("table", "tables/study-designs/{plan}.json"),
    "study_designs": _of_experiment("table", "tables/study-design.{table_format}"),
    "curves": _of_experiment("effect", "curves/{curve}.json"),
    "answers": _of_experiment("table", "tables/{study}-answers.{answers_format}"),
    "curves_table": _of_experiment("table", "tables/curves-{curve}.tsv"),
    "matrix": _of_experiment("table", "tables/{matrix}.{table_format}"),  # after all other tables
    "table": _of_experiment("table", "tables/{table}.{table_format}"),  # any table
    "references": _of_experiment("table", "references.tsv"),
    "published_table": _of_experiment("table", "published-versus-ours.tsv"),
    "published_page": _of_experiment("report", "published-versus-ours.{page_format}"),
    "configuration": _of_experiment(NOT_ARCHIVED, "config.yaml"),
    "summary": _of_experiment("report", "summary.md"),
    "report": _of_experiment("report", "report.html"),
    "explorer": _of_experiment(NOT_ARCHIVED, "explorer", is_folder=True),  # it contains texts
    "log": _of_experiment("log", "logs/{job}.log"),
    "benchmark": _of_experiment("benchmark", "benchmarks/{job}.tsv"),
    "archive": _of_experiment(NOT_ARCHIVED, "{experiment}.{extent}.zip"),
    "archive_sha256": _of_experiment(NOT_ARCHIVED, "{experiment}.{extent}.zip.sha256"),
    "exported_runs": _of_experiment(NOT_ARCHIVED, "exported-runs", is_folder=True),
    "left_out": _of_experiment(NOT_ARCHIVED, "left-out.json"),
}  # fmt: skip


def path(name: str, **fields: object) -> str:
    """Return the path `name` of the table; a field that is not given remains a wildcard in braces."""
    pattern = PLACES[name].pattern
    for field, value in fields.items():
        if f"{{{field}}}" not in pattern:
            raise ValueError(f"{name!r} has no field {field!r}: {pattern}")
        pattern = pattern.replace(f"{{{field}}}", str(value))
    return pattern


def exported_recipe(recipe: str, backend: str, precision: str) -> str:
    """Return the recipe's replacement in the names of exported checkpoints and of files encoded with them."""
    return f"{recipe}+{backend}-{precision}"


def parse(path: str) -> tuple[str, dict[str, str]]:
    """Return the name and fields of a path, or of a file in a folder. Raises UserError for an unknown path."""
    for name, place in PLACES.items():
        if fitting := re.fullmatch(_expression(place.pattern) + ("(?:/.+)?" if place.is_folder else ""), path):
            return name, fitting.groupdict()
    raise UserError(f"{path}: is on no list of results; expected one of ranktrial/experiment/results_paths.py")


def kind(path: str) -> str:
    """Return the kind of a file. Raises UserError for an unknown path."""
    return PLACES[parse(path)[0]].kind


def may_be_deleted(path: str) -> bool:
    """Return whether a file may be deleted to save space, or is on no list, since a script run by hand wrote it."""
    try:
        return kind(path) in HEAVY
    except UserError:
        return True


def fields_of(name: str, path: object) -> dict[str, str]:
    """Return the fields of a path `name`, in any experiment folder, since scripts can also be run by hand.

    Raises UserError if the path does not fit the pattern.
    """
    pattern = PLACES[name].pattern.removeprefix("results/{experiment}/")
    if fitting := re.fullmatch(f"(?:.*/)?{_expression(pattern)}", str(path)):
        return fitting.groupdict()
    raise UserError(f"{path}: expected a path that ends in {pattern}")


@cache
def _expression(pattern: str) -> str:
    """Return a regular expression with a named group for each field; a repeated field must have the same value."""
    parts, seen = [], set()
    for text, field in re.findall(r"([^{]*)(?:\{(\w+)\})?", pattern):
        parts.append(re.escape(text))
        if field in seen:
            parts.append(f"(?P={field})")
        elif field:
            parts.append(f"(?P<{field}>{FIELDS.get(field, NAME)})")
            seen.add(field)
    return "".join(parts)
