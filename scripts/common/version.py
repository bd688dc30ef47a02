"""The version of ranktrial, which the report, archives and `make help` name; CITATION.cff and CHANGELOG.md say the same."""

VERSION = "0.1.0"
