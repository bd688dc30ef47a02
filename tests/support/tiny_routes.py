"""A sparse encoder whose queries need no inference: a weight of each term, beside a tiny masked BERT for documents."""

from pathlib import Path

import numpy as np

from tests.support.tiny_bert import build_masked


def build_routed(folder: Path, texts: list[str], seed: int, frozen: bool = True) -> Path:
    """Write the model as sentence-transformers saves a Router; returns its folder."""
    import torch
    from sentence_transformers import SparseEncoder
    from sentence_transformers.base.modules import Router
    from sentence_transformers.sparse_encoder.modules import SparseStaticEmbedding, SpladePooling, Transformer

    masked = build_masked(folder.with_name(f"{folder.name}-masked"), texts, seed)
    documents = Transformer(str(masked), transformer_task="fill-mask")
    terms = len(documents.tokenizer.get_vocab())
    weights = torch.from_numpy(np.random.default_rng(seed).uniform(0.5, 3, terms).astype(np.float32))
    queries = SparseStaticEmbedding(documents.tokenizer, weights, frozen=frozen)
    router = Router.for_query_document([queries], [documents, SpladePooling("max")])
    SparseEncoder(modules=[router], similarity_fn_name="dot").save_pretrained(str(folder), create_model_card=False)
    return folder
