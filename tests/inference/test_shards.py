"""A corpus that is encoded in shards gives the same bytes as in one job, whatever their number; timings add up."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.inference.indices import terms as term_index
from ranktrial.inference.indices import vectors
from ranktrial.inference.shards import joined, rows_of_shard
from ranktrial.inference.vectors import stored
from ranktrial.ir.collection import Document, read_corpus, write_corpus
from ranktrial.models.adapters import adapter, index_of
from scripts.inference.encode import encode
from scripts.inference.join import join_index as join
from tests.models.test_onnx_texts import made
from tests.support.calling import call
from tests.support.tiny_bert import build, build_masked

TEXTS = ["ash", "elm fig oak yew", "yew yew", "oak ash elm", "fig"]
SETTINGS = {"type": "bi-encoder", "max_length": 32, "batch_size": 2}


@pytest.mark.parametrize("count", [1, 63, 64, 65, 640, 1000])
@pytest.mark.parametrize("of", [1, 3, 16])
def test_shards_are_whole_chunks_one_behind_the_other(count, of):
    bounds = [rows_of_shard(count, 64, [place, of]) for place in range(of)]
    assert bounds[0][0] == 0 and bounds[-1][1] == count
    assert all(one[1] == other[0] for one, other in pairwise(bounds))
    assert all(first % 64 == 0 or first == count for first, _ in bounds)
    chunks = [-(-(last - first) // 64) for first, last in bounds]
    assert max(chunks) - min(chunks) <= 1


def test_what_does_not_fit_is_one_line(tmp_path):
    for name, shape in (("a", (2, 3)), ("b", (2, 4))):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "vectors.npy", np.zeros(shape, np.float32))

    def joining():
        call(join, {"form": "vectors"}, checkpoint=tmp_path, shards=[tmp_path / "a", tmp_path / "b"],
             timings=[], index=tmp_path / "whole", timing=tmp_path / "whole.json")  # fmt: skip

    with pytest.raises(UserError, match="vectors of 3 and of 4 dimensions"):
        joining()
    (tmp_path / "b/vectors.npy").write_bytes(b"half")
    with pytest.raises(UserError, match=r"b: not a complete index, delete it and encode again"):
        joining()
    assert not (tmp_path / "whole").exists()


def test_timings_of_several_devices():
    every = {"documents": 10, "seconds": 2.0, "peak_gpu_bytes": 5, "precision": "bf16", "processor": "P"}
    one = every | {"device": "A100", "peak_rss_bytes": 7, "energy_joules": {"gpu": 3.0, "processor": 1.0}}
    other = every | {"device": "H100", "peak_rss_bytes": 9, "energy_joules": {"gpu": 4.0}}
    reported = joined([one, other], added=["documents"])
    assert (reported["device"], reported["processor"], reported["peak_rss_bytes"]) == ("A100 and H100", "P", 9)
    assert (reported["documents"], reported["seconds"], reported["shards"]) == (20, 4.0, 2)
    assert reported["energy_joules"] == {"gpu": 7.0} and reported["precision"] == "bf16"
    del other["energy_joules"]
    assert "energy_joules" not in joined([one, other], added=[])


def test_a_part_of_a_corpus_is_read_by_its_places(tmp_path):
    write_corpus(tmp_path / "c.jsonl", (Document(f"d{n}", "", "x") for n in range(5)))
    assert [document.id for document in read_corpus(tmp_path / "c.jsonl", 1, 3)] == ["d1", "d2"]


@pytest.mark.parametrize("kind", ["bi-encoder", "sparse-encoder", "multi-vector"])
def test_an_index_is_the_same_bytes_for_any_number_of_shards(kind, tmp_path):
    corpus, settings = tmp_path / "corpus.jsonl", SETTINGS | {"type": kind}
    write_corpus(corpus, (Document(f"d{n}", "", " ".join(TEXTS[: n % 5 + 1])) for n in range(200)))
    made_of = {"checkpoint": checkpoint_of(kind, tmp_path), "corpus": corpus}
    call(encode, settings, **made_of, index=tmp_path / "whole", timing=tmp_path / "whole.json")
    reported = json.loads((tmp_path / "whole.json").read_text())
    for of in (3, 16):  # of four chunks of 64
        shards = [tmp_path / f"{place}-of-{of}" for place in range(of)]
        timings = [shard.with_suffix(".json") for shard in shards]
        for place, (shard, timing) in enumerate(zip(shards, timings, strict=True)):
            call(encode, settings | {"shard": [place, of]}, **made_of, index=shard, timing=timing)
        call(join, {"form": index_of(kind)}, checkpoint=made_of["checkpoint"], shards=shards,
             timings=timings, index=tmp_path / str(of), timing=tmp_path / f"{of}.json")  # fmt: skip
        contents = [
            {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("whole", str(of))
        ]
        assert contents[0] == contents[1]
        again = json.loads((tmp_path / f"{of}.json").read_text())
        of_long_jobs = {"other_cores"}  # measured only in those
        assert again.keys() - of_long_jobs == (reported.keys() | {"shards"}) - of_long_jobs and again["shards"] == of
        assert again["seconds"] == pytest.approx(sum(json.loads(path.read_text())["seconds"] for path in timings))
        same = ["documents", "index_bytes", *(key for key in reported if key.endswith("_per_document"))]
        assert [again[key] for key in same] == [reported[key] for key in same] and again["documents"] == 200


def checkpoint_of(kind: str, folder: Path) -> Path:
    """A tiny model of the kind."""
    if kind == "bi-encoder":
        return made(folder / "model", "mean")
    if kind == "sparse-encoder":
        return build_masked(folder / "model", TEXTS, seed=1)
    late = adapter(kind).load(build(folder / "start", TEXTS, seed=1), 16, to_train=True)
    late.save_pretrained(str(folder / "model"), create_model_card=False)
    return folder / "model"


def test_a_shard_of_other_weights_is_one_line(tmp_path):
    for name, seed in (("one", 1), ("other", 2)):
        build_masked(tmp_path / name, TEXTS, seed=seed)
    (tmp_path / "shard").mkdir()
    term_index.write_index(tmp_path / "shard", [], tmp_path / "one", shard=True)
    assert list(term_index.open_shard(tmp_path / "shard", tmp_path / "one")) == []
    with pytest.raises(UserError, match="made with other weights than those of"):
        list(term_index.open_shard(tmp_path / "shard", tmp_path / "other"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="the model gives no document a term"):
        term_index.write_index(tmp_path / "empty", [], tmp_path / "one")


def test_rows_are_written_as_numpy_writes_them(tmp_path):
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    vectors.write_index(tmp_path, [rows[:1], rows[1:]], tmp_path)
    np.save(tmp_path / "whole.npy", rows)
    assert (tmp_path / "vectors.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()


def test_vectors_of_the_wanted_documents_alone_are_held(tmp_path):
    write_corpus(tmp_path / "c.jsonl", (Document(f"d{n}", "", "x") for n in range(5)))
    rows = np.arange(10, dtype=np.float32).reshape(5, 2)
    np.save(tmp_path / "vectors.npy", rows)
    held = stored(tmp_path, tmp_path / "c.jsonl", {"d1", "d4"})
    assert {name: its_rows.tolist() for name, its_rows in held.items()} == {"d1": [[2, 3]], "d4": [[8, 9]]}
