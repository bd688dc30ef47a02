"""The YAML front matter of a model card, as the hub of Hugging Face reads it (huggingface.co/docs/hub/model-cards)."""

from __future__ import annotations

from collections.abc import Sequence

from huggingface_hub import EvalResult, ModelCardData

from ranktrial.archive.model_card.exported import Exported
from ranktrial.archive.model_card.measured import Mean
from ranktrial.archive.model_card.places import hub_id

LIBRARY = "sentence-transformers"


def front_matter(found: Exported, means: Sequence[Mean]) -> str:
    """The front matter without its lines of hyphens."""
    learnt = [found.experiment.datasets[name] for name in datasets_of(found)]
    card = ModelCardData(
        language=list(dict.fromkeys(dataset.language for dataset in learnt)),
        library_name=LIBRARY,
        pipeline_tag=found.model_type.PIPELINE_TAG,
        tags=[LIBRARY, found.model.type, "information-retrieval", "ranktrial"],
        base_model=hub_id(found.model.weights),
        model_name=f"{found.system.label or found.system.name}, seed {found.seed}",
        eval_results=[_result(mean) for mean in means],
    )
    return str(card.to_yaml())


def datasets_of(found: Exported) -> list[str]:
    """The datasets that the checkpoint's trainings learnt from, the last training first."""
    chain = found.experiment.chain(found.system.recipe)
    return list(dict.fromkeys(name for recipe in chain.values() for name in recipe.datasets))


def _result(mean: Mean) -> EvalResult:
    return EvalResult(
        task_type="information-retrieval",
        task_name="Information Retrieval",
        dataset_type=mean.task.dataset,
        dataset_name=mean.task.label,
        dataset_split=mean.task.split,
        metric_type=mean.measure.lower(),
        metric_name=mean.measure,
        metric_value=round(mean.value, 6),
    )
