"""Comparative questions: what they compare, and how far a document compares it. Regular expressions, nothing learnt.

The structures are those of Chekalina et al. (2021), "Which is better for deep learning: Python or MATLAB?" (EACL,
demonstrations): objects that are compared, aspects in which they are, and predicates that compare. A tagger finds them
in a text. Those here go by rules, one for questions and one for documents; a model that labels tokens can take the
place of either, as a function of the same type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Structure(NamedTuple):
    """What a text compares: objects, aspects, predicates, as they are written, in the order of the text."""

    objects: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()


Tagger = Callable[[str], Structure]
