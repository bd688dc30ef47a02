"""The words by which comparative texts are recognised, and the division of texts into words. English only."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"[^\W_](?:[\w'\u2019&+#./-]*[\w+#])?|[,:;?!()]")

# Comparatives whose superlative ends in -est, regular and irregular ones.
_SHORT = """
    bigger smaller larger faster slower quicker cheaper dearer safer riskier stronger weaker harder softer easier
    simpler healthier tastier warmer colder hotter cooler lighter heavier longer shorter taller higher lower deeper
    wider thicker thinner brighter darker louder quieter cleaner dirtier greener smarter wiser older younger newer
    richer poorer nicer prettier uglier happier sadder friendlier kinder tougher smoother sharper rarer closer nearer
    fairer finer fresher sweeter drier wetter busier noisier sturdier costlier pricier braver
    calmer gentler greater broader narrower steeper purer stricter fuller emptier lazier scarier funnier deadlier
"""
COMPARATIVES = {"better", "worse", "farther", "lesser", *_SHORT.split()}
SUPERLATIVES = {"best", "worst", "farthest"} | {f"{word[:-2]}est" for word in _SHORT.split()}
DEGREES = {"more", "less", "fewer"}  # of what follows: more efficient, less sugar
HIGHEST_DEGREES = {"most", "least", "fewest"}

ARTICLES = {"a", "an", "the"}
PRONOUNS = {"i", "we", "you", "he", "she", "it", "they", "one", "someone", "people"}
QUESTION_WORDS = {"which", "what", "who", "whom", "whose", "why", "how", "where", "when", "whether"}
AUXILIARIES = {
    "is", "are", "was", "were", "be", "am", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would",
    "should", "shall", "may", "might", "must",
}  # fmt: skip
PREPOSITIONS = {
    "for", "in", "on", "at", "with", "without", "during", "after", "before", "to", "as", "from", "under", "into", "by",
    "of", "about", "regarding", "concerning", "over", "per", "among", "than", "until", "against", "via",
}  # fmt: skip
SUBORDINATORS = {"if", "when", "while", "because", "since", "although", "that", "who", "where", "unless"}
ADVERBS = {
    "really", "actually", "much", "far", "even", "always", "still", "generally", "usually", "not", "no", "any",
    "significantly", "considerably", "slightly", "truly", "necessarily", "overall", "first", "now", "today",
}  # fmt: skip
CHOICE_VERBS = {"choose", "pick", "prefer", "use", "buy", "take", "get", "select", "favour", "favor", "recommend"}
# Verbs that often begin an action; words that are also nouns ("plan") are better left out.
ACTIONS = CHOICE_VERBS | {
    "rent", "lease", "stay", "wait", "go", "leave", "move", "keep", "sell", "put", "pay", "save", "invest", "spend",
    "learn", "study", "eat", "drink", "cook", "make", "build", "repair", "replace", "drive", "fly", "walk", "run",
    "read", "write", "tell", "ask", "hire", "do", "be", "have", "give", "try", "start", "stop", "adopt", "become",
    "apply", "live", "work", "visit", "wear", "add", "install", "join", "quit", "continue", "return", "throw", "let",
}  # fmt: skip


def tokens(text: str) -> list[str]:
    """The words of a text, in their own case, and its punctuation marks."""
    return _TOKEN.findall(text)


def is_sign(token: str) -> bool:
    """Whether a token is a punctuation mark, not a word."""
    return token in ",:;?!()"


def is_comparative(words: list[str], place: int) -> bool:
    """Whether the (lower-case) word is a comparative: better, more efficient, or any word in -er before "than"."""
    word = words[place]
    if word in COMPARATIVES or word in DEGREES:
        return True
    return len(word) > 4 and word.endswith("er") and words[place + 1 : place + 2] == ["than"]


def is_superlative(words: list[str], place: int) -> bool:
    """Whether the (lower-case) word is a superlative: best, cheapest, most efficient."""
    return words[place] in SUPERLATIVES or words[place] in HIGHEST_DEGREES


def compares(words: list[str], place: int) -> bool:
    """Whether the (lower-case) word is a comparative or a superlative."""
    return is_comparative(words, place) or is_superlative(words, place)
