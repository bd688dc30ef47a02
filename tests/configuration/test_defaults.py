"""The schema's defaults, and that the order of keys means nothing."""

import copy

import pytest

from ranktrial.common.errors import UserError
from ranktrial.configuration.reading import complete
from ranktrial.configuration.schema import entry_of, schema
from ranktrial.experiment.resolution import resolve
from tests.experiment.test_config import BASE


def test_every_default_of_the_schema_is_valid_and_every_entry_is_described():
    completed, _ = complete(copy.deepcopy(BASE), "c.yaml")
    for section, name in [("datasets", "d"), ("models", "m"), ("recipes", "r"), ("comparisons", "c")]:
        properties = entry_of(schema(), section)["properties"]
        defaults = {key for key, part in properties.items() if part.get("default") is not None}
        assert defaults <= set(completed[section][name])
    assert complete(copy.deepcopy(completed), "c.yaml")[0] == completed  # defaults pass their own schema, and stay


@pytest.mark.parametrize(
    ("section", "name"), [("datasets", "d"), ("models", "m"), ("recipes", "r"), ("comparisons", "c")]
)
def test_a_default_that_is_written_out_says_what_leaving_it_out_says(section, name):
    completed, _ = complete(copy.deepcopy(BASE), "c.yaml")
    properties = entry_of(schema(), section)["properties"]
    tried = [key for key, part in properties.items() if "default" in part and key not in BASE[section][name]]
    assert len(tried) > 4
    for key in tried:
        config = copy.deepcopy(BASE)
        config[section][name][key] = copy.deepcopy(properties[key]["default"])
        assert complete(config, "c.yaml")[0] == completed, key


def test_null_stands_for_no_value_only_where_it_is_the_default():
    config = copy.deepcopy(BASE)
    config["recipes"]["r"] |= {"teacher": None, "margin": None, "negatives": {"range_max": None}}
    completed, _ = complete(config, "c.yaml")
    assert not {"teacher", "margin", "start_from"} & completed["recipes"]["r"].keys()
    assert "range_max" not in completed["recipes"]["r"]["negatives"]
    config["recipes"]["r"]["epochs"] = None
    with pytest.raises(UserError, match="epochs"):
        complete(config, "c.yaml")


def test_the_configuration_does_not_change_when_keys_are_reordered():
    def reversed_keys(value):
        return {k: reversed_keys(v) for k, v in reversed(value.items())} if isinstance(value, dict) else value

    assert vars(resolve(reversed_keys(BASE), "c.yaml")) == vars(resolve(copy.deepcopy(BASE), "c.yaml"))
