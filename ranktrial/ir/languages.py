"""Languages of texts by ISO 639-1 code: those with a Lucene analyser, and those with sentence splitting.

Reads and writes nothing. The list is Anserini's (AnalyzerMap); a test compares them. sentencex finds sentences by the
marks at their ends, which Thai lacks.
"""

from __future__ import annotations

ENGLISH = "en"
ANALYSED = (ENGLISH, "ar", "bn", "da", "de", "es", "fa", "fi", "fr", "hi", "hu", "id", "it", "ja", "ko", "nl", "no",
            "pl", "pt", "ru", "sv", "te", "th", "tr", "uk", "zh")  # fmt: skip
WITH_SENTENCES = tuple(language for language in ANALYSED if language != "th")
