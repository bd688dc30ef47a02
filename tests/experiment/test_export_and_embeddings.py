"""Systems in ONNX and with quantised embeddings in a configuration: their jobs, words and mistakes."""

import re
from pathlib import Path

import pytest
import yaml

from ranktrial.common.keys import given
from ranktrial.common.strict_yaml import read_yaml
from ranktrial.experiment import job_files
from ranktrial.experiment.descriptions import describe, for_times
from ranktrial.experiment.resolution import resolve
from ranktrial.experiment.results_paths import kind, parse
from ranktrial.models.adapters import adapters, exports
from scripts.inference import planning
from tests.experiment.test_config import resolved
from tests.support.one_line import each_is_one_line

ROOT = Path(__file__).parents[2]
SYSTEMS = {
    "systems/whole": {"model": "m"},
    "systems/fp32": {"model": "m", "backend": "onnx"},
    "systems/small": {"model": "m", "recipe": "r", "precision": "int8"},
    "systems/codes": {"model": "m", "embeddings": {"precision": "binary"}},
    "systems/near": {"model": "m", "approximate": {"index": "IVF64,PQ8", "nprobe": 4}},
    "systems/both": {"model": "m", "precision": "int8", "embeddings": {"precision": "int8", "rescore": False}},
    "systems/pairs": {"model": "ce", "precision": "int8", "rerank": {"first_stage": "bm25"}},
}


@pytest.fixture(scope="module")
def experiment():
    return resolved(SYSTEMS)


def encoded(experiment, name):
    system = experiment.systems[name]
    task = next(iter(experiment.tasks.values()))
    return job_files.encoded(experiment, system, task, system.seeds[0])


def searched(experiment, name, option="index"):
    """What a system searches, as its script is given it."""
    (task, *_) = experiment.tasks
    return planning.ranking_inputs(experiment, f"runs/{task}", name, "0")[option]


def test_each_form_of_a_checkpoint_and_of_its_index_has_a_place_of_its_own(experiment):
    task = next(iter(experiment.tasks))
    seeds = {"small": "1"}
    places = {
        name: planning.ranking_inputs(experiment, f"runs/{task}", name, seeds.get(name, "0"))["checkpoint"]
        for name in ("whole", "fp32", "small", "pairs")
    }
    tails = {name: place.split("/models/")[1] for name, place in places.items()}
    assert tails == {
        "whole": "m/untrained/seed-0",
        "fp32": "m/untrained+onnx-fp32/seed-0",
        "small": "m/r+onnx-int8/seed-1",
        "pairs": "ce/untrained+onnx-int8/seed-0",
    }
    assert all(kind(place) == "checkpoint" for place in places.values())
    index = searched(experiment, "codes")
    assert index.endswith("/m/untrained/seed-0.binary") and kind(f"{index}/codes.npy") == "embedding"
    assert encoded(experiment, "codes") == encoded(experiment, "whole")  # one encoding for both
    assert searched(experiment, "both").endswith("/m/untrained+onnx-int8/seed-0.int8")
    assert parse(searched(experiment, "both"))[0] == "made_index"


def test_a_faiss_index_lies_beside_its_encoding_and_is_named_as_faiss_names_it(experiment):
    place = searched(experiment, "near")
    assert place.endswith("/m/untrained/seed-0.IVF64_PQ8") and parse(place)[0] == "made_index"
    made = parse(place)[1]["made"]
    assert planning.making_settings(experiment, "m", made) == {"form": "approximate", "name": "IVF64,PQ8"}
    assert searched(experiment, "near", "vectors") == encoded(experiment, "whole")[0]
    assert planning.ranking_settings(experiment, "runs/d", "near", "0")["approximate"] == {
        "index": "IVF64,PQ8",
        "nprobe": 4,
    }
    assert job_files.index_searched(experiment, "near") == "approximate"
    words = describe(experiment, experiment.systems["near"])
    assert words.endswith(", searches the corpus approximately (faiss IVF64,PQ8, nprobe 4)")
    assert for_times(experiment, experiment.systems["near"]) != for_times(experiment, experiment.systems["whole"])


def test_jobs_are_given_of_it_and_others_are_not(experiment):
    assert planning.ranking_settings(experiment, "runs/d", "pairs", "0")["backend"] == "onnx"
    reported = planning.ranking_settings(experiment, "runs/d", "codes", "0")["embeddings"]
    assert reported == {"precision": "binary", "rescore_multiplier": 2}
    assert planning.ranking_settings(experiment, "runs/d", "both", "0")["embeddings"]["rescore_multiplier"] == 0
    plain = planning.ranking_settings(experiment, "runs/d", "whole", "0")
    assert "embeddings" not in plain and "precision" not in plain and "backend" not in plain
    length = experiment.models["m"].max_length
    expected = {"type": "bi-encoder", "max_length": length, "precision": "int8"}
    assert planning.export_settings(experiment, "m", "int8") == expected


def test_words_and_tables_tell_them_apart(experiment):
    said = {name: describe(experiment, system) for name, system in experiment.systems.items()}
    assert "ONNX fp32, " in said["fp32"] and "ONNX int8, " in said["small"] and "ONNX" not in said["whole"]
    assert said["codes"].endswith(", searches the corpus's vectors in binary, 2 times the depth scored again")
    assert said["both"].endswith(", searches the corpus's vectors in int8")
    cells = [
        tuple(for_times(experiment, experiment.systems[name]).values()) for name in ("whole", "fp32", "codes", "both")
    ]
    assert len(set(cells)) == 4


def test_a_precision_that_is_the_default_is_no_setting_and_a_list_makes_systems():
    plain = resolved({"systems/x": {"model": "m", "embeddings": {"precision": "float32"}}})
    assert given(plain.systems["x"].settings) == {}
    several = {"systems/x": {"model": "m", "embeddings": {"precision": ["int8", "binary"]}}}
    systems = resolved(several).systems
    assert [systems[name].settings.index.settings.precision for name in ("x-int8", "x-binary")] == ["int8", "binary"]


def test_the_kinds_that_can_be_exported():
    kinds = {"bi-encoder", "cross-encoder", "multi-vector", "sparse-encoder"}
    assert {name for name in adapters() if exports(name)} == kinds


@pytest.mark.parametrize(
    "heading", ["## One checkpoint in torch, ONNX and int8", "## Quantised embeddings", "## Approximate search"]
)
def test_the_examples_of_the_docs_are_right(heading):
    section = (ROOT / "docs" / "models.md").read_text().split(heading)[1].split("\n## ")[0]
    example = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)[0])
    models = {
        "minilm": {"type": "bi-encoder", "weights": "org/m"},
        "minilm-ce": {"type": "cross-encoder", "weights": "org/c"},
    }
    changes = {f"models/{name}": entry for name, entry in models.items()} | {"recipes/hard": {"train_on": "d"}}
    changes |= {f"systems/{name}": entry for name, entry in example["systems"].items()}
    changes |= {f"comparisons/{name}": entry for name, entry in example.get("comparisons", {}).items()}
    systems = resolved(changes).systems
    keys = {"backend", "index"}
    assert sum(bool(keys & set(given(system.settings))) for system in systems.values()) >= 3


def test_the_configuration_that_measures_it_is_right():
    config = read_yaml(ROOT / "config" / "quantised.yaml")
    assert len(resolve(config | {"mirrors": []}, "c.yaml").systems) == 10


SPARSE = {"models/s": {"type": "sparse-encoder", "weights": "org/s"}}
CASES = {
    "fp32 of torch": ({"systems/x": {"model": "m", "precision": "fp32"}}, "c.yaml: systems.x.precision: fp32 is of backend: onnx; torch computes in bf16 on a GPU that can, else in fp32"),
    "int8 of torch": ({"systems/x": {"model": "m", "backend": "torch", "precision": "int8"}}, "c.yaml: systems.x.precision: int8 is of backend: onnx"),
    "unknown precision": ({"systems/x": {"model": "m", "precision": "int4"}}, "c.yaml: systems.x.precision: unknown value 'int4' (did you mean 'int8'?); expected one of fp32, int8"),
    "unknown backend": ({"systems/x": {"model": "m", "backend": "onx"}}, "c.yaml: systems.x.backend: unknown value 'onx' (did you mean 'onnx'?)"),
    "in ONNX already": ({"models/m/backend": "onnx", "models/m/weights": "tests", "models/m/pooling": "cls",
     "systems/x": {"model": "m", "backend": "onnx"}}, "c.yaml: systems.x.backend: model m is in ONNX already"),
    "index of a sparse encoder": ({**SPARSE, "systems/x": {"model": "s", "embeddings": {"precision": "int8"}}}, "c.yaml: systems.x.embeddings: a sparse-encoder has an index of its own"),
    "embeddings of a re-ranker": ({"systems/x": {"model": "m", "rerank": {"first_stage": "bm25"}, "embeddings": {"precision": "int8"}}},
     "c.yaml: systems.x.embeddings: only valid with a search of the whole corpus"),
    "graph with lists": ({"systems/x": {"model": "m", "approximate": {"index": "HNSW32", "nprobe": 2}}}, "c.yaml: systems.x.approximate.nprobe: only valid with an index with IVF"),
    "lists with candidates": ({"systems/x": {"model": "m", "approximate": {"index": "IVF8,Flat", "efSearch": 2}}},
     "c.yaml: systems.x.approximate.efSearch: only valid with an index of HNSW"),
    "unknown index": ({"systems/x": {"model": "m", "approximate": {"index": "LSH"}}},
     "c.yaml: systems.x.approximate.index: 'LSH' is none that can be built here; expected HNSW32, IVF1024,Flat"),
    "index in a path": ({"systems/x": {"model": "m", "approximate": {"index": "HNSW32/../x"}}}, "c.yaml: systems.x.approximate.index: 'HNSW32/../x' is none that can be built here"),
    "no index": ({"systems/x": {"model": "m", "approximate": {}}}, "c.yaml: systems.x.approximate: key 'index' is missing"),
    "approximate and quantised": ({"systems/x": {"model": "m", "embeddings": {"precision": "int8"}, "approximate": {"index": "HNSW8"}}},
     "c.yaml: systems.x.approximate: not together with embeddings"),
    "approximate passages": ({"systems/x": {"model": "m", "long_documents": "passages", "approximate": {"index": "HNSW8"}}},
     "c.yaml: systems.x.approximate: not together with long_documents: passages"),
    "approximate re-ranker": ({"systems/x": {"model": "m", "rerank": {"first_stage": "bm25"}, "approximate": {"index": "HNSW8"}}},
     "c.yaml: systems.x.approximate: only valid with a search of the whole corpus"),
    "approximate search of terms": ({**SPARSE, "systems/x": {"model": "s", "approximate": {"index": "HNSW8"}}}, "c.yaml: systems.x.approximate: a sparse-encoder has an index of its own"),
    "passages": ({"systems/x": {"model": "m", "long_documents": "passages", "embeddings": {"precision": "int8"}}}, "c.yaml: systems.x.embeddings: vectors of passages are not quantised"),
    "float16 rescored": ({"systems/x": {"model": "m", "embeddings": {"precision": "float16", "rescore": True}}},
     "c.yaml: systems.x.embeddings.rescore: not together with precision: float16"),
    "nothing to rescore": ({"systems/x": {"model": "m", "embeddings": {"precision": "int8", "rescore": False, "rescore_multiplier": 3}}},
     "c.yaml: systems.x.embeddings.rescore_multiplier: not together with rescore: false"),
    "no precision": ({"systems/x": {"model": "m", "embeddings": {"rescore": False}}}, "c.yaml: systems.x.embeddings: key 'precision' is missing"),
}  # fmt: skip


test_each_mistake_is_one_line_that_names_file_and_key = each_is_one_line(CASES, resolved)
