"""Comparative questions: what they compare, and whether a document compares it. Rules only, nothing is learnt.

The structures are those of Chekalina et al. (2021), "Which is better for deep learning: Python or MATLAB?" (EACL,
demonstrations): objects that are compared, the aspects of the comparison, and comparing predicates. A tagger finds them
in a text. The taggers here use rules, one for questions and one for documents; a model that labels tokens can replace
either, as a function of the same type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Structure(NamedTuple):
    """The comparison in a text: objects, aspects, predicates, as written, in the order of the text."""

    objects: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()


Tagger = Callable[[str], Structure]
