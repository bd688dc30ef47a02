"""What the jobs that encode and rank are given: scripts, paths, settings. See rules/encoding.smk, rules/ranking.smk.

What several jobs make in parts, each a shard, has the part in its path; `part` is empty where one job makes the whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from scripts.common.keys import JsonObject, given
from scripts.common.plugins import source as plugin_file
from scripts.engine.rule_helpers import one_of
from scripts.experiment import job_files
from scripts.experiment.index_records import TOKEN_VECTORS
from scripts.experiment.job_files import task_in
from scripts.experiment.prompts_of_tasks import prompts_on
from scripts.experiment.records import Experiment, System, Task
from scripts.experiment.results_paths import INDEX_PRECISIONS, SELECTED, path
from scripts.experiment.system_kinds import system_kind
from scripts.experiment.systems import listwise
from scripts.experiment.systems._model_settings import of_model
from scripts.models.endpoint_keys import is_served
from scripts.models.model_keys import Model

INDICES, SEARCHES = "scripts.inference.indices", "scripts.inference.searches"
RANKED = ("retrieve", "rerank", "score_all")  # the kinds of systems whose models rank
EVERY = 1_000_000  # more documents than a query's pairs have, and more tokens than a text: all of them count
TEXTS = ("max_query_length", "max_document_length")  # where the model has them


def parts(experiment: Experiment) -> list[str]:
    """What stands in the paths of shards, in their order."""
    return [f".shards/{place}-of-{experiment.shards}" for place in range(experiment.shards)]


def shard_of(part: str) -> dict[str, list[int]]:
    """The setting of a job that makes a part: which one from 0, and of how many."""
    return {"shard": [int(number) for number in re.findall("[0-9]+", part)]} if part else {}


def encoded_parts(experiment: Experiment) -> str:
    """The constraint of the parts in which corpora are encoded: all of them, or the empty one."""
    return "|".join(map(re.escape, parts(experiment))) if experiment.shards > 1 else "(?:)"


def encoded_corpus(experiment: Experiment, dataset: str, passages: str) -> str:
    """The documents that are encoded, or the passages of them: their length ends `passages`."""
    length = int(passages.rpartition("-")[2]) if passages else None
    return job_files.texts(experiment, dataset, "corpus", length)


def index_module(form: str) -> str:
    """The module below scripts/ that writes an index of a form."""
    return plugin_file(INDICES, form).removeprefix("scripts/")


def encoding_settings(experiment: Experiment, dataset: str, model: str, part: str = "") -> JsonObject:
    """How a model encodes a corpus, or a part of it."""
    entry = experiment.models[model]
    always = _of_model(entry, ("type", "max_length", "batch_size"))
    # Of prompts only the documents' own: another prompt of queries encodes no corpus again.
    put = prompts_on(experiment, entry, dataset)
    own = {role: text for role, text in put.items() if role == "document"}
    further = {key: value for key, value in given(entry).items() if key in ("max_document_length", "batch_tokens")}
    return {**always, **further, **({"prompts": own} if own else {}), **experiment.kernels_of_jobs, **shard_of(part)}


def _of_model(entry: Model, keys: Iterable[str]) -> JsonObject:
    """How a model computes; one behind an endpoint without a limit here."""
    elsewhere = {"backend": "endpoint", "max_length": EVERY} if is_served(entry) else {}
    return {key: elsewhere.get(key, getattr(entry, key)) for key in keys}


def making_script(experiment: Experiment, model: str, made: str) -> str:
    """What makes an index of vectors: codes of a precision, faiss's, or codes of a model's token vectors."""
    if job_files.form_of_index(experiment, model) == TOKEN_VECTORS:
        return "inference/build_token_codes.py"
    quantised = made in INDEX_PRECISIONS
    return "inference/quantise_embeddings.py" if quantised else "inference/build_approximate_index.py"


def vectors_coded(experiment: Experiment, model: str, made: str, **fields: str) -> str:
    """The encoded corpus of which an index is made."""
    form = job_files.form_of_index(experiment, model)
    return path("embeddings", experiment=experiment.name, model=model, passages="", part="", form=form, **fields)


def making_settings(made: str) -> JsonObject:
    """How an index is made whose precision, or faiss's name, stands in a path."""
    return {"precision": made} if made in INDEX_PRECISIONS else {"index": job_files.faiss_name(made)}


def ranked_whole(experiment: Experiment) -> str:
    """The constraint of what systems rank, and score for trainings, in one job each."""
    return _ranked(experiment, in_parts=False, behind="/[^/]+$")


def ranked_in_parts(experiment: Experiment) -> str:
    """The same of what several jobs rank, in the paths of their parts."""
    return _ranked(experiment, in_parts=True, behind="/[^/]+/[^/]+$")


def joined(experiment: Experiment) -> str:
    """The same in the paths of what is joined of parts."""
    return _ranked(experiment, in_parts=True, behind="/[^/]+$")


def _ranked(experiment: Experiment, in_parts: bool, behind: str) -> str:
    """What is ranked, where the name of a system that does so and the rest of a path stand behind it."""
    systems = [name for name, system in experiment.systems.items() if system.kind in RANKED]
    ranking = [name for name in systems if job_files.ranked_in_shards(experiment, name) == in_parts]
    scoring = [name for name in systems if job_files.scores_in_shards(experiment, name) == in_parts]
    places = {"runs/[^/]+": ranking, "(?:negatives|teachers)/[^/]+/[^/]+": scoring}
    return "|".join(f"{place}(?=/(?:{one_of(names)}){behind})" for place, names in places.items())


def ranking_words(experiment: Experiment, ranked: str, system: str) -> str:
    """What a job does, as its message says it."""
    folder, _, rest = ranked.partition("/")
    how = experiment.systems[system].kind if folder == "runs" else f"score_pairs {folder}"
    return f"{how} {rest.replace('/', ' ')}"


def ranking_script(experiment: Experiment, ranked: str, system: str) -> str:
    """What ranks: the search of the index's form, or the script of the system's kind. Pairs are re-ranked."""
    kind = experiment.systems[system].kind if ranked.startswith("runs/") else "rerank"
    if kind != "retrieve":
        return f"inference/{kind}.py"
    return plugin_file(SEARCHES, job_files.index_searched(experiment, system)).removeprefix("scripts/")


def ranking_inputs(experiment: Experiment, ranked: str, system: str, seed: str, part: str = "") -> dict[str, str]:
    """What a system ranks with, by the options of the script."""
    folder, *names = ranked.split("/")
    if folder == "runs":
        return _inputs_of_task(experiment, experiment.systems[system], task_in(experiment, *names), seed)
    dataset, pairs = names
    fields = {"experiment": experiment.name, "scored": folder, "dataset": dataset, "pairs": pairs}
    first_stage = {"first_stage": path("pairs", **fields)}
    return _texts(experiment, experiment.systems[system], dataset, "train", seed) | first_stage


def ranked_queries(experiment: Experiment, ranked: str, system: str) -> str:
    """The queries, or their passages, for which a system ranks."""
    folder, *names = ranked.split("/")
    length = experiment.systems[system].passage_length
    if folder == "runs":
        return job_files.queries(experiment, task_in(experiment, *names), length)
    return job_files.texts(experiment, names[0], "queries/train", length)


def _inputs_of_task(experiment: Experiment, ranker: System, task: Task, seed: str) -> dict[str, str]:
    found = _texts(experiment, ranker, task.dataset, task.split, seed)
    encoded = job_files.encoded(experiment, ranker, task, seed)
    if encoded:
        found["index"] = job_files.made_index(experiment, ranker, task, seed) or encoded[0]
    if encoded and of_model(ranker).approximate:
        found["vectors"] = encoded[0]
    if ranker.first_stage:
        found["first_stage"] = first_stage(experiment, ranker, task, seed)
    return found


def _texts(experiment: Experiment, ranker: System, dataset: str, split: str, seed: str) -> dict[str, str]:
    """The model, and the texts that it ranks, for the queries of a dataset's split."""
    return {
        "checkpoint": job_files.checkpoint(experiment, ranker, dataset, seed),
        "corpus": job_files.corpus(experiment, dataset, ranker.passage_length),
        "queries": job_files.texts(experiment, dataset, f"queries/{split}", ranker.passage_length),
    }


def joining_settings(experiment: Experiment, ranked: str, system: str, seed: int | str) -> JsonObject:
    """How the parts of a ranking are joined."""
    settings = ranking_settings(experiment, ranked, system, seed)
    shards_of = "documents" if job_files.searched_by_documents(experiment, system) else "queries"
    return {"shards_of": shards_of, "depth": settings["depth"], "tag": settings["tag"]}


def first_stage(experiment: Experiment, reranker: System, task: Task, seed: str) -> str:
    """The run that a system re-ranks."""
    own_seed = seed if seed == SELECTED else int(seed)
    given = experiment.first_stage_seed(reranker, own_seed, task)
    return path("run", experiment=experiment.name, task=task.folder, system=reranker.first_stage, seed=given)


def export_settings(experiment: Experiment, model: str, backend: str, precision: str) -> JsonObject:
    """How a checkpoint is turned into ONNX."""
    entry = experiment.models[model]
    lengths = {"type": entry.type, "max_length": entry.max_length}
    return {**lengths, "backend": backend, "precision": precision, **experiment.kernels_of_jobs}


def ranking_settings(experiment: Experiment, ranked: str, system: str, seed: int | str, part: str = "") -> JsonObject:
    """What a ranking, or a part of it, depends on beside its inputs; of pairs all are kept."""
    ranker = experiment.systems[system]
    model_keys = system_kind(ranker).model_settings
    passages = {"passage_length": ranker.passage_length} if ranker.passage_length else {}
    shorter = {"truncate_dim": ranker.truncate_dim} if ranker.truncate_dim else {}
    model = experiment.models[str(ranker.model)]
    depth = ranker.depth or experiment.depth if ranked.startswith("runs/") else EVERY
    texts = {key: value for key, value in given(model).items() if key in TEXTS}
    if prompts := prompts_on(experiment, model, _dataset_ranked(experiment, ranked)):
        texts["prompts"] = prompts
    settings = _of_model(model, model_keys)
    export = of_model(ranker).export
    if export and "backend" in settings:
        settings["backend"] = export.backend
    if system_kind(ranker).by_tokens and settings["backend"] == "torch" and model.batch_tokens:
        texts["batch_tokens"] = model.batch_tokens
    index = given(of_model(ranker), "export", "vectors")
    settings |= {**texts, **passages, **shorter, **index, **experiment.kernels_of_jobs}
    return {**settings, "depth": depth, "tag": f"{system}-{seed}", **shard_of(part)}


def _dataset_ranked(experiment: Experiment, ranked: str) -> str:
    """The dataset whose queries are ranked: those of a task, or the training queries of pairs."""
    folder, name, *_ = ranked.split("/")
    return task_in(experiment, name).dataset if folder == "runs" else name


def listwise_inputs(experiment: Experiment, system: str, task: str, seed: str) -> dict[str, str]:
    """What an endpoint is asked about."""
    ranker, ranked_task = experiment.systems[system], task_in(experiment, task)
    return {
        "corpus": job_files.corpus(experiment, ranked_task.dataset),
        "queries": job_files.queries(experiment, ranked_task),
        "first_stage": first_stage(experiment, ranker, ranked_task, seed),
    }


def listwise_settings(experiment: Experiment, system: str, seed: str) -> JsonObject:
    """How an endpoint is asked to order the candidates."""
    ranker = experiment.systems[system]
    return {**listwise.job_settings(ranker), "depth": ranker.depth, "tag": f"{system}-{seed}"}
