"""The course of a run: preparation before the first job, progress, priorities of jobs, and the end.

Read after all rules. During a run, one line per stage shows its progress. At the end, the finding of the first
comparison or the error line of each failed job is printed.
"""

import os
import sys
from pathlib import Path

from ranktrial.common import interruption
from ranktrial.common.errors import UserError
from ranktrial.engine.scheduling import time_alone
from ranktrial.engine.run_progress import errors_of_logs
from ranktrial.engine.identity import OwnPlaces, identify
from ranktrial.engine.job_records import refuse_false_records
from ranktrial.engine.scheduling import prefer_first
from ranktrial.engine.run_progress import follow
from ranktrial.engine.slurm import begin_run
