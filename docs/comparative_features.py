"""Do the three comparative features help to rank the answers to questions that compare two things?

    .venv/bin/python docs/comparative_features.py results/downloads/pypi-insuranceqa_data==1.2

Reads InsuranceQA as the example fetches it (make run), and takes the questions in which the rules find two objects.
BM25 ranks all answers; its first 100 are ordered by its score plus a weighted feature. The weight is chosen on four
fifths of the questions and used on the last. Prints nDCG@10 and the difference from BM25 with its 95% interval.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

import ranktrial as rt
from ranktrial.common.unpacking import opened
from ranktrial.datasets.formats import insuranceqa
from ranktrial.ir.comparative import features, normalised, read_document, tag_question

K1, B, DEPTH, FOLDS = 0.9, 0.4, 100, 5
WEIGHTS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
STOPS = (  # Lucene's for English
    " a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
    "to was will with "
)
NAMES = ("objects", "aspects and predicates", "structure")


def terms(text: str) -> list[str]:
    """The words of a text in the singular, without stop words."""
    return [word for word in normalised(text).split() if f" {word} " not in STOPS]


def term_weights(texts: list[str]) -> tuple[sparse.csc_matrix, dict[str, int]]:
    """BM25's weight of each term (column) in each text (row), and the columns of the terms."""
    counts = [Counter(terms(text)) for text in texts]
    column = {term: number for number, term in enumerate(dict.fromkeys(term for text in counts for term in text))}
    lengths = np.array([sum(text.values()) for text in counts])
    frequency = Counter(term for text in counts for term in text)
    rows, columns, values = [], [], []
    for row, text in enumerate(counts):
        norm = K1 * (1 - B + B * lengths[row] / lengths.mean())
        for term, tf in text.items():
            idf = np.log(1 + (len(texts) - frequency[term] + 0.5) / (frequency[term] + 0.5))
            rows.append(row)
            columns.append(column[term])
            values.append(idf * tf / (tf + norm))
    return sparse.csc_matrix((values, (rows, columns)), shape=(len(texts), len(column))), column


def ndcg(order: np.ndarray, relevant: np.ndarray, number: int) -> float:
    """nDCG@10 of binary judgements; `number` of them are relevant in the whole collection."""
    discounts = 1 / np.log2(np.arange(2, 12))
    return float((relevant[order[:10]] * discounts[: len(order[:10])]).sum() / discounts[: min(number, 10)].sum())


def main() -> None:
    with opened(Path(sys.argv[1])) as root:
        collection = insuranceqa.read(root, insuranceqa.Options())
        documents = list(collection.documents or [])
    asked = {
        query: text
        for queries in collection.queries.values()
        for query, text in queries.items()
        if len(tag_question(text).objects) == 2
    }
    qrels = {query: of for split in collection.qrels.values() for query, of in split.items()}
    weights, column = term_weights([document.text for document in documents])
    ids = np.array([document.id for document in documents])
    cases = []
    for query, text in asked.items():
        known = [column[term] for term in set(terms(text)) if term in column]
        score = np.asarray(weights[:, known].sum(axis=1)).ravel()
        first = np.argsort(-score, kind="stable")[:DEPTH]
        found = [features(tag_question(text), read_document(documents[at].text)) for at in first]
        relevant = np.array([ids[at] in qrels[query] for at in first], dtype=float)
        cases.append((query, score[first], np.array(found, dtype=float), relevant, len(qrels[query])))
    print(
        f"{len(cases)} questions, {sum(case[3].sum() for case in cases):.0f} relevant answers in BM25's first {DEPTH}"
    )
    chosen_weights: dict[str, list[float]] = {}
    rows = [("InsuranceQA", query, "BM25", ndcg(np.arange(DEPTH), rel, n)) for query, _, _, rel, n in cases]
    for chosen in ([0], [1], [2], [0, 1, 2]):
        system = "all three" if len(chosen) > 1 else NAMES[chosen[0]]
        values = {
            weight: np.array([
                ndcg(np.argsort(-(score + weight * found[:, chosen].sum(axis=1)), kind="stable"), relevant, number)
                for _, score, found, relevant, number in cases
            ])
            for weight in WEIGHTS
        }  # fmt: skip
        fold = np.arange(len(cases)) % FOLDS
        for number in range(FOLDS):
            best = max(WEIGHTS, key=lambda weight: values[weight][fold != number].mean())
            rows += [("InsuranceQA", cases[at][0], system, values[best][at]) for at in np.flatnonzero(fold == number)]
            chosen_weights.setdefault(system, []).append(best)
    frame = pd.DataFrame(rows, columns=["task", "query", "system", "value"])
    print(frame.groupby("system")["value"].mean().round(3).to_string())
    effects = rt.compare(frame, control="BM25", measure="nDCG@10").effects
    print(effects[["comparison", "effect", "ci_low", "ci_high", "t_p_value"]].to_string())
    print("weights by fold:", chosen_weights)
    separated = [np.concatenate([case[2][case[3] == kind] for case in cases]).mean(axis=0) for kind in (1, 0)]
    for name, *means in zip(NAMES, *separated, strict=True):
        print(f"{name}: mean {means[0]:.3f} of relevant answers, {means[1]:.3f} of others in the first {DEPTH}")


if __name__ == "__main__":
    main()
