"""The row bm25_index with one thread that indexes on either side: ours never has more, so that an index is always the same.

The processes are not kept to one core: Java compiles and collects garbage beside either, and ours reads beside it.
"""

from functools import partial

from tests.benchmark.rows import bm25_index

TITLE = "BM25 index, against Anserini's IndexCollection with one thread"
BY_COMMANDS, UNIT = bm25_index.BY_COMMANDS, bm25_index.UNIT

prepare, agree = bm25_index.prepare, bm25_index.agree
SIDES = {"plain": partial(bm25_index.plain, threads=1), "ours": bm25_index.ours}
