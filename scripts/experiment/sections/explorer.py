"""The section `explorer`: what the page of single queries and rankings shows; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from scripts.common.keys import Depth, Rule


@dataclass(frozen=True, kw_only=True)
class Explorer:
    """The page on which single queries and their rankings are looked at."""

    texts: Annotated[
        bool,
        "show texts, also those of queries in the report; false: ids alone, where a licence forbids passing texts on",
    ] = True
    depth: Annotated[Depth, "documents of each ranking; fewer where `megabytes` are not enough"] = 100
    megabytes: Annotated[
        int,
        "the most that the page and its data take; it states what it leaves out",
        Rule(minimum=1, maximum=10_000),
    ] = 200
