"""The row reranking with a cross-encoder of BERT-base's size, whose weights are drawn: how large a model is, not how good,
decides its time. 20 documents per query, on a GPU 1,000."""

from pathlib import Path

from tests.benchmark import inputs, limits
from tests.benchmark.rows import reranking

TITLE = "re-ranking by a cross-encoder of BERT-base's size, against CrossEncoder.predict"
UNIT = reranking.UNIT
SIZES = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12}
SPREAD = 0.1  # of the head's weights, for scores that differ by more than roundings

SIDES, operations, agree = reranking.SIDES, reranking.operations, reranking.agree


def prepare(folder: Path, small: bool) -> int:
    """Write the pairs, and a model of that size (two layers if `small`) with the vocabulary of the other row's."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification, set_seed

    tokenizer = AutoTokenizer.from_pretrained(inputs.checkpoint())
    sizes = SIZES | ({"num_hidden_layers": 2} if small else {})
    set_seed(1)
    drawn = BertForSequenceClassification(BertConfig(vocab_size=len(tokenizer), num_labels=1, **sizes))
    torch.nn.init.normal_(drawn.classifier.weight, std=SPREAD)
    drawn.save_pretrained(folder / "drawn")
    tokenizer.save_pretrained(folder / "drawn")
    inputs.write_cross_encoder(folder / "model", folder / "drawn")
    return reranking.write_pairs(
        folder, *((1000, 3, 20) if limits.on_gpu() and not small else (20, 1, 1 if small else 10))
    )
