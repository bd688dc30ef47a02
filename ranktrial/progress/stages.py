"""The stages of an experiment, as shown to readers, with their rule files; reads and writes nothing."""

from __future__ import annotations

STAGES = {  # in the order of display; a file that no stage names is a stage of its own
    "datasets": ("downloads", "datasets", "generated_queries"),
    "BM25": ("bm25_index", "bm25_search"),
    "negatives": ("negatives",),
    "training": ("training", "selection"),
    "features": ("features",),
    "encoding": ("encoding",),
    "ranking": ("ranking", "fusion", "out-of-fold", "learning-to-rank", "ranker-importance", "listwise"),
    "scoring": ("evaluation", "judge"),
    "effects": ("synthesis", "details", "transfer", "study_design"),
    "figures and tables": ("tables", "figures"),
    "pages": ("pages", "report", "explorer", "archive"),
}


def stage_of(rule_file: str) -> str:
    """The stage of the rules in a file, by the file's name without its ending."""
    return next((stage for stage, files in STAGES.items() if rule_file in files), rule_file)
