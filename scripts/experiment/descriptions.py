"""Systems in words, for the report."""

from __future__ import annotations

import json

from scripts.common.locations import shown
from scripts.experiment.charts import model_names
from scripts.experiment.records import UNTRAINED, Experiment, System


def describe(experiment: Experiment, system: System) -> str:
    """What a system is: its kind, model, training and candidates."""
    if system.kind == "bm25":
        tuned = "measure" in system.settings
        chosen = "k1 and b tuned on dev" if tuned else f"k1 = {system.settings['k1']}, b = {system.settings['b']}"
        engine = "Elasticsearch" if "url" in system.settings else "Lucene"
        together = system.settings["fields"] == "together"
        fields = "title and text as one field" if together else "the better of title and text"
        return f"BM25 ({engine}, {system.settings['analyzer']} analyser, {fields}), {chosen}"
    if system.kind == "external":
        return "external files"
    model = experiment.models[system.model]
    how = "ONNX, " if model["backend"] == "onnx" else ""
    words = f"{model['type']} {system.model} ({shown(model['weights'])}, {how}{model['max_length']} tokens)"
    if system.recipe != UNTRAINED:
        words += f", fine-tuned with recipe {system.recipe} on {experiment.recipes[system.recipe]['train_on']}"
        words += f", {len(system.seeds)} seed" + "s" * (len(system.seeds) > 1)
        if chosen := system.selection:
            words += f"; on other datasets the seed with the highest {chosen.formula} of {chosen.by} on {chosen.task}"
            words += " (a test set: for reproduction only)" * (chosen.split == "test")
    if system.first_stage:
        words += f", re-ranks the top {system.depth} of {system.first_stage}"
    if system.kind == "score_all":
        words += ", scores all pairs of a query and a document"
    if system.passage_length:
        words += f", texts split into passages of {system.passage_length} characters (MaxSim: maximum"
        words += " over the document's, sum over the query's)"
    return words


def datasets_learnt(experiment: Experiment, system: System) -> list[str]:
    """The datasets on which a system's recipe, and those it starts from, were trained."""
    found, recipe = [], system.recipe
    while recipe and recipe != UNTRAINED:
        found.append(experiment.recipes[recipe]["train_on"])
        recipe = experiment.recipes[recipe]["start_from"]
    return found


def for_times(experiment: Experiment, system: System) -> dict[str, str]:
    """Where a system stands in the tables of times: model, candidates, long texts, recipe and column."""
    if system.model is None:
        return {"model": system.label, "candidates": "all documents", "texts": ""}
    ranked = f"top {system.depth} of {system.first_stage}" if system.first_stage else "all documents"
    texts = "passages" if system.passage_length else ""
    found = {"model": model_names(experiment.models)[system.model], "candidates": ranked, "texts": texts}
    if system.recipe != UNTRAINED:
        found |= {"recipe": system.recipe, "column": training_columns(experiment)[system.recipe]}
    return found


def training_columns(experiment: Experiment) -> dict[str, str]:
    """The column of each recipe in the table of fine-tuning times.

    Recipes that differ only in where their negatives are from take the same time and share one, named after their
    dataset, or after themselves where others learn from it too.
    """
    groups: dict[str, list[str]] = {}
    for name, recipe in experiment.recipes.items():
        kept = recipe | {"negatives": {k: v for k, v in recipe["negatives"].items() if k != "from"}}
        groups.setdefault(json.dumps(kept, sort_keys=True), []).append(name)
    datasets = [experiment.recipes[names[0]]["train_on"] for names in groups.values()]
    columns = {}
    for dataset, names in zip(datasets, groups.values(), strict=True):
        label = experiment.datasets[dataset].get("label", dataset)
        columns |= dict.fromkeys(names, label if datasets.count(dataset) == 1 else " / ".join(names))
    return columns
