"""How many tokens a model takes, for every family of transformers that leaves positions unused: as the model does."""

from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.models import loading  # first: it sets what the libraries read while they are imported

POSITIONS, PADDING = 13, 3
SIZES = {"hidden_size": 48, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8, "vocab_size": 20}
COUNT_FROM_ZERO = ("bert", "electra")
OF_FAMILY = {
    "longformer": {"attention_window": [4]},
    "luke": {"entity_vocab_size": 9},
    "xmod": {"default_language": "en_XX"},
    "lilt": {"max_2d_position_embeddings": 8, "channel_shrink_ratio": 1},
}


def families():
    """The families of text encoders whose code can count positions from the padding token, and two whose code cannot."""
    import transformers
    from transformers.models.auto import modeling_auto as auto
    from transformers.models.auto.configuration_auto import model_type_to_module_name

    folder = Path(transformers.__file__).parent / "models"
    of_texts = auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES | auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES
    for name in of_texts:
        code = folder.glob(f"{model_type_to_module_name(name)}/modeling_*.py")
        if any("create_position_ids_from_input_ids" in file.read_text() for file in code):
            yield name
    yield from COUNT_FROM_ZERO


# These read more than tokens (an image, a document's layout), or have no table of positions.
OTHERS = {"layoutlmv3", "m2m_100", "nllb-moe"}


def takes(whole, count: int) -> bool:
    import torch

    try:
        with torch.inference_mode():
            return bool(whole(torch.full((1, count), 5)).last_hidden_state.isfinite().all())
    except (IndexError, RuntimeError):
        return False


@pytest.mark.parametrize("name", [name for name in families() if name not in OTHERS])
def test_a_model_takes_as_many_tokens_as_are_said_and_not_one_more(name, tmp_path):
    from transformers import AutoConfig, AutoModel

    loading.quiet()
    given = SIZES | {"pad_token_id": PADDING, "max_position_embeddings": POSITIONS, **OF_FAMILY.get(name, {})}
    whole = AutoModel.from_config(AutoConfig.for_model(name, **given)).eval()
    most = max(count for count in range(1, POSITIONS + 2) if takes(whole, count))
    assert (most < POSITIONS) == (name not in COUNT_FROM_ZERO)
    loading.check_length(whole, tmp_path, most)
    with pytest.raises(UserError, match=f"max_length is {most + 1}, but this model takes at most {most} tokens$"):
        loading.check_length(whole, tmp_path, most + 1)
