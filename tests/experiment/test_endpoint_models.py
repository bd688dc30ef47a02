"""Models behind endpoints in a configuration: what their jobs are given, their descriptions, and what each mistake says."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.experiment.descriptions import describe
from ranktrial.experiment.system_types import system_type
from scripts.inference import planning
from scripts.training.planning import weights_settings, weights_source
from tests.experiment.test_config import resolved as of_base
from tests.support.one_line import each_is_one_line

WRITER = "query-generator-endpoint"
ENDPOINT = {"url": "https://h.example/v1/"}
MODEL = {"type": "bi-encoder-endpoint", "weights": "organisation/embeds", "endpoint": ENDPOINT}


def experiment(model=MODEL, **changes):
    given = {"models/remote": {key: value for key, value in model.items() if value is not ...}}
    return of_base(given | {"systems/embedded": {"model": "remote"}}, **changes)


def endpoint(**keys):
    return {**MODEL, "endpoint": {**ENDPOINT, **keys}}


def test_what_jobs_are_given():
    resolved = experiment()
    assert weights_source(resolved, "remote") == (None, None)
    address = {"url": "https://h.example/v1", "key": "OPENAI_API_KEY", "model": "organisation/embeds"}
    assert weights_settings(resolved, "remote") == {"endpoint": address}
    assert planning.encoding_settings(resolved, "d", "remote")["max_length"] == planning.EVERY
    for keys in ({"url": "http://h/v1"}, {"protocol": "tei"}):
        assert weights_settings(experiment(endpoint(**keys)), "remote")["endpoint"]["key"] is None
    named = weights_settings(experiment(endpoint(protocol="tei", key="MY_KEY", price=3, max_words=9)), "remote")
    assert named["endpoint"] == address | {"protocol": "tei", "key": "MY_KEY", "price": 3, "max_words": 9}


def test_a_writers_list_of_parameters_that_are_left_out_is_one_value():
    left_out = ["seed", "max_tokens"]
    written = {"format": "generated", "corpus": "d", "generator": "remote"}
    model = {**endpoint(leave_out=left_out), "type": WRITER}
    resolved = of_base({"models/remote": model, "datasets/written": written})
    assert weights_settings(resolved, "remote")["endpoint"]["leave_out"] == left_out


def test_what_is_said_of_it():
    resolved = experiment(endpoint(max_words=200))
    system = resolved.systems["embedded"]
    said = describe(resolved, system)
    assert "bi-encoder-endpoint remote (organisation/embeds, asked at https://h.example/v1, 200 words" in said
    reported = system_type(system).provenance(resolved, system)
    assert reported["url"] == "https://h.example/v1" and reported["max_words"] == 200
    assert reported["weights"] == MODEL["weights"]
    assert "key" not in reported and not reported.get("max_length")


def test_two_that_ask_the_same_are_one_system_under_two_names():
    second = {"models__other": endpoint(concurrency=9), "systems__second": {"model": "other"}}
    pair = {"control": "embedded", "treatment": "second"}
    with pytest.raises(UserError, match="are one system under two names"):
        experiment(comparisons__c=pair, **second)
    experiment(comparisons__c=pair, **second | {"models__other": endpoint(max_words=9)})


SECRET = "sk-abc123"
CASES = {
    "no endpoint": ({**MODEL, "endpoint": ...}, "models.remote.endpoint: is needed for a bi-encoder-endpoint"),
    "of weights here": ({**MODEL, "type": "bi-encoder"}, "models.remote"),
    "a length": ({**MODEL, "max_length": 512}, "models.remote.max_length: a bi-encoder-endpoint takes none"),
    "a checksum": ({**MODEL, "sha256": "0" * 64}, "models.remote.sha256: a bi-encoder-endpoint takes none"),
    "a length of queries": ({**MODEL, "max_query_length": 9}, "models.remote.max_query_length: a bi-encoder-endpoint takes none"),
    "in ONNX": ({**MODEL, "backend": "onnx"}, "models.remote: backend onnx ranks with"),
    "batches by tokens": ({**MODEL, "batch_tokens": 4096}, "models.remote.batch_tokens: only valid for a"),
    "no address": (endpoint(url="h.example/v1"), "models.remote.endpoint.url: this URL cannot be fetched; expected http"),
    "user": (endpoint(url=f"https://me:{SECRET}@h/v1"), "models.remote.endpoint.url: no key here: endpoint.key names the"),
    "a key itself": (endpoint(key=SECRET), "models.remote.endpoint.key: expected the name of an environment variable"),
    "another protocol": (endpoint(protocol="grpc"), "models.remote.endpoint.protocol"),
    "parameters of a chat": (endpoint(leave_out=["seed"]), "models.remote.endpoint.leave_out: a bi-encoder-endpoint sends"),
    "a parameter twice": ({**endpoint(leave_out=["seed"] * 2), "type": WRITER}, "models.remote.endpoint.leave_out"),
    "no parameter": ({**endpoint(leave_out=["model"]), "type": WRITER}, "models.remote.endpoint.leave_out"),
    "prompts of pairs": ({**MODEL, "type": "cross-encoder-endpoint", "prompts": {"query": "q: "}}, "takes none"),
}  # fmt: skip


test_each_mistake_is_one_line_and_shows_no_key = each_is_one_line(CASES, experiment, SECRET)


def test_no_recipe_trains_it():
    with pytest.raises(UserError, match="a bi-encoder-endpoint cannot be trained here"):
        experiment(systems__embedded={"model": "remote", "recipe": "r"})
