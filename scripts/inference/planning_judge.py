"""Paths and settings of judging jobs, from the experiment and the wildcards of rules/judge.smk."""

from __future__ import annotations

from ranktrial.common.keys import JsonObject, stated
from ranktrial.experiment import job_files
from ranktrial.experiment.judged import judges_of, ranked_by
from ranktrial.experiment.records import Experiment
from ranktrial.models.chat_keys import chat_settings


def inputs(experiment: Experiment, dataset: str) -> dict[str, str | list[str]]:
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


def settings(experiment: Experiment, dataset: str) -> JsonObject:
    """The settings of the endpoint and of the pool; no API key is sent if it is null."""
    judge = judges_of(experiment)[dataset]
    endpoint = {name: value for name, value in chat_settings(judge.endpoint).items() if name != "price"}
    price = {"price": stated(judge.endpoint.price)} if judge.endpoint.price else {}
    about = {name: getattr(judge, name) for name in ("split", "depth", "max_words", "relevant_from")}
    return {**endpoint, **price, **about}
