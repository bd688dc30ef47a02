"""Languages of texts by ISO 639-1 code: which Lucene's analysers know, and of which sentences can be found.

Reads and writes nothing. The lists are those of Anserini (AnalyzerMap) and of pysbd; tests hold them to both.
"""

from __future__ import annotations

ENGLISH = "en"
ANALYSED = (ENGLISH, "ar", "bn", "da", "de", "es", "fa", "fi", "fr", "hi", "hu", "id", "it", "ja", "ko", "nl", "no",
            "pl", "pt", "ru", "sv", "te", "th", "tr", "uk", "zh")  # fmt: skip
WITH_SENTENCES = (ENGLISH, "ar", "da", "de", "es", "fa", "fr", "hi", "it", "ja", "nl", "pl", "ru", "zh")
