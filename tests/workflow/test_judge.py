"""A whole experiment that a language model judges, humans a sample: from raw data to prediction-powered effects."""

import json
import random

import pandas as pd
import pytest

from tests.support.answering import answering, error, graded
from tests.workflow.conftest import tiny_config

pytestmark = pytest.mark.slow


def config(url: str) -> dict:
    made = tiny_config()
    judge = {
        "endpoint": {"url": url, "model": "words-1", "price": {"input": 1, "output": 2}},
        **{"of": ["plain", "theirs"], "depth": 3, "humans": "sample", "human_queries": 40},
    }
    holes = {"endpoint": judge["endpoint"], "of": ["plain"], "depth": 3, "fill": "holes"}
    return made | {
        "models": {},
        "recipes": {},
        "datasets": made["datasets"]
        | {
            "judged": {"format": "judge", "runs_of": "weather", "judge": judge},
            "filled": {"format": "judge", "runs_of": "weather", "judge": holes},
        },
        "systems": {name: made["systems"][name] for name in ("plain", "theirs")},
        "tasks": ["weather", "judged", "filled"],
        "comparisons": {
            "humans": {"control": "plain", "treatment": "theirs"},
            "judge": {"control": "plain", "treatment": "theirs", "tasks": ["judged"]},
            "holes": {"control": "plain", "treatment": "theirs", "tasks": ["filled"]},
        },
    }


def prepare(folder) -> None:
    """All 60 queries are of test, and a run of others has them all."""
    qrels = folder / "data/weather/qrels"
    for split in ("train", "dev"):
        (qrels / f"{split}.tsv").unlink()
    rows = "".join(f"q{n}\td{n}\t1\n" for n in range(60))
    (qrels / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + rows)
    rng = random.Random(3)
    runs = [f"q{n} Q0 d{d} 1 {rng.random()} theirs\n" for n in range(60) for d in rng.sample(range(60), 30)]
    (folder / "theirs.trec").write_text("".join(runs))


def test_an_experiment_that_a_model_judges(fresh):
    prepare(fresh.folder)
    results = fresh.folder / "results/tiny"
    with answering(graded) as asked:
        fresh.write_config(config(asked.url))
        assert {"judge judged", "judge filled"} <= fresh.planned() and asked.requests == []  # planning asks nobody
        fresh.run()
        calls = len(asked.requests)
    timings = [json.loads((results / f"judges/{name}/timing.json").read_text()) for name in ("judged", "filled")]
    assert sum(timing["calls"] for timing in timings) == calls
    row = pd.read_csv(results / "effects/judge.tsv", sep="\t").iloc[0]
    assert (row["n"], row["model_queries"], row["interval_df"]) == (40, 20, 39) and 0 <= row["model_weight"] <= 1
    humans = pd.read_csv(results / "effects/humans.tsv", sep="\t").iloc[0]
    assert abs(row["effect"] - humans["effect"]) < 3 * row["se"]
    meta = json.loads((results / "meta/judge.json").read_text())
    said = "judged: prediction-powered, 40 queries judged by humans and 20 more by words-1 alone"
    assert any(warning.startswith(said) for warning in meta["warnings"]) and meta["k"] == 1
    left_out = json.loads((results / "meta/holes.json").read_text())
    assert left_out["k"] == 0 and any(
        "a language model judged what humans had not" in one for one in left_out["warnings"]
    )
    page = (results / "tables/judges/judged.md").read_text()
    assert "Cohen's kappa" in page and "Kendall's tau" in page and "words-1 judged" in page
    table = pd.read_csv(results / "tables/judges/judged.tsv", sep="\t")
    assert set(table["kind"]) == {"confusion", "kappa of relevance", "tau", "bias"}
    assert set(table["measure"].dropna()) == {"nDCG@10", "RR@10"}
    report = (results / "report.html").read_text()
    assert "judged by words-1" in report and "prediction-powered" in report and "tables/judges/judged.md" in report
    assert fresh.planned() == set()
    with answering(lambda request: error(500, "down")) as asked:  # what was paid for is not asked again
        changed = config(timings[0]["url"])
        changed["datasets"]["judged"]["judge"]["endpoint"]["concurrency"] = 1
        fresh.write_config(changed)
        assert "judge judged" in fresh.planned()
        done = fresh.snakemake(str(results / "data/judged/qrels/test.qrels").removeprefix(f"{fresh.folder}/"))
        assert done.returncode == 0 and asked.requests == []
