"""Score and rank of the candidates in the first stage. Reads and writes no files."""

from __future__ import annotations

import numpy as np

from ranktrial.features.families import Candidates, of_pairs

NAME = "first-stage"


@of_pairs("first_stage_score", by_field=False)
def first_stage_score(candidates: Candidates) -> np.ndarray:
    """The score in the first stage's run, unchanged (Chekalina and Panchenko 2021, the ChatNoir score)."""
    return candidates.first_stage_score


@of_pairs("first_stage_rank", by_field=False)
def first_stage_rank(candidates: Candidates) -> np.ndarray:
    """The rank in the first stage's run, from 1, in the order of trec_eval: score, then document id, descending."""
    return candidates.first_stage_rank
