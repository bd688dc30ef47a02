"""A study of transfer: each training once, what another target or size adds (planned), and its table and curves (run)."""

import copy
import json
import re

import pandas as pd
import pytest
from tokenizers import Tokenizer

from tests.workflow.conftest import copy as copy_of
from tests.workflow.conftest import write_collection

TARGETS = ("weather", "sea", "road")
STARTS = [None, {"recipe": "pseudo", "dataset": "same"}, {"recipe": "full", "dataset": "others"}]
SCHEDULE = {"batch_size": 8, "learning_rate": 0.001, "epochs": {4: 4, 8: 2, "all": 1}}
DRAWN = {"positives": {"per_query": 1}, "negatives": {"sampling_strategy": "random", "per_query": 1, "draw": "epoch"}}


def study(targets=TARGETS[:2], sizes=(4, 8)):
    on = SCHEDULE | DRAWN | {"train_on": list(targets)}
    return {
        "experiment": "study",
        "measures": ["RR@10"],
        "depth": 20,
        "datasets": {name: {"format": "beir", "location": f"data/{name}"} for name in targets},
        "models": {"bert": {"type": "bi-encoder", "weights": "weights/tiny", "max_length": 16}},
        "recipes": {
            "pseudo": on | {"labels": "bm25"},
            "full": on,
            "few": on | {"start_from": STARTS, "start_seed": 1, "queries": list(sizes), "samples": 2},
            "all": on | {"start_from": STARTS, "start_seed": 1},
        },
        "systems": {
            "bm25": {"type": "bm25"},
            "zero-shot": {"model": "bert"},
            "transfer": {"model": "bert", "recipe": {"name": "full", "dataset": "others"}},
            "pseudo": {"model": "bert", "recipe": {"name": "pseudo", "dataset": "target"}},
            "few": {"model": "bert", "recipe": {"name": "few", "dataset": "target"}, "seeds": 2},
            "all": {"model": "bert", "recipe": {"name": "all", "dataset": "target"}},
        },
        "tasks": list(targets),
        "comparisons": {
            "pseudo-labels": {"control": "bm25", "treatment": "pseudo", "measure": "RR@10"},
            "few-shot": {"control": "starting-point", "treatment": ["few", "all"], "measure": "RR@10"},
        },
        "matrices": {
            "transfer": {
                "zero_shot": "transfer",
                "full_shot": "all",
                "baseline": "bm25",
                "pseudo_labels": "pseudo",
                "measure": "RR@10",
            }
        },
        "curves": {"few": {"systems": ["few", "all"], "baseline": "bm25", "measure": "RR@10"}},
    }


@pytest.fixture(scope="module")
def workspace(prepared, tmp_path_factory):
    """The workflow with three tiny collections."""
    workspace = copy_of(prepared.folder, tmp_path_factory.mktemp("study") / "ranktrial")
    for number, name in enumerate(TARGETS[1:], 2):
        write_collection(workspace.folder / "data" / name, seed=number)
    return workspace


@pytest.fixture(scope="module")
def plans(workspace):
    """By name, the shell command of each job (by its message) of a plan."""
    configs = {"study": study(), "size": study(sizes=(4, 8, 16)), "target": study(TARGETS)}
    for name, config in configs.items():
        workspace.write_config(copy.deepcopy(config), f"{name}.yaml")
    found = {}
    for name in configs:
        done = workspace.run("--dry-run", "--printshellcmds", config=f"{name}.yaml")
        jobs = re.findall(r"^Job \d+: (.*)\n(?:Reason: .*\n)?Shell command: (.*)$", done.stdout + done.stderr, re.M)
        found[name] = dict(jobs)
        assert len(found[name]) == len(jobs) > 50
    return found


def named(jobs, rule):
    return {job for job in jobs if job.split()[0] == rule}


def test_each_training_runs_once(plans):
    """pseudo and full on 2 targets, 2 samples of 2 sizes from 3 starts, all queries from 2 (from scratch that is full)."""
    trained = named(plans["study"], "fine_tune")
    assert len(trained) == 2 + 2 + 2 * 3 * 2 * 2 + 2 * 2
    assert "fine_tune bert all-sea-scratch seed-1" not in trained and "fine_tune bert full-sea seed-1" in trained
    of_others = 2  # full ranks the other target as well
    assert len(named(plans["study"], "encode")) == 2 + len(trained) + of_others


def test_another_size_adds_its_points_alone(plans):
    before, after = plans["study"], plans["size"]
    added = after.keys() - before.keys()
    assert not before.keys() - after.keys()
    assert all("-16" in job for job in named(added, "fine_tune") | named(added, "encode") | named(added, "retrieve"))
    assert len(named(added, "fine_tune")) == 2 * 3 * 2
    changed = {job.split()[0] for job in before if before[job] != after[job]}
    assert changed <= {
        "all_queries",
        "curves",
        "collect",
        "page",
        "full_table",
        "tables",
        "figure",
        "report",
        "explorer",
    }


def test_another_target_adds_its_jobs_alone(plans):
    before, after = plans["study"], plans["target"]
    of_models = {"prepare_dataset", "index", "negatives", "fine_tune", "encode", "retrieve", "score", "search"}
    assert not {job for job in before.keys() - after.keys() if job.split()[0] in of_models}
    added = {job for job in after.keys() - before.keys() if job.split()[0] in of_models}
    assert added and all("road" in job for job in added)
    assert not {job for job in before if before[job] != after.get(job) and job.split()[0] in of_models}


PRINTED = """table\trow\tcolumn\tprinted\tcomparison\ttask\tsystem\tquantity\tfactor\tnote\tmark
1\tsea\tweather, ZS\t2\t\tweather\ttransfer-sea\tRR@10\t1\t\t*
1\tpseudo-labels\tweather, ZS\t2\t\tweather\tpseudo\tRR@10\t1\t\t
2\tweather\t# queries\t30\t\tweather/train\t\tall_queries\t1\t\t
2\tweather\t# relevant /query\t1\t\tweather/train\t\trelevant_per_query\t1\t\t
2\tweather\t#tok. /query\t0.0\t\tweather/train\t\tmean_query_word_pieces\t1\t\t
2\tweather\t#tok. /doc\t0.0\t\tweather/train\t\tmean_document_word_pieces\t1\t\t
"""


@pytest.mark.long
def test_a_small_study_is_run_to_its_table_and_curves(workspace):
    """Two targets, from pseudo-labels with 8 and all queries, and transfer between them: cross-encoders, as in the paper."""
    config = study(sizes=(8,))
    config["models"]["bert"] |= {"type": "cross-encoder", "max_length": 32}
    for recipe in config["recipes"].values():
        recipe |= {"loss": "MarginRankingLoss", "head_learning_rate": 0.01}
    for name in ("transfer", "pseudo", "few", "all"):
        config["systems"][name]["rerank"] = {"first_stage": "bm25", "depth": 10}
    config["recipes"]["few"]["start_from"] = config["recipes"]["all"]["start_from"] = STARTS[1]
    config["recipes"]["few"]["samples"] = config["systems"]["few"]["seeds"] = 1
    config["comparisons"] = {}
    del config["systems"]["zero-shot"]
    config["recipes"]["pseudo"]["bm25"] = "bm25"
    config |= {"word_pieces": "bert", "published": {"file": "printed.tsv"}}
    (workspace.folder / "printed.tsv").write_text(PRINTED)
    workspace.write_config(config, "run.yaml")
    tables = "results/study/tables"
    targets = [
        f"{tables}/transfer.md",
        f"{tables}/transfer.tex",
        f"{tables}/curves-few.tsv",
        "results/study/figures/curves-all.svg",
        "results/study/published-versus-ours.tsv",
    ]
    workspace.run(*targets, f"{tables}/transfer-answers.md", config="run.yaml")
    page = (workspace.folder / tables / "transfer.md").read_text()
    assert "| pseudo-labelling " in page and "all 2 tests of this kind" in page
    points = pd.read_csv(workspace.folder / tables / "curves-few.tsv", sep="\t")
    assert points.groupby("target")["size"].apply(list).to_dict() == {"weather": [0, 8, 30], "sea": [0, 8, 30]}
    means = [
        pd.read_csv(workspace.folder / f"results/study/metrics/weather/{name}/seed-1.tsv", sep="\t")["RR@10"].mean()
        for name in ("pseudo", "few", "all")
    ]
    of_weather = points[points["target"] == "weather"].sort_values("size")
    assert of_weather["mean"].tolist() == pytest.approx(means, abs=1e-12)
    printed = pd.read_csv(workspace.folder / "results/study/published-versus-ours.tsv", sep="\t", keep_default_na=False)
    tested = pd.read_csv(workspace.folder / tables / "transfer.tsv", sep="\t", keep_default_na=False)
    marks = tested[(tested["target"] == "weather") & (tested["shot"] == "zero")].set_index("system")["mark"]
    assert printed["our_mark"].tolist()[:2] == [marks["transfer-sea"], marks["pseudo"]]
    assert printed["marks_equal"].tolist() == [
        "yes" if marks["transfer-sea"] else "no", "no" if marks["pseudo"] else "yes", "", "", "", ""]  # fmt: skip
    assert printed["equal"].tolist()[2:4] == ["yes", "yes"]
    texts = {
        name: workspace.folder / f"results/study/data/weather/{name}.jsonl" for name in ("queries/train", "corpus")
    }
    tokenizer = Tokenizer.from_file(str(workspace.folder / "weights/tiny/tokenizer.json"))
    for ours, path in zip(printed["ours_in_full"].tolist()[4:], texts.values(), strict=True):
        records = [json.loads(line) for line in path.read_text().splitlines()]
        words = [f"{record.get('title', '')} {record['text']}".strip() for record in records]
        pieces = [len(tokenizer.encode(text, add_special_tokens=False).ids) for text in words]
        assert float(ours) == pytest.approx(sum(pieces) / len(pieces))
    assert any(
        path.name.endswith("_by-bm25.tsv") for path in (workspace.folder / "results/study/negatives/weather").iterdir()
    )
