"""Values per query that the systems bring, of any measure: nothing is read, since the systems name the files."""

from __future__ import annotations

from scripts.datasets.formats import Format

NAME = "scores"
KEYS = {
    "format": {"description": "values that the systems bring"},
    "measure": {"description": "what the values are, such as accuracy", "$ref": "#/$defs/label"},
}
FORMAT = Format(
    location="nothing: the systems bring a value per sample; `measure` names the values",
    splits=lambda entry: {"test"},
    required=("measure",),
    has_documents=False,
    values_given=True,
)
