"""Systems in words, for the report."""

from __future__ import annotations

from scripts.common.checks import UNTRAINED
from scripts.common.experiment import Experiment, System


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
    words = f"{model['type']} {system.model} ({model['weights']}, {how}{model['max_length']} tokens)"
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
    if system.piece_length:
        words += f", texts split into pieces of {system.piece_length} characters (maximum over the document's, sum over"
        words += " the query's)"
    return words


def datasets_learnt(experiment: Experiment, system: System) -> list[str]:
    """The datasets on which a system's recipe, and those it starts from, were trained."""
    found, recipe = [], system.recipe
    while recipe and recipe != UNTRAINED:
        found.append(experiment.recipes[recipe]["train_on"])
        recipe = experiment.recipes[recipe]["start_from"]
    return found
