"""PyTerrier: a pipeline over PISA's index, without Java. pip install pyterrier==1.1.2 pyterrier-pisa==0.4.9"""

import tempfile

import pandas as pd
from pyterrier_pisa import PisaIndex


class Pipeline:
    def index(self, corpus):
        index = PisaIndex(f"{tempfile.mkdtemp()}/index", text_field=["title", "text"])
        index.index({"docno": name, **document} for name, document in corpus.items())
        self.pipeline = 2 * index.bm25() + index.dph()

    def search(self, queries, k):
        asked = pd.DataFrame(queries.items(), columns=["qid", "query"])
        found = (self.pipeline % k)(asked)
        return {query: dict(zip(rows.docno, rows.score, strict=True)) for query, rows in found.groupby("qid")}
