"""What the JSON files of results hold: one frozen dataclass each, which stages write and reports read.

`scripts/common/records.py` turns them into JSON and back. What statistics state themselves (a summary, a difference, a
model) stands in a record as it is.
"""
