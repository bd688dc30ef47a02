"""Listwise: a language model behind an endpoint orders the best documents of a first stage, window by window.

In: data/{dataset}/, runs/ of first stages. Out, for a listwise system: runs/{task}/{system}/seed-{seed}.trec.gz with
its timing and all answers; answers are stored next to the run as they arrive, so that none is requested twice.
"""

from ranktrial.engine.rule_helpers import settings
from scripts.inference import planning as inference


rule rerank_listwise:
    input:
        unpack(lambda wildcards: inference.listwise_inputs(EXPERIMENT, **wildcards)),
    output:
        run=result("run"),
        timing=result("run_timing"),
        answers=result("run_answers"),
    log:
        result("log", job="rerank_listwise/{task}/{system}/seed-{seed}"),
    benchmark:
        result("benchmark", job="rerank_listwise/{task}/{system}/seed-{seed}")
    wildcard_constraints:
        system=systems_of_type("listwise"),
    params:
        code=code("inference/listwise.py"),
        settings=lambda wildcards: settings(**inference.listwise_settings(EXPERIMENT, wildcards.system, wildcards.seed)),
    conda:
        "../../envs/evaluation.yaml"
    message:
        "rerank_listwise {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --corpus {input.corpus:q} --queries {input.queries:q} --first-stage {input.first_stage:q}"
        " --resume {output.run:q}.resume --run {output.run:q} --timing {output.timing:q} --answers {output.answers:q}"
        " --settings {params.settings:q} --log {log:q}"
