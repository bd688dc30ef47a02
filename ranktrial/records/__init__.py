"""The content of the JSON files and tables of results: frozen dataclasses, which stages write and reports read.

A file is one record, a table has one per row. ranktrial/common/settings.py converts records of files to JSON and back.
Result types of ranktrial/statistics (a summary, a difference, a model) are fields of records as they are.
"""
