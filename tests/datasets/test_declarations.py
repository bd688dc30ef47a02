"""What the formats declare: the schema, the pages and the readers say the same, and a new format is one file."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ranktrial.common.keys import keys_of
from ranktrial.common.plugins import load_all
from ranktrial.configuration.dataset_keys import FORMATS, dataset_schema, keys_of_format, own_keys, readme_table
from ranktrial.configuration.schema import entry_of, schema
from tests.support.sources import copy_sources

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


TOY = '''"""Lines of text, each a document with a query that finds it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ranktrial.common.files import lines
from ranktrial.datasets.formats import Collection, Format
from ranktrial.ir.collection import Document

NAME = "toy"
FORMAT = Format(location="a file of lines", splits=lambda entry: {"test"})


@dataclass(frozen=True)
class Options:
    file: Annotated[str, "the file's name"]


Keys = Options


def read(root: Path, options: Options) -> Collection:
    texts = {str(number): line for number, line in lines(root / options.file)}
    documents = [Document(name, "", text) for name, text in texts.items()]
    queries = {name: f"which line has {text} in it" for name, text in texts.items()}
    return Collection(documents, {"test": queries}, {"test": {name: {name: 1} for name in texts}})
'''
PLAN = """
import json
from ranktrial.configuration.dataset_keys import options_of, readme_table
from ranktrial.experiment.resolution import resolve
config = {"experiment": "e", "datasets": {"d": {"format": "toy", "location": "data", "file": "a.txt"}}, "tasks": ["d"],
          "systems": {"bm25": {"type": "bm25"}}}
entry = resolve(config, "c.yaml").datasets["d"]
assert "| `toy` | a file of lines |" in readme_table()
print(json.dumps({"format": "toy", "source": "data", "seed": 1, "options": options_of(entry)}))
"""


def test_a_new_format_is_one_file(tmp_path):
    """In a copy of the scripts: it can be configured, has its line in the README's table, and is prepared."""
    copy_sources(tmp_path)
    (tmp_path / "ranktrial/datasets/formats/toy.py").write_text(TOY)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a.txt").write_text("first\nsecond\n")
    here = {"cwd": tmp_path, "env": {"PYTHONPATH": str(tmp_path)}, "check": True, "capture_output": True, "text": True}
    planned = subprocess.run([sys.executable, "-c", PLAN], **here).stdout
    assert json.loads(planned)["options"] == {"file": "a.txt"}
    command = ["scripts/datasets/prepare.py", "--statistics", "made/statistics.json", "--corpus", "--settings", planned]
    subprocess.run([sys.executable, *command], **here)
    assert len((tmp_path / "made/corpus.jsonl").read_text().splitlines()) == 2
    assert (tmp_path / "made/qrels/test.qrels").read_text() == "1 0 1 1\n2 0 2 1\n"
