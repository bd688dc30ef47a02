"""One side of a row in a process of its own: `python -m tests.benchmark.side ROW SIDE FOLDER` prints what it took.

The result goes to FOLDER/{side}.npz; seconds are of the work alone, memory is of the whole process,
or of the largest that it started where a row's work is done by commands.
"""

import json
import resource
import sys
import time
from pathlib import Path

from ranktrial.common.timing import peak_rss_bytes
from ranktrial.models import running  # noqa: F401 - first: it sets what the libraries read while they are imported
from tests.benchmark.row import row


def processor_seconds() -> float:
    """Of this process and its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    import numpy as np

    name, side, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    work = row(name).SIDES[side](folder)
    before, start = processor_seconds(), time.perf_counter()
    result = work()
    seconds, processor = time.perf_counter() - start, processor_seconds() - before
    np.savez(folder / f"{side}.npz", **result)
    by_commands = getattr(row(name), "BY_COMMANDS", False)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 if by_commands else peak_rss_bytes()
    print(json.dumps({"seconds": seconds, "processor_seconds": processor, "peak_rss_bytes": peak}))


if __name__ == "__main__":
    main()
