"""Languages of texts by ISO 639-1 code: which Lucene's analysers know, and of which sentences can be found.

Reads and writes nothing. The list of Anserini (AnalyzerMap), to which a test holds it. sentencex finds sentences by the
marks at their ends, and Thai has none.
"""

from __future__ import annotations

ENGLISH = "en"
ANALYSED = (ENGLISH, "ar", "bn", "da", "de", "es", "fa", "fi", "fr", "hi", "hu", "id", "it", "ja", "ko", "nl", "no",
            "pl", "pt", "ru", "sv", "te", "th", "tr", "uk", "zh")  # fmt: skip
WITH_SENTENCES = tuple(language for language in ANALYSED if language != "th")
