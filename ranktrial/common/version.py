"""The version of ranktrial, for the report, archives and `make help`; CITATION.cff and CHANGELOG.md say the same."""

VERSION = "0.1.0"
