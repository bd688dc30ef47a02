"""The parameters of pseudo-relevance feedback: terms of a query's top documents are added to it for a second search.

RM3: Abdul-Jaleel et al. (2004), UMass at TREC 2004. Rocchio (1971), Relevance feedback in information retrieval. Names
are similar to Anserini's (fbTerms, fbDocs, originalQueryWeight, alpha, beta, gamma). Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Collection

RM3_DOCUMENTS = 50  # Anserini's RM3 sees no more of the first search (its rerankCutoff)
NEGATIVE = "gamma"  # with it, the terms of a run's last documents are subtracted
METHODS = {
    "rm3": ("feedback_terms", "feedback_documents", "original_query_weight"),
    "rocchio": (
        "feedback_terms",
        "feedback_documents",
        "alpha",
        "beta",
        "gamma",
        "negative_terms",
        "negative_documents",
    ),
}


def parameters_of(method: str, given: Collection[str]) -> tuple[str, ...]:
    """The parameters of a method, given these: those of Rocchio's negative documents exist only with their weight."""
    names = METHODS[method]
    return names[: names.index(NEGATIVE)] if NEGATIVE in names and NEGATIVE not in given else names
