"""Common parts of system types with a model: keys, training, seeds, exports, long texts, descriptions, provenance."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from ranktrial.common.keys import INLINE, JsonObject, Length, Needs, Not, Rule, plain, stated
from ranktrial.common.urls import shown
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.configuration import Configuration, SelectSeed
from ranktrial.configuration.sections.recipe import PASSAGE_LENGTH
from ranktrial.experiment import choosing, recipe_checks
from ranktrial.experiment.checks import check_loss
from ranktrial.experiment.choosing import selection
from ranktrial.experiment.model_checks import prompts_of_system, prompts_text
from ranktrial.experiment.records import OF_EACH, UNTRAINED, Experiment, System, Task
from ranktrial.experiment.system_types import Made, SystemType, limited_to
from ranktrial.experiment.trainings import size_text
from ranktrial.inference.indices import DerivedForm, derived_forms
from ranktrial.models.adapters import adapter, adapters, exports, index_of, tags, writes
from ranktrial.models.endpoint_keys import asked_of
from ranktrial.models.judging_keys import KEYS as JUDGING
from ranktrial.models.model_keys import Model


@dataclass(frozen=True)
class Export:
    """The export of a checkpoint to ONNX."""

    backend: str
    precision: str


@dataclass(frozen=True, kw_only=True)
class ExportKeys:
    """The keys of the export of a torch checkpoint."""

    backend: Annotated[
        Literal["torch", "onnx"] | None,
        "onnx: the checkpoint, trained or not, is exported to ONNX and ranks with onnxruntime on the CPU; torch "
        "(default): the backend that the model names",
    ] = None
    precision: Annotated[
        Literal["fp32", "int8"] | None,
        "precision of the weights with backend: onnx (which int8 implies): fp32 (default), or int8, "
        "quantised by onnxruntime",
    ] = None


def export_settings(check: Checker, name: str, entry: ExportKeys, model: str) -> Export | None:
    """Return the export of a system's checkpoint, or None. Raises UserError if the export is impossible."""
    key, given = f"systems.{name}", entry.precision
    backend = entry.backend or ("onnx" if given == "int8" else "torch")
    if backend == "torch":
        if given:
            problem = f"{given} is of backend: onnx; torch computes in bf16 on a GPU that can, else in fp32"
            raise check.fail(f"{key}.precision", problem)
        return None
    said, used = "backend" if entry.backend else "precision", check.config.models[model]
    if used.backend == "onnx":
        problem = f"model {model} is in ONNX already, as it is in its file; leave it out"
        raise check.fail(f"{key}.{said}", problem)
    if not exports(used.type):
        able = ", ".join(f"{model_type}s" for model_type in adapters() if exports(model_type))
        raise check.fail(f"{key}.{said}", f"a {used.type} ranks by torch only; {able} can be exported to ONNX")
    return Export(backend, given or "fp32")


def export_text(export: Export | None) -> str:
    """Return the export as part of a system's description; empty without one."""
    return f"ONNX {export.precision}" if export else ""


@dataclass(frozen=True)
class DerivedIndex:
    """The index that a system searches in place of its encoded corpus: its form, and the settings of the search."""

    name: str
    settings: Any

    @property
    def form(self) -> DerivedForm:
        return derived_forms()[self.name]

    @property
    def made(self) -> str:
        """Its name in paths."""
        return str(self.settings.name).replace(",", "_")

    @property
    def facts(self) -> JsonObject:
        """Its settings below the key with which it is asked for."""
        return {self.form.key: plain(self.settings)}


@dataclass(frozen=True)
class ModelSettings:
    """Settings of ranking beyond those of the model and its recipe; all are optional."""

    export: Annotated[Export | None, INLINE] = None
    vectors: Literal["corpus"] | None = None  # re-rankers: use document vectors of the whole corpus
    index: DerivedIndex | None = None  # searched in place of the encoded corpus


def of_model(system: System) -> ModelSettings:
    """Return the settings of a system with a model; empty settings for one without."""
    return system.settings if isinstance(system.settings, ModelSettings) else ModelSettings()


LENGTHS = {"max_query_length": "of a query", "max_document_length": "of a document"}
OF_SCORE = (*JUDGING, "label")  # keys that define a cross-encoder's score


def model_text(experiment: Experiment, system: System, model: Model) -> str:
    """Return a description of a model: source of its weights, tokens kept, prompts, and definition of its score."""
    exported = export_text(of_model(system).export) or ("ONNX" if model.backend == "onnx" else "")
    prompts = prompts_text(prompts_of_system(experiment, system))
    first = [shown(model.weights), exported] if exported else [shown(model.weights)]
    return ", ".join([*first, _tokens(model), *prompts, *_score(model)])


def model_facts(experiment: Experiment, system: System, model: Model) -> JsonObject:
    """Return the configured properties of a model that determine its scores."""
    said = stated(model)
    names = ("weights", "revision", "max_length", *LENGTHS, *OF_SCORE)
    facts = {key: said[key] for key in names if said.get(key) not in (None, "", {})}
    facts |= {"weights": shown(model.weights), **asked_of(model)}
    each = prompts_of_system(experiment, system)
    if prompts := each.get("", each):
        facts["prompts"] = prompts
    facts |= plain(of_model(system).export) or {}
    return facts


def _tokens(model: Model) -> str:
    """Return the number of tokens kept, with the limits for queries and documents if the model has them."""
    if asked := asked_of(model):
        return f"asked at {asked['url']}" + (f", {asked['max_words']} words" if "max_words" in asked else "")
    apart = [f", {length} {words}" for key, words in LENGTHS.items() if (length := getattr(model, key))]
    return f"{model.max_length} tokens{''.join(apart)}"


def _score(model: Model) -> list[str]:
    """Return the configured keys that define a model's score."""
    said = stated(model)
    return [f"{key} {json.dumps(said[key], ensure_ascii=False)}" for key in OF_SCORE if key in said]


NAMED = 5  # datasets of published weights that a description names; the configuration has all


def training_text(experiment: Experiment, system: System) -> str:
    """Return a description of a trained system's recipes and seeds, and of the selection among them."""
    if system.recipe_of:
        trained = [f"{recipe} for {dataset}" for dataset, recipe in system.recipe_of.items()]
        words = f", fine-tuned with the recipes {', '.join(trained)}"
    elif system.choice:
        learnt = experiment.recipes[system.recipe].datasets_text
        words = f", fine-tuned on {learnt} with {choosing.as_text(experiment, system.choice)}"
    else:
        recipe = experiment.recipes[system.recipe]
        words = f", fine-tuned with recipe {system.recipe} on {recipe.datasets_text}"
        words += recipe_checks.teacher_text(recipe)
    sizes = dict.fromkeys(size_text(experiment.recipes[recipe]) for recipe in system.recipes)
    words += ";".join(filter(None, sizes))  # recipes of several datasets mostly have the same text
    words += "".join(dict.fromkeys(recipe_checks.adapter_text(experiment.recipes[recipe]) for recipe in system.recipes))
    words += f", {len(system.seeds)} {'seed' if len(system.seeds) == 1 else 'seeds'}"
    if chosen := system.selection:
        words += f"; on other datasets the seed with the highest {chosen.formula} of {chosen.by} on {chosen.task}"
        if chosen.split == "test":
            words += " (a test set: for reproduction only)"
    return words


def published_training(model: Model) -> str:
    """Return a description of the training data of the published weights."""
    if model.trained_on is None:
        return "training data of the weights not stated"
    by_card = " by their model card" if model.trained_on_by_card else ""
    named, others = model.trained_on[:NAMED], len(model.trained_on) - NAMED
    more = f" and {others} more" if others > 0 else ""
    return f"weights trained on {', '.join(named) or 'no dataset'}{more}{by_card}"


OneSeed = Annotated[int, Rule(minimum=1, maximum=2**32 - 1)]
ListOfSeeds = Annotated[tuple[OneSeed, ...], Rule(min_items=1, max_items=1000, unique_items=True)]
Seeds = Annotated[int, Rule(minimum=1, maximum=1000)] | ListOfSeeds


@dataclass(frozen=True, kw_only=True)
class RecipeRule:
    """A rule that assigns the trainings of a recipe to the tasks of datasets."""

    name: Annotated[str | None, "name of the recipe"] = None
    dataset: Annotated[
        Literal["target", "others"] | None,
        "target: each task is ranked with the training on its own dataset; others: with each training on another one",
    ] = None
    each: Annotated[dict[str, str] | None, "the recipe for each dataset", Rule(min_properties=1)] = None


def _is_one(recipe: object) -> bool:
    return not isinstance(recipe, RecipeRule)


@dataclass(frozen=True, kw_only=True)
class NeuralKeys(ExportKeys, Made):
    """The keys of systems with a model."""

    model: Annotated[str | None, "the model that ranks"] = None
    recipe: Annotated[
        str | RecipeRule | None,
        "how the model is trained; {name: R, dataset: target}: rank the tasks of each dataset with the training of "
        "R on it; dataset: others: one system per training of R, for the tasks of all other datasets; {each: "
        "{dataset: recipe, ...}} lists the recipes explicitly",
    ] = None
    seeds: Annotated[
        Seeds | None,
        "number of trainings of the recipe, with the seeds 1, 2, ...; or the list of seeds",
        Needs("recipe"),
    ] = None
    select_seed: Annotated[
        SelectSeed | None,
        "on datasets other than that of `task`, run only the seed that scores best on `task`",
        Needs("recipe"),
        Needs("one recipe for all tasks", path="recipe", such=_is_one),
    ] = None
    long_documents: Annotated[
        Literal["truncate", "passages"] | None,
        "truncate (default): at the model's max_length; passages: query and document are split into passages, "
        "and all pairs are scored (docs/writing-an-experiment.md)",
    ] = None
    passage_length: Annotated[
        Length | None,
        "maximum length in characters of a passage made of whole sentences; default 150",
        Needs("long_documents: passages"),
    ] = None
    truncate_dim: Annotated[
        Length | None,
        "number of leading dimensions of a bi-encoder's vectors that are used, as in sentence-transformers; texts "
        "are encoded once, for systems of all dimensions; default all",
        Not("embeddings", "they quantise whole vectors"),
    ] = None


REFERENCES: dict[tuple[str, ...], str] = {("model",): "models", ("recipe",): "recipes"}
PLAIN_LISTS: list[tuple[str, ...]] = [("seeds",), ("tasks",)]


class Neural(SystemType):
    """A system with a model; its other keys determine its type."""

    typed = False
    name: str

    def resolve(self, check: Checker, name: str, entry: Any, tasks: dict[str, Task]) -> System:
        return self.with_model(check, name, entry, tasks)

    def with_model(self, check: Checker, name: str, entry: NeuralKeys, tasks: dict[str, Task]) -> System:
        """Return the system from the keys that all systems with a model share."""
        ranked = limited_to(check, name, entry)
        named = str(entry.model)  # entries of these types have one
        check.known(f"systems.{name}.model", named, "models")
        model_type = check.config.models[named].type
        if tags(model_type) or writes(model_type):
            problem = f"{named} is of type {model_type}: it labels words or writes queries, and ranks nothing"
            raise check.fail(f"systems.{name}.model", problem)
        own_seeds: tuple[int, ...] = (0,)
        recipe_of: dict[str, str] = {}
        if entry.recipe is not None:
            recipe_of = _recipe_of(check, f"systems.{name}", entry)
            ranked = _trained_for(check, name, recipe_of, ranked, tasks) if recipe_of else ranked
            own_seeds = seeds(entry.seeds or 1)
        if entry.truncate_dim is not None:
            recipe_checks.check_truncation(check, name, model_type)
        return System(
            name,
            self.name,
            entry.label or name,
            seeds=own_seeds,
            selection=selection(check, name, entry.recipe, entry.select_seed),
            choice=choosing.recipe_choice(check, entry.recipe),
            model=named,
            recipe=entry.recipe if isinstance(entry.recipe, str) else OF_EACH if recipe_of else UNTRAINED,
            recipe_of=recipe_of,
            passage_length=_passage_length(check, name, entry),
            truncate_dim=entry.truncate_dim,
            settings=ModelSettings(export_settings(check, name, entry, named)),
            tasks=ranked,
        )

    def check(self, check: Checker, system: System, tasks: dict[str, Task]) -> None:
        """Check that its model can be trained by its recipe and by those that the recipe starts from."""
        model = check.config.models[str(system.model)]
        for recipe in dict.fromkeys(itertools.chain(*(_chain(check.config, name) for name in system.recipes))):
            check_loss(check, recipe, [model.type])
        if system.passage_length and index_of(model.type) != "vectors":
            message = f"a {model.type} compares whole texts; leave it out"
            raise check.fail(f"systems.{system.name}.long_documents", message)
        if model.backend == "onnx" and system.recipes:
            message = f"model {system.model} has backend onnx, which ranks only: no recipe can train it further"
            raise check.fail(f"systems.{system.name}", message)

    def learnt_from(self, experiment: Experiment, system: System, dataset: str) -> set[tuple[str, str]]:
        """Return the training queries of its recipe, of the recipes this starts from, and of teachers, for any labels.

        This includes the queries by which one of several recipes was selected (with the training queries of all of
        them), those that decided which weights were kept, and, as far as the configuration states them, those on which
        published weights were trained.
        """
        if chosen := system.choice:
            members = [self.learnt_from(experiment, experiment.systems[name], dataset) for name in chosen.members]
            return set.union({(chosen.dataset, chosen.split)}, *members)
        recipe = system.recipe_of.get(dataset) if system.recipe_of else system.recipe
        of_training = (experiment.recipes, experiment.systems, recipe)
        models = [experiment.models[name] for name in {str(system.model), *recipe_checks.teaching_models(*of_training)}]
        published = {name for model in models for name in model.trained_on or () if name in experiment.datasets}
        return recipe_checks.learnt_from(*of_training) | {(name, "train") for name in published}

    def encodes_corpus(self, system: System, model: Model) -> bool:
        return system.passage_length is not None and adapter(model.type).SEARCHES

    def identity(self, config: Configuration, system: System) -> JsonObject:
        model = config.models[str(system.model)]
        chosen = system.selection
        return {
            "model": {**stated(model, "licence", "trained_on", "trained_on_by_card", "endpoint"), **asked_of(model)},
            "training": _training(config, system),
            "seeds": system.seeds,
            "selection": chosen and [chosen.dataset, chosen.split, sorted(chosen.score.items())],
            "depth": system.depth,
            "passages": system.passage_length,
            **recipe_checks.truncation_of(system),
            "export": plain(of_model(system).export),
        }

    def describe(self, experiment: Experiment, system: System) -> str:
        model = _model(experiment, system)
        words = f"{model.type} {system.model} ({model_text(experiment, system, model)}; {published_training(model)})"
        if system.recipes:
            words += training_text(experiment, system)
        words += recipe_checks.truncation_text(system) + self.ranking_text(system)
        if system.passage_length:
            words += f", texts split into passages of {system.passage_length} characters"
            words += " (MaxSim: maximum over the document's, sum over the query's)"
        return words

    def ranking_text(self, system: System) -> str:
        """Return the end of its description: the documents it ranks; empty if it searches the whole corpus."""
        return ""

    def provenance(self, experiment: Experiment, system: System) -> JsonObject:
        model = _model(experiment, system)
        facts = model_facts(experiment, system, model)
        stage: dict[str, object] = {"method": model.type, **facts, **recipe_checks.truncation_of(system)}
        if system.recipe_of:
            stage["training"] = {
                dataset: {"recipe": recipe, **stated(experiment.recipes[recipe])}
                for dataset, recipe in system.recipe_of.items()
            }
        elif system.choice:
            stage["training"] = choosing.provenance(experiment, system.choice)
        elif system.recipes:
            stage["training"] = {"recipe": system.recipe, **stated(experiment.recipes[system.recipe])}
        return stage


def _model(experiment: Experiment, system: System) -> Model:
    """Return the entry of a system's model."""
    assert system.model is not None  # systems of these types have one
    return experiment.models[system.model]


def seeds(given: int | tuple[int, ...]) -> tuple[int, ...]:
    """Return the seeds of an entry: 1, 2, ... up to the given number, or those of the given list."""
    return given if isinstance(given, tuple) else tuple(range(1, given + 1))


def _passage_length(check: Checker, name: str, entry: NeuralKeys) -> int | None:
    """Return the length of passages if the system splits texts, else None."""
    if entry.long_documents == "passages":
        return entry.passage_length or PASSAGE_LENGTH
    return None


def _recipe_of(check: Checker, key: str, entry: NeuralKeys) -> dict[str, str]:
    """Return dataset -> recipe for a system with a training per dataset; empty for one with a single recipe."""
    given = entry.recipe
    if given is None or isinstance(given, str):
        check.known(f"{key}.recipe", given or UNTRAINED, "recipes")
        return {}
    each = given.each or {}
    for dataset, recipe in each.items():
        check.known(f"{key}.recipe.each", dataset, "datasets")
        check.known(f"{key}.recipe.each.{dataset}", recipe, "recipes")
    return dict(each)


def _trained_for(
    check: Checker, name: str, recipe_of: dict[str, str], limited: tuple[str, ...] | None, tasks: dict[str, Task]
) -> tuple[str, ...]:
    """Return the tasks of the datasets for which a system has a recipe. Raises UserError if there are none."""
    ranked = [task.name for task in tasks.values() if task.dataset in recipe_of]
    if limited is not None and (without := [task for task in limited if task not in ranked]):
        datasets = ", ".join(recipe_of)
        raise check.fail(f"systems.{name}.tasks", f"no recipe for {without[0]!r}; its recipes are for {datasets}")
    if not ranked:
        raise check.fail(f"systems.{name}.recipe", f"no task is of the datasets {', '.join(recipe_of)}")
    return limited or tuple(ranked)


def _chain(config: Configuration, recipe: str | None) -> list[str]:
    """Return a recipe and those that it starts from, the last training first."""
    behind = []
    while recipe:
        behind.append(recipe)
        recipe = config.recipes[recipe].start_from
    return behind


def _training(config: Configuration, system: System) -> Any:
    """Return the recipes behind a system's checkpoints, without their names."""

    def of(recipe: str) -> list[JsonObject]:
        return [stated(config.recipes[name], "start_from") for name in _chain(config, recipe)]

    if system.recipe_of:
        return {dataset: of(recipe) for dataset, recipe in system.recipe_of.items()}
    return of(system.recipe) if system.recipes else []
