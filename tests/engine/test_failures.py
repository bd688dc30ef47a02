"""The error lines of failed jobs that are repeated at the end of a run."""

import os

from ranktrial.engine.failures import errors_of_logs, first_error


def test_each_error_of_this_run_is_reported_once_with_its_first_log(tmp_path):
    logs, slurm = tmp_path / "logs", tmp_path / "slurm"
    for path, text, date in [
        (logs / "score/b.log", "host: x\n12 queries\nerror: x.yaml: wrong\n", 2000),
        (logs / "a.log", "Traceback\nOSError: [Errno 28] No space left on device\n", 2000),
        (logs / "old.log", "error: of an earlier run\n", 1000),
        (logs / "no.txt", "error: in no log\n", 2000),
        (slurm / "1.log", "error: x.yaml: wrong\nslurmstepd-node7: error: Detected 1 oom_kill event\n", 2000),
    ]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (date, date))
    assert errors_of_logs([logs, slurm, tmp_path / "gone"], 1500) == [
        f"error: [Errno 28] No space left on device  [{logs / 'a.log'}]",
        f"error: x.yaml: wrong  [{logs / 'score/b.log'}]",
        f"error: Detected 1 oom_kill event  [{slurm / '1.log'}]",
    ]


def test_a_log_that_is_no_text_is_read_all_the_same(tmp_path):
    (tmp_path / "a.log").write_bytes(b"\xff\xfe\nerror: broken\n")
    assert errors_of_logs([tmp_path], 0) == [f"error: broken  [{tmp_path / 'a.log'}]"]


def test_the_last_line_of_slurms_log_says_why_a_job_could_not_start(tmp_path):
    folder = tmp_path / "slurm_logs"
    folder.mkdir()
    (folder / "7.log").write_text("modules loaded\n/spool/slurm_script: 4: /home/lab/with: not found\n\n")
    (folder / "8.log").write_text("host: c1\nBuilding DAG of jobs...\nExiting because a job execution failed.\n")
    (tmp_path / "rule.log").write_text("anything\n")
    logs = [*folder.glob("*.log"), tmp_path / "rule.log"]
    assert first_error(logs, 0.0) == f"/spool/slurm_script: 4: /home/lab/with: not found  [{folder / '7.log'}]"
    assert len(errors_of_logs([folder], 0.0)) == 1
