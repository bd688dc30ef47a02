"""The one table of paths under results/: what is built is taken apart again, and what nothing makes is refused."""

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.experiment import results_paths
from ranktrial.experiment.results_paths import (
    DOWNLOAD,
    KINDS,
    NOT_ARCHIVED,
    PLACES,
    fields_of,
    kind,
    may_be_deleted,
    parse,
    path,
)

REPOSITORY = Path(__file__).parents[2]
CHOICES = {
    "split": ["train", "dev", "test"],
    "texts": ["corpus", "queries/train", "queries/dev", "queries/test"],
    "length": ["1", "150"],
    "how": ["", "-english-best", "-standard-together", "-de-together", "-english-together-vectors"],
    "recipe": ["untrained", "a.b-c", "untrained+onnx-fp32", "x+onnx-int8"],
    "passages": ["", "/passages-150"],
    "part": ["", ".shards/0-of-3", ".shards/12-of-16"],
    "form": ["vectors", "terms", "token-vectors"],
    "made": ["float16", "int8", "uint8", "binary", "ubinary", "HNSW32", "IVF64_Flat", "OPQ8_32_IVF64_PQ8"],
    "scored": ["negatives", "teachers"],
    "ties": ["", "-ties-ascending"],
    "ranked": ["runs/a-task", "negatives/d/bm25+x-candidates_all", "teachers/d/human-labels_3"],
    "choices": ["selected-seeds", "chosen-recipes"],
    "seed": ["0", "17", "selected", "selected-tuned-x"],
    "figure_format": ["svg", "pdf", "png"],
    "caption_format": ["txt", "tex"],
    "table_format": ["tsv", "md", "tex"],
    "page_format": ["md", "html"],
    "work": ["inference", "fine-tuning"],
    "analyzer": ["english", "standard", "zh"],
    "extent": ["crate", "full"],
    "job": ["means", "score/task/system/seed-0", "index/d-english-best"],
    "rest": ["sha256/results/x/summary.md", "metadata/abc"],
    "answers_format": ["md", "tsv"],
    "examples": ["human-labels_3-bm25-negatives_all-queries"],
}
# Names of their own in the table, of paths that another name builds as well.
SAME_PLACE = {
    "texts": {"corpus", "queries"},
    "ranking": {"run", "pair_scores"},
    "ranking_timing": {"run_timing", "pair_scores_timing"},
    "kept_embeddings": {"embeddings"},
    "scored": {"metrics", "ascending_metrics"},
    "table": {"matrix"},
}


def a_name(chance: random.Random) -> str:
    """A name as the schema allows it."""
    first = chance.choice("abcXYZ019")
    return first + "".join(chance.choices("abcXYZ019._-", k=chance.randint(0, 12)))


def fields_in(pattern: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"\{(\w+)\}", pattern)))


@pytest.mark.parametrize("name", PLACES)
def test_what_is_built_is_taken_apart_again(name):
    chance = random.Random(name)
    for _ in range(200):
        given = {
            field: chance.choice(CHOICES[field]) if field in CHOICES else a_name(chance)
            for field in fields_in(PLACES[name].pattern)
        }
        built = path(name, **given)
        found, fields = parse(built)
        assert found == name or found in SAME_PLACE.get(name, ())
        assert found != name or fields == given
        assert kind(built) == PLACES[name].kind
        if PLACES[name].is_folder:
            assert parse(f"{built}/model.safetensors") == (name, given)
        if "experiment" in given:
            elsewhere = f"/home/{built.removeprefix('results/')}"
            assert fields_of(name, elsewhere).items() <= given.items()


def test_a_field_that_is_not_given_stays_a_wildcard():
    assert path("run", experiment="e", system="bm25") == "results/e/runs/{task}/bm25/seed-{seed}.trec.gz"
    with pytest.raises(ValueError, match="no field 'model'"):
        path("run", model="m")


@pytest.mark.parametrize(
    "unknown",
    [
        "results/e/figures/shell.sh",
        "results/e/runs/t/s/seed-x.trec.gz",
        "results/e/runs/t/s/../../seed-0.trec.gz",
        "results/e/tables/means.tsv/more",
        "results/e/bm25/d/index-german-best/segments",
        "results/e/report.html\n",
        "results/downloads",
        "results/downloads/",
        "results/e/other.json",
        "results/e/a.crate.zip",
        "elsewhere/e/summary.md",
        "",
    ],
)
def test_a_path_that_nothing_makes_is_refused(unknown):
    with pytest.raises(UserError, match="is on no list of results"):
        kind(unknown)


@pytest.mark.parametrize(
    "file, may",
    [
        ("results/e/metrics/t/s/seed-0.tsv", False),
        ("results/e/models/m/r/seed-1/model.safetensors", True),
        ("results/e/mine/a.json", True),  # of a script run by hand
    ],
)
def test_what_may_be_deleted(file, may):
    assert may_be_deleted(file) is may


def test_fields_of_another_path_are_refused_with_what_is_expected():
    with pytest.raises(UserError, match=r"a\.tsv: expected a path that ends in metrics/"):
        fields_of("metrics", Path("a.tsv"))


def test_every_place_has_a_kind_that_archives_know():
    assert {place.kind for place in PLACES.values()} == {*KINDS, DOWNLOAD, NOT_ARCHIVED}


def test_it_needs_the_standard_library_alone():
    """-S leaves installed packages out, as on a machine that only verifies an archive."""
    name = results_paths.__name__
    subprocess.run([sys.executable, "-S", "-c", f"import {name}"], cwd=REPOSITORY, check=True)
