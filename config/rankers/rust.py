"""Tantivy: BM25 in Rust, with Lucene's scores. pip install tantivy==0.27.0"""

import re

import tantivy


class Tantivy:
    def index(self, corpus):
        fields = tantivy.SchemaBuilder()
        fields.add_text_field("id", stored=True, tokenizer_name="raw")
        fields.add_text_field("body", tokenizer_name="en_stem")
        self.all = tantivy.Index(fields.build())
        writer = self.all.writer(num_threads=1)
        for name, document in corpus.items():
            writer.add_document(tantivy.Document(id=name, body=f"{document['title']} {document['text']}"))
        writer.commit()
        self.all.reload()

    def search(self, queries, k):
        searcher, found = self.all.searcher(), {}
        for query, text in queries.items():
            words = " ".join(re.findall(r"\w+", text.lower()))  # without the operators of its query language
            hits = searcher.search(self.all.parse_query(words, ["body"]), k).hits if words else []
            found[query] = {searcher.doc(place)["id"][0]: score for score, place in hits}
        return found
