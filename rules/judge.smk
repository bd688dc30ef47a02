"""Judges: a language model behind an endpoint judges ranked documents, as further judgements of a dataset.

In: texts and runs and, to fill gaps, the human judgements. Out: data/{dataset}/qrels/, statistics.json, with all
answers and the timing.
"""

from ranktrial.engine.rule_helpers import settings
from ranktrial.engine.rule_helpers import one_of
from ranktrial.experiment.judged import judges_of
from ranktrial.experiment.results_paths import SPLITS
from scripts.inference import planning_judge as judge


rule judge:
    input:
        unpack(lambda wildcards: judge.inputs(EXPERIMENT, wildcards.dataset)),
    output:
        qrels=expand(result("qrels"), split=SPLITS, allow_missing=True),
        statistics=result("statistics"),
        answers=result("judge_answers"),
        timing=result("judge_timing"),
    log:
        result("log", job="judge/{dataset}"),
    benchmark:
        result("benchmark", job="judge/{dataset}")
    wildcard_constraints:
        dataset=one_of(judges_of(EXPERIMENT)),
    params:
        code=code("inference/judge.py"),
        settings=lambda wildcards: settings(**judge.settings(EXPERIMENT, wildcards.dataset)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "judge {wildcards.dataset}"
    shell:
        "python {params.code[script]:q} --corpus {input.corpus:q} --queries {input.queries:q} --runs {input.runs:q}"
        " --known {input.known:q} --resume {output.answers:q}.resume --qrels {output.qrels:q} --statistics {output.statistics:q}"
        " --answers {output.answers:q} --timing {output.timing:q} --settings {params.settings:q} --log {log:q}"
