"""Encoding: build an index of each corpus, or of its passages, for each checkpoint of a model that searches.

In: models/, data/{dataset}/corpus.jsonl, passages/{dataset}/{length}/corpus.jsonl. Out, each with its timing:
embeddings/{dataset}/{model}/{recipe}/seed-{seed}.{form} (or embeddings/{dataset}/passages-{length}/...), a folder in
the form that the model's type states; with `shards`, it is joined from seed-{seed}.shards/{shard}-of-{shards}.{form},
one job each; also seed-{seed}.{made}, an index made from another one: codes, or for faiss. Also checkpoints in ONNX:
models/{model}/{recipe}+{form}/.
"""

from ranktrial.experiment import job_files
from ranktrial.experiment.records import UNTRAINED
from ranktrial.experiment.results_paths import exported_recipe, FIELDS
from scripts.inference import planning as inference

INDEXED = job_files.indexed(EXPERIMENT)


def parts_of_index(name):
    """The files of all shards of an encoded corpus."""
    return expand(result(name), part=inference.parts(EXPERIMENT), allow_missing=True)


measured("encode", "join", "make_index", "export")


use rule in_neural as encode with:
    input:
        checkpoint=result("checkpoint"),
        corpus=planned(inference.encoded_corpus),
    output:
        index=directory(result("embeddings")),
        timing=result("embeddings_timing"),
    wildcard_constraints:
        passages=FIELDS["passages"],
        model=one_of(INDEXED),
        part=inference.encoded_parts(EXPERIMENT),
        form=one_of(sorted({*INDEXED.values()})),
    params:
        **job(
            code_of_model("inference/encode.py", planned(inference.index_modules)),
            planned(inference.encoding_settings),
        ),
    message:
        "encode {wildcards.dataset}{wildcards.passages} {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}{wildcards.part}"


use rule in_neural as join with:
    input:
        checkpoint=result("checkpoint"),
        shards=parts_of_index("embeddings"),
        timings=parts_of_index("embeddings_timing"),
    output:
        index=directory(result("embeddings", part="")),
        timing=result("embeddings_timing", part=""),
    wildcard_constraints:
        passages=FIELDS["passages"],
        model=one_of(INDEXED if EXPERIMENT.shards > 1 else []),
        form=one_of(sorted({*INDEXED.values()})),
    params:
        **job(
            "inference/join.py",
            lambda wildcards: dict(form=wildcards.form),
            planned(inference.index_modules),
        ),
    message:
        "join {wildcards.dataset}{wildcards.passages} {wildcards.model} {wildcards.recipe} seed-{wildcards.seed}"


use rule in_neural as make_index with:
    input:
        vectors=planned(inference.vectors_coded),
    output:
        index=directory(result("made_index")),
        timing=result("made_index_timing"),
    wildcard_constraints:
        made=FIELDS["made"],
    params:
        **job("inference/make_index.py", planned(inference.making_settings), planned(inference.making_modules)),


use rule in_neural as export with:
    input:
        checkpoint=result("checkpoint"),
    output:
        exported=directory(result("checkpoint", recipe=exported_recipe("{recipe}", "onnx", "{precision}"))),
    wildcard_constraints:
        recipe=one_of([UNTRAINED, *EXPERIMENT.recipes]),
        precision="fp32|int8",
    params:
        **job(code_of_model("inference/export.py"), planned(inference.export_settings)),
