"""Types of systems: what they declare is what the schema says."""

from ranktrial.configuration import system_keys
from ranktrial.configuration.schema import entry_of, schema
from ranktrial.models.model_keys import Model


def test_the_schema_has_the_keys_that_the_types_declare():
    assert entry_of(schema(), "systems")["properties"] == system_keys.keys()


def test_an_entry_without_a_type_is_of_one_type():
    models = {
        name: Model(type=model_type, weights=name)
        for name, model_type in (("b", "bi-encoder"), ("ce", "cross-encoder"))
    }
    untyped = [module.TYPE for module in system_keys.modules().values() if not module.TYPE.typed]
    more_keys = ({}, {"candidates": "all"}, {"rerank": {"first_stage": "x"}}, {"candidates": "all", "rerank": {}})
    for model in models:
        for keys in more_keys:
            entry = {"model": model} | keys
            assert sum(one.implied(models, entry) for one in untyped) == 1, entry
