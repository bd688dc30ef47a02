"""Six scores of split articles from the same vectors of passages: which of them makes a bi-encoder collapse?

    make run CONFIG=config/factcheck-laptop.yaml
    .venv/bin/python docs/split_scorers.py > docs/studies/claims/scorers.tsv

Reads the passages, BM25's runs, judgements and the untrained model of that run, and re-ranks BM25's best 250 articles
as `base-split` does, whose score is the first. The others are what a script could compute by mistake.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer

import ranktrial as rt
from ranktrial.ir.collection import passages_of
from ranktrial.ir.trec import read_qrels, read_run, top

RESULTS = Path("results/factcheck-laptop")
TASKS = {"tweet": "politifact-tweet", "tweet+image": "politifact-image"}
DEPTH = 250
MEASURES = ("RR@1", "RR@5", "nDCG@5", "R@5")
SCORES = {  # of the similarities of shape (passages of the tweet, passages of the article)
    "sum over the tweet of the maximum over the article": lambda pairs: pairs.max(axis=1).sum(),
    "sum over the article of the maximum over the tweet": lambda pairs: pairs.max(axis=0).sum(),
    "the same with the sigmoid of each similarity": lambda pairs: (1 / (1 + np.exp(-pairs))).max(axis=0).sum(),
    "sum of all similarities": np.sum,
    "mean of all similarities": np.mean,
    "maximum of all similarities": np.max,
}


def main() -> None:
    (weights,) = RESULTS.glob("models/*/untrained/seed-0")
    model = SentenceTransformer(str(weights), device="cpu")
    model.max_seq_length = 128

    def vectors(texts: dict[str, list[str]]) -> dict[str, np.ndarray]:
        encoded = model.encode([part for parts in texts.values() for part in parts], normalize_embeddings=True)
        ends = np.cumsum([len(parts) for parts in texts.values()])
        return dict(zip(texts, np.split(encoded, ends[:-1]), strict=True))

    (corpus,) = RESULTS.glob(f"passages/{TASKS['tweet']}/*/corpus.jsonl")
    articles = vectors(passages_of(corpus))
    print("query", "score of an article", *MEASURES, "articles in first place", sep="\t")
    for query_text, task in TASKS.items():
        (tweets,) = RESULTS.glob(f"passages/{task}/*/queries/test.jsonl")
        queries = vectors(passages_of(tweets))
        first_stage = read_run(RESULTS / f"runs/{task}/pyserini/seed-0.trec.gz")
        qrels = read_qrels(RESULTS / f"data/{task}/qrels/test.qrels")
        for name, score in SCORES.items():
            run = {
                query: {one: float(score(queries[query] @ articles[one].T)) for one in top(first_stage[query], DEPTH)}
                for query in queries
            }
            values = rt.evaluate(qrels, {"split": run}, MEASURES).groupby("measure")["value"].mean()
            first = len({max(documents, key=documents.__getitem__) for documents in run.values()})
            means = (f"{values[measure]:.3f}".replace("0.", ".", 1) for measure in MEASURES)
            print(query_text, name, *means, first, sep="\t")


if __name__ == "__main__":
    main()
