"""Systems that ask an endpoint: their defaults, the settings of their jobs, their descriptions, and what each mistake says."""

import re
from pathlib import Path

import pytest
import yaml

from ranktrial.common.errors import UserError
from ranktrial.experiment.descriptions import cautions, describe, for_times
from ranktrial.experiment.system_types import system_type
from scripts.inference import planning
from tests.experiment.test_config import resolved as of_base
from tests.support.one_line import each_is_one_line

ENDPOINT = {"url": "https://h.example/v1/", "model": "Org/Model-7B"}
JUDGE = {"type": "listwise", "rerank": {"first_stage": "bm25"}, "endpoint": ENDPOINT}


def experiment(judge=JUDGE, **changes):
    return of_base({"systems/judge": {key: value for key, value in judge.items() if value is not ...}}, **changes)


def endpoint(**keys):
    return {**JUDGE, "endpoint": {**ENDPOINT, **keys}}


def test_defaults_and_what_the_job_is_given():
    resolved = experiment()
    system = resolved.systems["judge"]
    assert (system.first_stage, system.depth, system.seeds) == ("bm25", 100, (0,))
    assert planning.listwise_settings(resolved, "judge", "0") == {
        **{
            "url": "https://h.example/v1",
            "model": "Org/Model-7B",
            "key": "OPENAI_API_KEY",
            "temperature": 0,
            "seed": 0,
        },
        **{"concurrency": 4, "timeout": 120, "retries": 5, "window": 20, "step": 10, "passes": 1, "max_words": 300},
        **{"depth": 100, "tag": "judge-0"},
    }
    local = experiment(endpoint(url="http://localhost:8000/v1", leave_out=["seed", "temperature"]))
    reported = planning.listwise_settings(local, "judge", "0")
    assert reported["key"] is None and not {"seed", "temperature"} & set(reported)
    assert experiment(endpoint(url="http://h/v1", key="MY_KEY")).systems["judge"].settings.key == "MY_KEY"


def test_the_examples_of_the_page_are_right():
    page = (Path(__file__).parents[2] / "docs/models.md").read_text()
    section = page.split("\n## Language models\n")[1].split("\n## ")[0]
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)]
    models = {f"models/{name}": entry for block in blocks for name, entry in block.get("models", {}).items()}
    systems = {f"systems/{name}": entry for block in blocks for name, entry in block["systems"].items()}
    made = of_base(models | systems)
    assert {"pointwise", "judge"} <= set(made.systems) and {"qwen3-reranker", "one-and-zero"} <= set(made.models)
    assert planning.listwise_settings(made, "judge", "0") == {
        **planning.listwise_settings(experiment(), "judge", "0"),
        **{"url": "https://api.example.org/v1", "model": "a-model", "price": {"input": 0.15, "output": 0.6}},
    }  # but for names and price it has the defaults


def test_what_is_said_of_it():
    resolved = experiment({**JUDGE, "passes": 2})
    system = resolved.systems["judge"]
    assert describe(resolved, system) == (
        "Org/Model-7B (https://h.example/v1) orders the top 100 of bm25 in windows of 20 by steps of 10, 2 passes, "
        "300 words per document"
    )
    assert for_times(resolved, system)["candidates"] == "top 100 of bm25"
    reported = system_type(system).provenance(resolved, system)
    assert reported["method"] == "listwise" and reported["reranks"] == "bm25" and reported["model"] == "Org/Model-7B"
    assert "key" not in reported and "concurrency" not in reported


def test_it_has_the_seeds_of_its_first_stage_and_lists_fan_out():
    resolved = experiment({**JUDGE, "rerank": {"first_stage": "tuned"}})
    assert resolved.systems["judge"].seeds == (1, 2)
    assert planning.listwise_inputs(resolved, "judge", "d", "2")["first_stage"].endswith("runs/d/tuned/seed-2.trec.gz")
    many = experiment({**JUDGE, "endpoint": {**ENDPOINT, "model": ["a", "b"]}, "window": [10, 20], "step": 5})
    assert many.entries["judge"] == ["judge-a-10", "judge-a-20", "judge-b-10", "judge-b-20"]


def test_two_that_ask_the_same_are_one_system_under_two_names():
    pair = {"control": "judge", "treatment": "other"}
    with pytest.raises(UserError, match="are one system under two names"):
        experiment(systems__other=endpoint(concurrency=9), comparisons__c=pair)
    experiment(systems__other={**JUDGE, "max_words": 99}, comparisons__c=pair)


def test_a_measure_that_looks_deeper_is_reported():
    resolved = experiment({**JUDGE, "rerank": {"first_stage": "bm25", "depth": 5}})
    assert any("judge" in line for line in cautions(resolved))


SECRET = "sk-abc123"
CASES = {
    "no endpoint": ({**JUDGE, "endpoint": ...}, "systems.judge: key 'endpoint' is missing"),
    "no first stage": ({**JUDGE, "rerank": ...}, "systems.judge: key 'rerank' is missing"),
    "unknown first stage": ({**JUDGE, "rerank": {"first_stage": "x"}}, "systems.judge.rerank.first_stage: unknown name 'x'"),
    "itself": ({**JUDGE, "rerank": {"first_stage": "judge"}}, "refers to itself"),
    "vectors": ({**JUDGE, "rerank": {"first_stage": "bm25", "vectors": "corpus"}},
     "systems.judge.rerank: a system of type listwise cannot have 'vectors' there"),
    "a model of ours": ({**JUDGE, "model": "m"}, "systems.judge: a system of type listwise cannot have 'model'"),
    "no model": ({**JUDGE, "endpoint": {"url": "https://h/v1"}}, "systems.judge.endpoint: key 'model' is missing"),
    "unknown key": (endpoint(tokens=3), "systems.judge.endpoint: unknown key 'tokens'"),
    "no address": (endpoint(url="h.example/v1"), "systems.judge.endpoint.url: this URL cannot be fetched; expected http"),
    "user": (endpoint(url=f"https://me:{SECRET}@h/v1"), "systems.judge.endpoint.url: no key here: endpoint.key names the"),
    "secret in a query": (endpoint(url=f"https://h/v1?api_key={SECRET}"), "systems.judge.endpoint.url: no key here"),
    "reference": (endpoint(url="https://${HOST}/v1"), "systems.judge.endpoint.url: this URL has no valid host"),
    "reference in a path": (endpoint(url="https://h/${KEY}/v1"), "systems.judge.endpoint.url: this URL contains a user, a query or ${NAME}"),
    "a key itself": (endpoint(key=SECRET), "systems.judge.endpoint.key: expected the name of an environment variable in capitals"),
    "temperature": (endpoint(temperature=-1), "systems.judge.endpoint.temperature: -1 is too small"),
    "left out and given": (endpoint(seed=3, leave_out=["seed"]), "systems.judge.endpoint.leave_out: seed is given beside it"),
    "unknown to leave out": (endpoint(leave_out=["model"]), "systems.judge.endpoint.leave_out"),
    "half a price": (endpoint(price={"input": 1}), "systems.judge.endpoint.price: key 'output' is missing"),
    "no threads": (endpoint(concurrency=0), "systems.judge.endpoint.concurrency: 0 is too small"),
    "windows that do not overlap": ({**JUDGE, "step": 20}, "systems.judge.step: 20 with a window of 20: windows would not overlap"),
    "windows of one": ({**JUDGE, "window": 1, "step": 1}, "systems.judge.window: 1 document has no order; expected at least 2"),
    "windows of others": ({"type": "bm25", "window": 3}, "systems.judge: a system of type bm25 cannot have 'window'"),
}  # fmt: skip


test_each_mistake_is_one_line_and_shows_no_key = each_is_one_line(CASES, experiment, SECRET)
