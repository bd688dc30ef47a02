"""bm25s: BM25 in NumPy. pip install bm25s==0.3.16"""

import bm25s


class BM25S:
    def __init__(self, k1=1.5, b=0.75):
        self.bm25 = bm25s.BM25(k1=k1, b=b)

    def index(self, corpus):
        self.ids = list(corpus)
        self.bm25.index(bm25s.tokenize([f"{text['title']} {text['text']}" for text in corpus.values()]))

    def search(self, queries, k):
        found, scores = self.bm25.retrieve(bm25s.tokenize(list(queries.values())), k=min(k, len(self.ids)))
        return {
            query: {self.ids[d]: s for d, s in zip(*row, strict=True)}
            for query, *row in zip(queries, found, scores, strict=True)
        }
