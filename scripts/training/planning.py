"""What the training jobs are given: paths and settings, from the experiment and the wildcards of rules/training.smk.

Also for rules/negatives.smk: examples, whose readable names are shared by all recipes with the same ones, the runs and
scores of mining, and a teacher's scores.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import NamedTuple

from ranktrial.common.keys import JsonObject, given, given_of, stated
from ranktrial.common.projection import projected
from ranktrial.configuration.sections.recipe import UNTRAINED, Negatives, Recipe
from ranktrial.experiment import job_files
from ranktrial.experiment.model_checks import prompts_by_dataset
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import SELECTED, path
from ranktrial.models.endpoint_keys import address_of, is_served
from ranktrial.models.judging_keys import Judging
from ranktrial.models.model_keys import Model, Weights
from ranktrial.training.training_settings import Settings

OF_POOL = ("exclude_evaluation", "range_min", "range_max")  # keys of `negatives` that determine the candidates


Inputs = dict[str, str | list[str]]  # the inputs of a job, by its options


class Examples(NamedTuple):
    """A set of training examples: those of a recipe for one of its datasets, and of one sample of the queries."""

    recipe: Recipe
    sample: int

    @property
    def dataset(self) -> str:
        """The dataset to which their queries belong."""
        return self.recipe.datasets[0]


def sample_of(recipe: Recipe, seed: int) -> int:
    """The number of the sample of training queries that a seed learns from; 1 if it learns from all."""
    return 1 if recipe.queries == "all" else (seed - 1) % recipe.samples + 1


def examples_name(recipe: Recipe, sample: int = 1) -> str:
    """The name of the training examples of a recipe and sample."""
    negatives, positives = recipe.negatives, recipe.positives
    source = "+".join(negatives.sources)
    words = [f"{recipe.labels}-labels_{negatives.per_query}-{source}-negatives_{recipe.queries}-queries"]
    from_all = negatives.from_ == "random" and negatives.range_max is None
    if (negatives.sampling_strategy != "top" or _cuts(negatives)) and not from_all:
        words.append(f"{negatives.sampling_strategy}-of-{_range(negatives)}")
    words += [f"{rule.replace('_', '-')}-{value}" for rule, value in negatives.filters.items()]
    if negatives.cross_encoder:
        words.append(f"scored-by-{negatives.cross_encoder}")
    if positives.per_query != "all":
        words.append(f"{positives.per_query}-positives")
    if positives.among_candidates:
        words.append("among-candidates")
    if positives.found_within:
        words.append(f"found-within-{positives.found_within}")
    if recipe.draws_by_epoch:
        words.append(f"{recipe.epochs}-draws")
    if recipe.bm25:
        words.append(f"by-{recipe.bm25}")
    return "_".join([*words, *_of_sample(recipe, sample)])


def pool_name(recipe: Recipe, sample: int = 1) -> str:
    """The name of the pool that a cross-encoder scores for the examples of a recipe and sample."""
    source = "+".join(recipe.negatives.sources)
    words = [f"{recipe.labels}-labels_{source}-candidates_{recipe.queries}-queries"]
    if _cuts(recipe.negatives):
        words.append(f"of-{_range(recipe.negatives)}")
    if recipe.positives.among_candidates:
        words.append("among-candidates")
    if recipe.bm25:
        words.append(f"by-{recipe.bm25}")
    return "_".join([*words, *_of_sample(recipe, sample)])


def _of_sample(recipe: Recipe, sample: int) -> list[str]:
    words = []
    if recipe.has_independent_samples:
        words.append(f"independent-sample-{sample}")
    elif sample > 1:
        words.append(f"sample-{sample}")
    if recipe.folds:
        words.append(f"without-fold-{recipe.left_out_fold}-of-{recipe.folds}")
    if not recipe.negatives.exclude_evaluation:
        words.append("with-evaluation-gold")
    return words


def examples_of(experiment: Experiment, dataset: str, name: str) -> Examples:
    """The examples of this name; all recipes that share them have the same settings for them."""
    return all_examples(experiment)[dataset, name]


def pool_of(experiment: Experiment, dataset: str, name: str) -> Examples:
    """The examples for which the pool of this name is scored; all that share it have the same settings for it."""
    return _all_pools(experiment)[dataset, name]


@cache
def all_examples(experiment: Experiment) -> dict[tuple[str, str], Examples]:
    """All examples, by dataset and name."""
    found: dict[tuple[str, str], Examples] = {}
    for recipe in itertools.chain(*(recipe.of_each_dataset for recipe in experiment.recipes.values())):
        for sample in range(1, recipe.samples + 1):
            found.setdefault((recipe.datasets[0], examples_name(recipe, sample)), Examples(recipe, sample))
    return found


@cache
def _all_pools(experiment: Experiment) -> dict[tuple[str, str], Examples]:
    found: dict[tuple[str, str], Examples] = {}
    for examples in all_examples(experiment).values():
        recipe, sample = examples
        if recipe.negatives.cross_encoder:
            found.setdefault((examples.dataset, pool_name(recipe, sample)), examples)
    return found


def settings_of(experiment: Experiment, examples: Examples) -> JsonObject:
    """The settings of the examples; keys that are not given have the defaults of negatives.py or mine.py."""
    recipe, _ = examples
    settings = {**stated(recipe.negatives, "draw"), **_of_labels(experiment, examples)}
    if recipe.negatives.mined:
        settings["from"] = list(recipe.negatives.sources)
    settings["positives"] = recipe.positives.per_query
    if recipe.positives.found_within:
        settings["found_within"] = recipe.positives.found_within
    if recipe.draws_by_epoch:
        settings["epochs"] = recipe.epochs
    return settings


def pool_settings_of(experiment: Experiment, examples: Examples) -> JsonObject:
    """The settings for collecting the pool that a cross-encoder scores for the examples."""
    negatives = stated(examples.recipe.negatives)
    cut = {key: negatives[key] for key in OF_POOL if key in negatives}
    return {**cut, "from": list(examples.recipe.negatives.sources), **_of_labels(experiment, examples)}


def _of_labels(experiment: Experiment, examples: Examples) -> JsonObject:
    """The settings for queries and labels."""
    recipe, sample = examples
    settings = {"labels": recipe.labels, "queries": recipe.queries, "seed": experiment.seed}
    settings["among_candidates"] = recipe.positives.among_candidates
    if sample > 1:
        settings["sample"] = sample
    if recipe.has_independent_samples:
        settings["sampling"] = "independent"
    if recipe.folds:
        settings |= {"folds": recipe.folds, "left_out_fold": recipe.left_out_fold}
    return settings


def _cuts(negatives: Negatives) -> bool:
    """Whether only a range of the ranking supplies candidates."""
    return (negatives.range_min, negatives.range_max) != (0, None)


def _range(negatives: Negatives) -> str:
    """The range of the ranking that supplies candidates, as a part of names."""
    return f"{negatives.range_min}-{'end' if negatives.range_max is None else negatives.range_max}"


def names_of_negatives(experiment: Experiment, of_systems: bool) -> list[str]:
    """The names of the examples whose negatives are mined from systems or filtered, or else of all others."""
    every = all_examples(experiment).items()
    found = [name for (_, name), (recipe, _) in every if recipe.negatives.mined == of_systems]
    return list(dict.fromkeys(found))


def bm25_run(experiment: Experiment, examples: Examples) -> str | list[str]:
    """BM25's run of the training queries, by a system that the recipe names or with Pyserini's defaults, if needed."""
    recipe = examples.recipe
    if not recipe.needs_bm25:
        return []
    if recipe.bm25:
        return _run(experiment, recipe.bm25, examples.dataset)
    return path("split_run", experiment=experiment.name, dataset=examples.dataset, split="train")


def runs(experiment: Experiment, examples: Examples) -> list[str]:
    """The runs of the training queries by the systems that supply negatives, each by its first seed."""
    return [_run(experiment, name, examples.dataset) for name in examples.recipe.negatives.systems]


def _run(experiment: Experiment, system: str, dataset: str) -> str:
    return job_files.runs(experiment, experiment.systems[system], experiment.task_of_split(dataset, "train"))[0]


def filtering_scores(experiment: Experiment, dataset: str, examples: str) -> str | list[str]:
    """The scores of a cross-encoder, if one filters."""
    recipe, sample = examples_of(experiment, dataset, examples)
    if not recipe.negatives.cross_encoder:
        return []
    system = recipe.negatives.cross_encoder
    fields = {"dataset": dataset, "pairs": pool_name(recipe, sample), "system": system}
    seed = scorer_seed(experiment, dataset, system)
    return path("pair_scores", experiment=experiment.name, scored="negatives", **fields, seed=seed)


def scorer_seed(experiment: Experiment, dataset: str, system: str) -> int | str:
    """The seed of a model that scores training queries: its first seed, or the one selected on another dataset."""
    chosen = experiment.systems[system]
    own = chosen.selection is None or chosen.selection.dataset == dataset
    return chosen.seeds[0] if own else SELECTED


def mining_records(experiment: Experiment) -> list[str]:
    """The mining records for the trainings behind all systems, one per set of examples."""
    found: dict[str, None] = {}
    for system in experiment.systems.values():
        for last, own_seed in itertools.product(system.recipes, system.seeds):
            seed = own_seed
            for name, recipe in experiment.chain(last).items():
                if recipe.negatives.mined:
                    examples = examples_name(recipe, sample_of(recipe, seed))
                    for dataset in recipe.datasets:
                        fields = {"dataset": dataset, "examples": examples}
                        found[path("mining_record", experiment=experiment.name, **fields)] = None
                seed = experiment.starting_seed(name, seed)
    return list(found)


def code_of_evaluation(experiment: Experiment, recipe: str) -> list[str]:
    """The module, relative to scripts/, that a training loads by name if it evaluates."""
    return ["ranktrial/training/dev_evaluation.py"] if experiment.recipes[recipe].evaluate else []


def examples_settings(experiment: Experiment, dataset: str, examples: str) -> JsonObject:
    """The settings for choosing examples."""
    return settings_of(experiment, examples_of(experiment, dataset, examples))


def pairs_script(scored: str) -> str:
    """The script that collects the pairs to score: candidate negatives, or the examples of a teacher's students."""
    return {"negatives": "training/pool.py", "teachers": "training/pairs.py"}[scored]


def _inputs_of(experiment: Experiment, examples: Examples) -> Inputs:
    """What examples are chosen from: texts, judgements (those of dev and test if their documents are excluded), and
    BM25's run if labels, positives or negatives come from it.
    """
    fields = {"experiment": experiment.name, "dataset": examples.dataset}
    excluded = ("dev", "test") if examples.recipe.negatives.exclude_evaluation else ()
    return {
        "corpus": job_files.corpus(experiment, examples.dataset),
        "queries": path("queries", **fields, split="train"),
        "qrels": path("qrels", **fields, split="train"),
        "evaluation_qrels": [path("qrels", **fields, split=split) for split in excluded],
        "first_stage": bm25_run(experiment, examples),
    }


def examples_inputs(experiment: Experiment, dataset: str, examples: str) -> Inputs:
    """The inputs for choosing examples, with runs and scores if negatives are mined."""
    chosen = examples_of(experiment, dataset, examples)
    mined = {"runs": runs(experiment, chosen), "scores": filtering_scores(experiment, dataset, examples)}
    return _inputs_of(experiment, chosen) | (mined if chosen.recipe.negatives.mined else {})


def pairs_inputs(experiment: Experiment, scored: str, dataset: str, pairs: str) -> Inputs:
    """The inputs for collecting pairs."""
    if scored == "teachers":
        return {"negatives": path("negatives", experiment=experiment.name, dataset=dataset, examples=pairs)}
    examples = pool_of(experiment, dataset, pairs)
    return _inputs_of(experiment, examples) | {"runs": runs(experiment, examples)}


def pairs_settings(experiment: Experiment, scored: str, dataset: str, pairs: str) -> JsonObject:
    """The settings for collecting pairs."""
    return {} if scored == "teachers" else pool_settings_of(experiment, pool_of(experiment, dataset, pairs))


def training_inputs(experiment: Experiment, model: str, recipe: str, seed: str) -> Inputs:
    """The inputs of a training: the checkpoint from which it starts; by dataset texts or passages, examples and a
    teacher's scores; and, if it evaluates, BM25's run of the first dataset's dev queries, their texts and judgements.
    """
    entry = experiment.recipes[recipe]
    length, name = entry.length_of_passages, examples_name(entry, sample_of(entry, int(seed)))
    before = {"recipe": entry.start_from or UNTRAINED, "seed": experiment.starting_seed(recipe, int(seed))}
    of = {dataset: {"experiment": experiment.name, "dataset": dataset} for dataset in entry.datasets}
    scored = {"scored": "teachers", "system": entry.teacher, "pairs": name}
    taught, evaluated = of if entry.teacher else (), entry.datasets[:1] if entry.evaluate else ()
    return {
        "dev_run": [path("split_run", **of[dataset], split="dev") for dataset in evaluated],
        "dev_queries": [job_files.texts(experiment, dataset, "queries/dev", length) for dataset in evaluated],
        "dev_qrels": [path("qrels", **of[dataset], split="dev") for dataset in evaluated],
        "start": path("checkpoint", experiment=experiment.name, model=model, **before),
        "corpus": [job_files.corpus(experiment, dataset, length) for dataset in of],
        "queries": [job_files.texts(experiment, dataset, "queries/train", length) for dataset in of],
        "negatives": [path("negatives", **of[dataset], examples=name) for dataset in of],
        "scores": [
            path("pair_scores", **of[dataset], **scored, seed=scorer_seed(experiment, dataset, str(entry.teacher)))
            for dataset in taught
        ],
    }


def gpus(experiment: Experiment, recipe: str) -> int:
    """The number of GPUs that a training requests from a cluster, per node; none with `device: cpu`."""
    return 0 if experiment.device == "cpu" else experiment.recipes[recipe].gpus


def nodes(experiment: Experiment, recipe: str) -> int:
    """The number of nodes that a training requests from a cluster."""
    return experiment.recipes[recipe].nodes


def tasks(experiment: Experiment, recipe: str) -> int | None:
    """The number of Slurm tasks that a training without GPUs requests: one per node, or Slurm would give only one."""
    return nodes(experiment, recipe) if experiment.device == "cpu" else None


def trained_recipes(experiment: Experiment) -> list[str]:
    """The recipes that are trained, without those that stand for the best of several."""
    return [name for name, entry in experiment.recipes.items() if not entry.chosen]


def training_settings(experiment: Experiment, model: str, recipe: str, seed: str) -> JsonObject:
    """The settings for fine-tuning a model."""
    entry, trained = experiment.recipes[recipe], experiment.models[model]
    how = entry.evaluate
    own = {
        **_prompts(experiment, trained, entry),
        "draw": entry.negatives.draw,
        "evaluate": {**given(how), "batch_size": trained.batch_size} if how else None,
        "datasets": entry.datasets if len(entry.datasets) > 1 else None,
        "seed": int(seed),
    }
    return projected(Settings, entry, trained, experiment, **own)


def _prompts(experiment: Experiment, model: Model, recipe: Recipe) -> JsonObject:
    """The prompts of a training, or those of each of its datasets, in order."""
    each = prompts_by_dataset(experiment, model, recipe.datasets)
    return {"prompts": each.get("") or None, "prompts_by_dataset": None if "" in each else tuple(each.values())}


def weights_source(experiment: Experiment, model: str) -> tuple[str | None, str | None]:
    """The location and revision of a model's own weights; both None for a model behind an endpoint."""
    entry = experiment.models[model]
    return (None, None) if is_served(entry) else (entry.weights, entry.revision)


def weights_settings(experiment: Experiment, model: str) -> JsonObject:
    """The requirements on a model's own weights, or the address of its endpoint."""
    entry = experiment.models[model]
    if is_served(entry):
        return {"endpoint": address_of(entry)}
    return given_of(Weights, entry) | given_of(Judging, entry)
