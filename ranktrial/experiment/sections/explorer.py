"""Keys of the section `explorer`: contents of the page of queries and rankings; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ranktrial.common.keys import Depth, Rule


@dataclass(frozen=True, kw_only=True)
class Explorer:
    """The page that shows single queries and their rankings."""

    texts: Annotated[
        bool,
        "show texts, including those of queries in the report; false: only ids, if a licence forbids "
        "redistributing the texts",
    ] = True
    depth: Annotated[Depth, "documents shown per ranking; fewer if `megabytes` is too small"] = 100
    megabytes: Annotated[
        int,
        "maximum size of the page and its data in megabytes; the page states what it leaves out",
        Rule(minimum=1, maximum=10_000),
    ] = 200
