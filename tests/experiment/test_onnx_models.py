"""Models in ONNX: what a configuration may say of them, and what each mistake says."""

from tests.experiment.test_config import resolved
from tests.support.one_line import each_is_one_line

CASES = {
    "onnx bi-encoder": ({"models/m/backend": "onnx"}, "c.yaml: models.m.weights: no folder or file"),
    "onnx bi-encoder without pooling": ({"models/m/backend": "onnx", "models/m/weights": "tests"}, "c.yaml: models.m.pooling: is needed for backend onnx"),
    "pooling of torch": ({"models/m/pooling": "cls"}, "c.yaml: models.m.pooling: only valid for a bi-encoder with backend: onnx"),
    "pooling of a cross-encoder": ({"models/ce/backend": "onnx", "models/ce/weights": "tests", "models/ce/pooling": "cls"},
     "c.yaml: models.ce.pooling: only valid for a bi-encoder with backend: onnx"),
    "unknown pooling": ({"models/m/backend": "onnx", "models/m/weights": "tests", "models/m/pooling": "max"},
     "c.yaml: models.m.pooling: unknown value 'max'; expected one of cls, mean, none"),
    "onnx weights on the hub": ({"models/ce/backend": "onnx"}, "c.yaml: models.ce.weights: no folder or file 'org/ce'; for ONNX it is one here"),
    "onnx trained": ({"models/ce/backend": "onnx", "models/ce/weights": "tests", "systems/x": {"model": "ce", "recipe": "r",
     "rerank": {"first_stage": "bm25"}}},
     "c.yaml: systems.x: model ce has backend onnx, which ranks only: no recipe can train it further"),
    "onnx file without onnx": ({"models/ce/file": "model.onnx"}, "c.yaml: models.ce.file: only valid with backend: onnx"),
    "onnx file outside of the weights": ({"models/ce/backend": "onnx", "models/ce/weights": "tests", "models/ce/file": "../model.onnx"},
     "c.yaml: models.ce.file: names the ONNX file inside the weights; expected a relative path"),
}  # fmt: skip


test_each_mistake_is_one_line_that_names_file_and_key = each_is_one_line(CASES, resolved)
