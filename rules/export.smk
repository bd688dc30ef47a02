"""Export: a checkpoint, trained or not, becomes one in ONNX for systems with `backend: onnx` or `openvino`, in fp32 or int8.

In: models/{model}/{recipe}/seed-{seed}. Out: models/{model}/{recipe}+{backend}-{precision}/seed-{seed}, from which the rules of
inference encode and rank as from any checkpoint.
"""

from scripts.experiment.results_paths import exported_recipe


rule export:
    input:
        checkpoint=result("checkpoint"),
    output:
        exported=directory(result("checkpoint", recipe=exported_recipe("{recipe}", "{backend}", "{precision}"))),
    log:
        result("log", job="export/{model}/{recipe}/{backend}-{precision}/seed-{seed}"),
    benchmark:
        result("benchmark", job="export/{model}/{recipe}/{backend}-{precision}/seed-{seed}")
    wildcard_constraints:
        recipe=one_of([UNTRAINED, *EXPERIMENT.recipes]),
        backend="onnx|openvino",
        precision="fp32|int8",
    params:
        code=code_of_model("inference/export.py"),
        settings=lambda wildcards: settings(
            **inference.export_settings(EXPERIMENT, wildcards.model, wildcards.backend, wildcards.precision)
        ),
    conda:
        "../envs/neural.yaml"
    message:
        "export {wildcards.model} {wildcards.recipe} {wildcards.backend} {wildcards.precision} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --checkpoint {input.checkpoint:q} --exported {output.exported:q}"
        " --settings {params.settings:q} --log {log:q}"
