"""The schema's defaults, and that the order of keys means nothing."""

import copy

from scripts.experiment.reading import complete
from scripts.experiment.resolution import resolve
from scripts.experiment.schema import schema
from tests.experiment.test_config import BASE


def test_every_default_of_the_schema_is_valid_and_every_entry_is_described():
    completed, _ = complete(copy.deepcopy(BASE), "c.yaml")
    for section, name in [("datasets", "d"), ("models", "m"), ("recipes", "r"), ("comparisons", "c")]:
        properties = schema()["$defs"][section.removesuffix("s")]["properties"]
        defaults = {key for key, part in properties.items() if part.get("default") is not None}
        assert defaults <= set(completed[section][name])
    assert complete(copy.deepcopy(completed), "c.yaml")[0] == completed  # defaults pass their own schema, and stay


def test_the_configuration_does_not_change_when_keys_are_reordered():
    def reversed_keys(value):
        return {k: reversed_keys(v) for k, v in reversed(value.items())} if isinstance(value, dict) else value

    assert vars(resolve(reversed_keys(BASE), "c.yaml")) == vars(resolve(copy.deepcopy(BASE), "c.yaml"))
