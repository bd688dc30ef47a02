"""Listwise: a language model behind an endpoint orders the best documents of a first stage, window by window.

In: data/{dataset}/, runs/ of first stages. Out, for a listwise system: runs/{task}/{system}/seed-{seed}.trec.gz with
its timing and all answers; answers are stored next to the run as they arrive, so that none is requested twice.
"""

from scripts.inference import planning as inference

measured("rerank_listwise")


use rule in_workflow as rerank_listwise with:
    input:
        unpack(planned(inference.listwise_inputs)),
    output:
        run=result("run"),
        timing=result("run_timing"),
        answers=result("run_answers"),
    wildcard_constraints:
        system=systems_of_type("listwise"),
    params:
        **job("inference/listwise.py", planned(inference.listwise_settings)),
