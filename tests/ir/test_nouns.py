"""What comparisons are over, in words."""

import pytest

from ranktrial.ir.nouns import LEADERBOARD, RETRIEVAL, SCORES, nouns_of


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "map", "mrr", "recip_rank", "nDCG@10 and accuracy", "recall@100", "cosine_ndcg@10", "ndcg_at_10"])  # fmt: skip
def test_measures_of_rankings_are_over_collections_and_queries(measure):
    assert nouns_of(measure, of_tasks=False) is RETRIEVAL


@pytest.mark.parametrize("measure", ["accuracy", "Accuracy", "acc_norm", "F1", "exact_match", "pass@1", "spearman", "score", "recall", "", "a, b and c"])  # fmt: skip
def test_other_values_are_over_tasks_and_samples(measure):
    assert nouns_of(measure, of_tasks=False) is SCORES


def test_only_whole_words_are_said_in_other_words():
    said = "One collection of queries, each query of these collections; subquery, query2doc"
    assert SCORES.say(said) == "One task of samples, each sample of these tasks; subquery, query2doc"
    assert RETRIEVAL.say(said) == said
    assert (SCORES.of_queries(1), RETRIEVAL.of_queries(1200)) == ("1 sample", "1,200 queries")
    assert nouns_of("nDCG@10", of_tasks=True) is LEADERBOARD and nouns_of("acc, AP", of_tasks=False) is RETRIEVAL
