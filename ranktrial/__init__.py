"""Compare retrieval systems, or anything with one score per query: effects, intervals, forest plots, a page.

    import ranktrial as rt
    found = rt.compare(frame)          # task, query, system, value
    found.forest_plot("a.pdf"); found.table("a.tex"); print(found.sentence()); found.report("a.html")

`evaluate` scores runs, `read` reads files of scores, `power` plans a further study; docs/library.md has examples. They
are loaded when they are used, and named in ranktrial/api, since this file is code of every job.
"""

import importlib


def __getattr__(name: str) -> object:
    return getattr(importlib.import_module("ranktrial.api"), name)
