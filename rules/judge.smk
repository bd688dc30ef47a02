"""Judges: a language model behind an endpoint judges ranked documents, as further judgements of a dataset.

In: texts and runs and, to fill gaps, the human judgements. Out: data/{dataset}/qrels/, statistics.json, with all
answers and the timing.
"""

from ranktrial.experiment.judged import judges_of
from ranktrial.experiment.results_paths import SPLITS
from scripts.inference import planning as inference

measured("judge")


use rule in_workflow as judge with:
    input:
        unpack(planned(inference.judge_inputs)),
    output:
        qrels=expand(result("qrels"), split=SPLITS, allow_missing=True),
        statistics=result("statistics"),
        answers=result("judge_answers"),
        timing=result("judge_timing"),
    wildcard_constraints:
        dataset=one_of(judges_of(EXPERIMENT)),
    params:
        **job("inference/judge.py", planned(inference.judge_settings)),
