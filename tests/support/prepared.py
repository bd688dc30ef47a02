"""Preparing a dataset as the workflow does: from the keys of its entry in the configuration."""

from ranktrial.common import plugins
from ranktrial.common.keys import keys_of
from ranktrial.configuration.dataset_keys import FORMATS
from scripts.datasets import prepare as script

OF_COLLECTION = ("format", "seed", "sha256", "splits", "split_by", "drop_shared", "drop_near_duplicates",
                 "strict", "test_queries", "dev_queries", "unjudged", "grades", "document_characters",
                 "own_document")  # fmt: skip


def prepare(source, folder, entry, shared=None, excluded=None):
    kept = {key: entry[key] for key in OF_COLLECTION if key in entry}
    own = keys_of(plugins.load(FORMATS, entry["format"]).Options)
    options = entry.get("options", {name: entry[name] for name in own if name in entry})
    settings = script.Settings(source=str(source), options=options, **kept)
    return script.prepare(folder, settings, script.Files(shared, (), excluded))
