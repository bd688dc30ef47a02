"""What the JSON files and tables of results hold: frozen dataclasses, which stages write and reports read.

A file is one record, a table has one per row. `scripts/common/records.py` turns records of files into JSON and back.
What statistics state themselves (a summary, a difference, a model) stands in a record as it is.
"""
