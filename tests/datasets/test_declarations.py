"""What the formats declare: the schema, the pages and the readers say the same."""

from pathlib import Path

import pytest

from ranktrial.common.keys import keys_of
from ranktrial.common.plugins import load_all
from ranktrial.configuration.dataset_keys import FORMATS, dataset_schema, keys_of_format, own_keys, readme_table
from ranktrial.configuration.schema import entry_of, schema

REPOSITORY = Path(__file__).parents[2]
READERS = {name: module for name, module in load_all(FORMATS).items() if module.FORMAT.has_files}


def test_the_schema_holds_what_the_formats_declare():
    assert entry_of(schema(), "datasets") == dataset_schema()


def test_the_page_holds_the_table_of_formats():
    assert f"\n\n{readme_table()}\n\n" in (REPOSITORY / "docs/writing-an-experiment.md").read_text()


@pytest.mark.parametrize("name", READERS)
def test_the_options_of_a_reader_are_keys_of_its_datasets(name):
    """One by one: what is required, and each default."""
    options, keys = keys_of(READERS[name].Options), keys_of_format(name)
    assert set(options) <= set(keys) and set(own_keys(name)) <= set(options)
    assert all(option.default == keys[key].default for key, option in options.items())


@pytest.mark.parametrize("name", load_all(FORMATS))
def test_what_a_format_refers_to_is_among_its_keys(name):
    form = load_all(FORMATS)[name].FORMAT
    assert {*form.narrowing, *filter(None, [form.judgements])} <= set(keys_of_format(name))
