"""What the jobs that rank are given: paths and settings, from the experiment and the wildcards of rules/inference.smk
and rules/encoding.smk.
"""

from __future__ import annotations

from scripts.common.keys import given
from scripts.experiment import job_files
from scripts.experiment.job_files import task_in
from scripts.experiment.records import SELECTED, Experiment
from scripts.experiment.results_paths import path
from scripts.experiment.system_kinds import system_kind

TEXTS = ("max_query_length", "max_document_length", "prompts")  # where the model has them


def encoding_settings(experiment: Experiment, model: str) -> dict:
    """How a model encodes a corpus."""
    entry = experiment.models[model]
    always = {key: getattr(entry, key) for key in ("type", "max_length", "batch_size")}
    # Of prompts only the documents' own: another prompt of queries encodes no corpus again.
    own = given(entry.prompts, "query")
    further = {key: value for key, value in given(entry).items() if key in ("max_document_length", "batch_tokens")}
    return {**always, **further, **({"prompts": own} if own else {})}


def shard_settings(experiment: Experiment, model: str, shard: str, shards: str) -> dict:
    """How a model encodes one of so many shards of a corpus."""
    return {**encoding_settings(experiment, model), "shard": [int(shard), int(shards)]}


def ranking_shard_settings(
    experiment: Experiment, system: str, seed: int | str, shard: str, shards: str, depth: int | None = None
) -> dict:
    """What one of so many shards of a ranking depends on beside its inputs; `depth` where it is not the system's."""
    return {**ranking_settings(experiment, system, seed, depth), "shard": [int(shard), int(shards)]}


def joining_settings(experiment: Experiment, system: str, seed: int | str, depth: int | None = None) -> dict:
    """How the shards of a ranking are joined; `depth` where it is not the system's own."""
    ranked = ranking_settings(experiment, system, seed, depth)
    shards_of = "documents" if job_files.searched_by_documents(experiment, system) else "queries"
    return {"shards_of": shards_of, "depth": ranked["depth"], "tag": ranked["tag"]}


def checkpoint(experiment: Experiment, system: str, task: str, seed: str, **_of_shard: str) -> str:
    """The checkpoint with which a system ranks."""
    dataset = task_in(experiment, task).dataset
    return job_files.checkpoint(experiment, experiment.systems[system], dataset, seed)


def embeddings(experiment: Experiment, system: str, task: str, seed: str, **_of_shard: str) -> str | list[str]:
    """The encoded corpus, for a system that ranks with one."""
    files = job_files.encoded(experiment, experiment.systems[system], task_in(experiment, task), seed)
    return files[0] if files else []


def approximate_index(experiment: Experiment, system: str, task: str, seed: str, **_of_shard: str) -> str:
    """The faiss index that a system searches."""
    return job_files.approximate_index(experiment, experiment.systems[system], task_in(experiment, task), seed)


def approximate_settings(name: str) -> dict:
    """How a faiss index is built whose name stands in a path."""
    return {"index": job_files.faiss_name(name)}


def corpus(experiment: Experiment, system: str, task: str) -> str:
    """The documents, or passages, that a system ranks."""
    dataset = task_in(experiment, task).dataset
    return job_files.corpus(experiment, dataset, experiment.systems[system].passage_length)


def queries(experiment: Experiment, system: str, task: str) -> str:
    """The queries, or their passages, for which a system ranks."""
    return job_files.queries(experiment, task_in(experiment, task), experiment.systems[system].passage_length)


def first_stage(experiment: Experiment, system: str, task: str, seed: str, **_of_shard: str) -> str:
    """The run that a system re-ranks."""
    own_seed = seed if seed == SELECTED else int(seed)
    reranker = experiment.systems[system]
    given = experiment.first_stage_seed(reranker, own_seed, task_in(experiment, task))
    return path("run", experiment=experiment.name, task=task, system=reranker.first_stage, seed=given)


def export_settings(experiment: Experiment, model: str, backend: str, precision: str) -> dict:
    """How a checkpoint is turned into ONNX."""
    entry = experiment.models[model]
    lengths = {"type": entry.type, "max_length": entry.max_length}
    return {**lengths, "backend": backend, "precision": precision}


def ranking_settings(experiment: Experiment, system: str, seed: int | str, depth: int | None = None) -> dict:
    """What a ranking depends on beside its inputs; `depth` where it is not the system's own."""
    ranker = experiment.systems[system]
    model_keys = system_kind(ranker).model_settings
    passages = {"passage_length": ranker.passage_length} if ranker.passage_length else {}
    shorter = {"truncate_dim": ranker.truncate_dim} if ranker.truncate_dim else {}
    model = experiment.models[str(ranker.model)]
    depth = depth or ranker.depth or experiment.depth
    texts = {key: value for key, value in given(model).items() if key in TEXTS}
    settings = {key: ranker.settings.get(key, getattr(model, key)) for key in model_keys}
    if system_kind(ranker).by_tokens and settings["backend"] == "torch" and model.batch_tokens:
        texts["batch_tokens"] = model.batch_tokens
    index = {key: ranker.settings[key] for key in ("embeddings", "approximate") if key in ranker.settings}
    settings |= {**texts, **passages, **shorter, **index}
    return {**settings, "depth": depth, "tag": f"{system}-{seed}"}


def listwise_settings(experiment: Experiment, system: str, seed: str) -> dict:
    """How an endpoint is asked to order the candidates."""
    ranker = experiment.systems[system]
    return {**ranker.settings, "depth": ranker.depth, "tag": f"{system}-{seed}"}
