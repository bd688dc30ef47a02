"""Scripts, paths and settings of the jobs that encode, rank and judge: rules/{encoding,ranking,judge}.smk.

If several jobs make an output in shards, their paths contain the part; `part` is empty if one job makes the whole.
"""

from __future__ import annotations

import re

from ranktrial.common.keys import JsonObject, stated
from ranktrial.common.plugins import source as plugin_file
from ranktrial.common.projection import projected
from ranktrial.engine.rule_helpers import one_of
from ranktrial.experiment import job_files
from ranktrial.experiment.job_files import task_in
from ranktrial.experiment.judged import judges_of, ranked_by
from ranktrial.experiment.model_checks import prompts_on
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.experiment.results_paths import SELECTED, path
from ranktrial.experiment.systems._neural import DerivedIndex, of_model
from ranktrial.inference.encoding_settings import EncodingSettings, ExportSettings
from ranktrial.inference.ranking_settings import PairSettings, RerankingSettings, SearchSettings
from ranktrial.models.chat_settings import WindowSettings
from ranktrial.models.endpoint_keys import chat_settings, is_served
from ranktrial.models.model_keys import Model

INDICES, SEARCHES = "ranktrial.inference.indices", "ranktrial.inference.searches"
SEARCH = "inference/search.py"
RANKED = {"retrieve": SearchSettings, "rerank": RerankingSettings, "score_all": PairSettings}  # types whose models rank
EVERY = 1_000_000  # more documents than a query has pairs, and more tokens than any text: no limit


def parts(experiment: Experiment) -> list[str]:
    """The parts in the paths of shards, in their order."""
    return [f".shards/{place}-of-{experiment.shards}" for place in range(experiment.shards)]


def shard_of(part: str) -> dict[str, list[int]]:
    """The setting of a job that makes a part: its number from 0, and the number of parts."""
    return {"shard": [int(number) for number in re.findall("[0-9]+", part)]} if part else {}


def encoded_parts(experiment: Experiment) -> str:
    """The wildcard constraint of the parts in which corpora are encoded: all parts, or the empty one."""
    return "|".join(map(re.escape, parts(experiment))) if experiment.shards > 1 else "(?:)"


def encoded_corpus(experiment: Experiment, dataset: str, passages: str) -> str:
    """The documents that are encoded, or their passages: `passages` ends in their length."""
    length = int(passages.rpartition("-")[2]) if passages else None
    return job_files.texts(experiment, dataset, "corpus", length)


def index_modules(experiment: Experiment, form: str) -> list[str]:
    """The module that writes an index of a form."""
    return [plugin_file(INDICES, form)]


def encoding_settings(experiment: Experiment, dataset: str, model: str, part: str = "") -> JsonObject:
    """The settings of encoding a corpus, or a part of it."""
    entry = experiment.models[model]
    # Only the prompts of documents, so that a change of queries' prompts does not encode corpora again.
    put = {role: text for role, text in prompts_on(experiment, entry, dataset).items() if role == "document"}
    own = {"prompts": put or None, **_elsewhere(entry), **shard_of(part)}
    return projected(EncodingSettings, entry, experiment, **own)


def _elsewhere(entry: Model) -> JsonObject:
    """The settings of a model behind an endpoint, which has no limit here; empty for any other."""
    return {"backend": "endpoint", "max_length": EVERY} if is_served(entry) else {}


def vectors_coded(experiment: Experiment, model: str, made: str, **fields: str) -> str:
    """The encoded corpus from which an index is made."""
    form = job_files.form_of_index(experiment, model)
    return path("embeddings", experiment=experiment.name, model=model, passages="", part="", form=form, **fields)


def making_settings(experiment: Experiment, model: str, made: str) -> JsonObject:
    """The form and the name of the index of a model that has this name in paths."""
    index = _made(experiment, model, made)
    return {"form": index.name, "name": index.settings.name}


def making_modules(experiment: Experiment, model: str, made: str) -> list[str]:
    """The module that the job loads by name."""
    return index_modules(experiment, _made(experiment, model, made).name)


def _made(experiment: Experiment, model: str, made: str) -> DerivedIndex:
    asked = (of_model(system).index for system in experiment.systems.values() if system.model == model)
    return next(index for index in asked if index and index.made == made)


def ranked_whole(experiment: Experiment) -> str:
    """The wildcard constraint of rankings, and scorings for trainings, that are one job each."""
    return _ranked(experiment, in_parts=False, behind="/[^/]+$")


def ranked_in_parts(experiment: Experiment) -> str:
    """The same for those in parts, for the paths of the parts."""
    return _ranked(experiment, in_parts=True, behind="/[^/]+/[^/]+$")


def joined(experiment: Experiment) -> str:
    """The same for those in parts, for the joined paths."""
    return _ranked(experiment, in_parts=True, behind="/[^/]+$")


def _ranked(experiment: Experiment, in_parts: bool, behind: str) -> str:
    """The part of a path before the name of a system that ranks and the rest of the path."""
    systems = [name for name, system in experiment.systems.items() if system.type in RANKED]
    ranking = [name for name in systems if job_files.ranked_in_shards(experiment, name) == in_parts]
    scoring = [name for name in systems if job_files.scores_in_shards(experiment, name) == in_parts]
    places = {"runs/[^/]+": ranking, "(?:negatives|teachers)/[^/]+/[^/]+": scoring}
    return "|".join(f"{place}(?=/(?:{one_of(names)}){behind})" for place, names in places.items())


def ranking_words(experiment: Experiment, ranked: str, system: str) -> str:
    """The description of a job in its message."""
    folder, _, rest = ranked.partition("/")
    how = experiment.systems[system].type if folder == "runs" else f"score_pairs {folder}"
    return f"{how} {rest.replace('/', ' ')}"


def ranking_script(experiment: Experiment, ranked: str, system: str) -> str:
    """The script that ranks, by the system's type. Pairs are re-ranked."""
    ranked_by = experiment.systems[system].type if ranked.startswith("runs/") else "rerank"
    return SEARCH if ranked_by == "retrieve" else f"inference/{ranked_by}.py"


def ranking_modules(experiment: Experiment, ranked: str, system: str) -> list[str]:
    """The modules that this script loads by name: the search of the index's form, and a derived form itself."""
    if ranking_script(experiment, ranked, system) != SEARCH:
        return []
    form, derived = job_files.index_searched(experiment, system), of_model(experiment.systems[system]).index
    return [plugin_file(SEARCHES, form), *(index_modules(experiment, form) if derived else [])]


def ranking_inputs(experiment: Experiment, ranked: str, system: str, seed: str, part: str = "") -> dict[str, str]:
    """The inputs of a ranking, by the options of the script."""
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
    if encoded and (index := of_model(ranker).index) and index.form.compared:
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
    """The settings of joining the parts of a ranking."""
    settings = ranking_settings(experiment, ranked, system, seed)
    shards_of = "documents" if job_files.searched_by_documents(experiment, system) else "queries"
    return {"shards_of": shards_of, "depth": settings["depth"], "tag": settings["tag"]}


def first_stage(experiment: Experiment, reranker: System, task: Task, seed: str) -> str:
    """The run that a system re-ranks."""
    own_seed = seed if seed == SELECTED else int(seed)
    given = experiment.first_stage_seed(reranker, own_seed, task)
    return path("run", experiment=experiment.name, task=task.folder, system=reranker.first_stage, seed=given)


def export_settings(experiment: Experiment, model: str, precision: str) -> JsonObject:
    """The settings of an export to ONNX."""
    return projected(ExportSettings, experiment.models[model], experiment, precision=precision)


def ranking_settings(experiment: Experiment, ranked: str, system: str, seed: int | str, part: str = "") -> JsonObject:
    """The settings of a ranking, or a part of it; of pairs, all are kept."""
    ranker, script = experiment.systems[system], ranking_script(experiment, ranked, system)
    model, runs = experiment.models[str(ranker.model)], ranked.startswith("runs/")
    own: dict[str, object] = {"backend": model.backend, **_elsewhere(model)}
    if export := of_model(ranker).export:
        own["backend"] = export.backend
    if own["backend"] != "torch":
        own["batch_tokens"] = None
    derived = of_model(ranker).index if script == SEARCH else None
    if script == SEARCH:
        own["form"] = job_files.index_searched(experiment, system)
    own["prompts"] = prompts_on(experiment, model, _dataset_ranked(experiment, ranked)) or None
    own |= {"depth": ranker.depth or experiment.depth if runs else EVERY, "tag": f"{system}-{seed}"}
    kind = RANKED[ranker.type if runs else "rerank"]
    settings = projected(kind, model, ranker, experiment, **own, **shard_of(part))
    return settings | (derived.facts if derived else {})


def _dataset_ranked(experiment: Experiment, ranked: str) -> str:
    """The dataset whose queries are ranked: those of a task, or the training queries of pairs."""
    folder, name, *_ = ranked.split("/")
    return task_in(experiment, name).dataset if folder == "runs" else name


def listwise_inputs(experiment: Experiment, system: str, task: str, seed: str) -> dict[str, str]:
    """The inputs of listwise re-ranking."""
    ranker, ranked_task = experiment.systems[system], task_in(experiment, task)
    return {
        "corpus": job_files.corpus(experiment, ranked_task.dataset),
        "queries": job_files.queries(experiment, ranked_task),
        "first_stage": first_stage(experiment, ranker, ranked_task, seed),
    }


def listwise_settings(experiment: Experiment, system: str, seed: str) -> JsonObject:
    """The settings of listwise re-ranking; with the key null, no API key is sent."""
    ranker = experiment.systems[system]
    how = stated(ranker.own(WindowSettings))
    return {"key": None, **how, "depth": ranker.depth, "tag": f"{system}-{seed}"}


def judge_inputs(experiment: Experiment, dataset: str) -> dict[str, str | list[str]]:
    """The texts, the runs whose top documents are judged, and the existing judgements."""
    judge, task = judges_of(experiment)[dataset], ranked_by(experiment, dataset)
    systems = [system for name in judge.of for system in experiment.entries.get(name, [name])]
    runs = [run for system in systems for run in job_files.runs(experiment, experiment.systems[system], task)]
    return {
        "corpus": job_files.corpus(experiment, task.dataset),
        "queries": job_files.queries(experiment, task),
        "runs": list(dict.fromkeys(runs)),
        "known": job_files.qrels(experiment, task) if judge.fill == "holes" else [],
    }


def judge_settings(experiment: Experiment, dataset: str) -> JsonObject:
    """The settings of the endpoint and of the pool; no API key is sent if it is null."""
    judge = judges_of(experiment)[dataset]
    endpoint = {name: value for name, value in chat_settings(judge.endpoint).items() if name != "price"}
    price = {"price": stated(judge.endpoint.price)} if judge.endpoint.price else {}
    about = {name: getattr(judge, name) for name in ("split", "depth", "max_words", "relevant_from")}
    return {**endpoint, **price, **about}
