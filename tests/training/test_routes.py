"""Models with a route for queries and one for documents: taken, loaded, trained; and what is refused."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.models.adapters import adapter
from scripts.training import weights as script
from tests.support.tiny_routes import build_routed
from tests.support.tiny_task import WORDS, train, weights
from tests.training.test_weights import sha256, take

TYPE = adapter("sparse-encoder")
QUERIES, DOCUMENTS = "query_0_SparseStaticEmbedding", "document_0_Transformer"
TEXTS = ["ashen oakwood", "elmlet elmlet figling", "yewwood tree"]


@pytest.fixture(scope="module")
def routed(tmp_path_factory) -> Path:
    return build_routed(tmp_path_factory.mktemp("routed") / "model", [" ".join(WORDS)], seed=1)


@pytest.fixture
def model(routed, tmp_path) -> Path:
    """A copy of the model to spoil."""
    return shutil.copytree(routed, tmp_path / "source")


@pytest.fixture
def routed_task(task, tmp_path) -> Path:
    """The tiny task, with a start whose weights of queries learn too."""
    folder = tmp_path / "task"
    folder.mkdir()
    build_routed(folder / "masked", [" ".join(WORDS)], seed=1, frozen=False)
    for name in ("corpus.jsonl", "queries.jsonl", "negatives.tsv"):
        (folder / name).symlink_to(task / name)
    return folder


def test_both_routes_are_taken_and_no_weights_beside_them(model, tmp_path):
    digest = sha256(model / DOCUMENTS / "model.safetensors", model / QUERIES / "model.safetensors")
    shutil.copyfile(model / DOCUMENTS / "model.safetensors", model / "model.safetensors")  # for other programs
    assert script.find_model(tmp_path) == model
    take(model, tmp_path / "out", sha256=digest)
    taken = {str(file.relative_to(tmp_path / "out")) for file in (tmp_path / "out").rglob("*.safetensors")}
    assert taken == {f"{DOCUMENTS}/model.safetensors", f"{QUERIES}/model.safetensors"}
    assert TYPE.encode(TYPE.load(tmp_path / "out", 16), TEXTS, 2, "query").shape[0] == 3
    shutil.rmtree(tmp_path / "source")
    assert script.find_model(tmp_path) == tmp_path / "out"  # without weights in its own folder


def test_another_weight_of_queries_is_another_sha256(model, tmp_path):
    digest = sha256(model / DOCUMENTS / "model.safetensors")
    with pytest.raises(UserError, match=f"but the configuration says {digest}; nothing was kept"):
        take(model, tmp_path / "out", sha256=digest)
    assert not (tmp_path / "out").exists()


def test_queries_get_the_weights_of_their_terms_and_documents_what_the_library_gives(routed):
    from safetensors.numpy import load_file
    from sentence_transformers import SparseEncoder

    model = TYPE.load(routed, 16)
    terms = load_file(routed / QUERIES / "model.safetensors")["weight"]
    tokenizer = TYPE.tokenizer(model)
    found = TYPE.encode(model, TEXTS, 2, "query").toarray()
    for row, text in zip(found, TEXTS, strict=True):
        expected = np.zeros(len(terms), np.float32)
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        expected[ids] = terms[ids]
        assert np.array_equal(row, expected)
    library = SparseEncoder(str(routed), device="cpu", local_files_only=True)
    expected = library.encode_document(TEXTS, convert_to_tensor=True).to_dense().numpy()
    np.testing.assert_allclose(TYPE.encode(model, TEXTS, 2, "document").toarray(), expected, atol=1e-5)


def test_queries_are_cut_to_max_length_too(routed):
    model = TYPE.load(routed, 4)
    texts = [" ".join(WORDS[:10]), " ".join(WORDS[:4])]
    long, short = TYPE.encode(model, texts, 2, "query").toarray()
    assert np.array_equal(long, short) and np.count_nonzero(short) == 4


@pytest.mark.parametrize("micro_batch", [None, 2])
def test_each_column_passes_its_route(routed_task, tmp_path, micro_batch):
    settings = {"type": "sparse-encoder", "epochs": 1, "weight_decay": 0.0, "micro_batch": micro_batch}
    train(routed_task, tmp_path / "out", **settings)
    trained, start = weights(tmp_path / "out"), routed_task / "masked"
    assert {name.partition("model")[0].partition("weight")[0] for name in trained} >= {QUERIES}
    from safetensors.numpy import load_file

    before = load_file(start / QUERIES / "model.safetensors")["weight"]
    changed = trained[f"{QUERIES}weight"] != before
    words = TYPE.load(start, 16)[0].sub_modules["query"][0].tokenizer.convert_ids_to_tokens(np.flatnonzero(changed))
    assert set(words) <= {*WORDS[:10], "[UNK]"} and len(words) > 8  # terms of queries alone
    of_documents = load_file(start / DOCUMENTS / "model.safetensors")
    assert any(not np.array_equal(trained[f"{DOCUMENTS}{name}"], rows) for name, rows in of_documents.items())


def changed_json(file: Path, **changes) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"structure": {"query": [QUERIES]}}, "a structure of the routes query and document alone"),
        ({"structure": {"query": [], "document": [DOCUMENTS]}}, "the route query is not a list of modules"),
        ({"types": {QUERIES: "os.system"}}, "the route document is not a list of modules that have a type"),
        ({"structure": {"query": ["../x"], "document": [DOCUMENTS]}, "types": {"../x": "a.B", DOCUMENTS: "a.B"}},
         "refused, the module '../x' is a path"),
        ({"types": {QUERIES: "evil.Module", DOCUMENTS: "evil.Module", "document_1_SpladePooling": "evil.Module"}},
         "'evil.Module' is code that comes with the model"),
        ({"types": {QUERIES: "a.B", DOCUMENTS: "a.B", "document_1_SpladePooling": "a.B", "more": "os.path"}},
         "refused, the module 'more' is on no route"),
        ({"parameters": {"route_mappings": {"(None, None)": "query"}}}, "refused, its route_mappings"),
    ],
)  # fmt: skip
def test_odd_routes_are_one_line(model, tmp_path, changes, message):
    changed_json(model / "router_config.json", **changes)
    (tmp_path / "out").mkdir()
    with pytest.raises(UserError, match=message.replace("(", r"\(")):
        script.copy_model(model, tmp_path / "out", None)


def test_weights_of_terms_in_a_file_that_is_named_are_refused(model, tmp_path):
    changed_json(model / QUERIES / "config.json", path="/etc/passwd")
    with pytest.raises(UserError, match="reads its weights from a file that it names"):
        script.copy_model(model, tmp_path / "out", None)


def test_other_kinds_of_models_and_adapters_take_no_routes(routed, routed_task, tmp_path):
    with pytest.raises(UserError, match="only sparse encoders may have modules of their own for queries"):
        adapter("bi-encoder").load(routed, 16)
    lora = {"r": 2, "lora_alpha": 4, "lora_dropout": 0.0, "target_modules": "all-linear", "merge": False}
    with pytest.raises(UserError, match="lora: a model whose queries pass modules of their own takes none"):
        train(routed_task, tmp_path / "out", type="sparse-encoder", lora=lora)


def test_other_vocabularies_of_queries_are_refused(model, tmp_path):
    other = build_routed(tmp_path / "other", ["birch cedar"], seed=2)
    shutil.rmtree(model / QUERIES)
    shutil.copytree(other / QUERIES, model / QUERIES)
    with pytest.raises(UserError, match="different vocabularies"):
        TYPE.load(model, 16)
