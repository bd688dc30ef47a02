"""The names by which Slurm knows jobs, and limits of a site; what is done with them is tested on a real Slurm."""

import importlib
import os
import re
import types
from types import SimpleNamespace

import pytest
from snakemake.iocontainers import ResourceList
from snakemake.resources import Resource
from snakemake_interface_common.exceptions import WorkflowError

from ranktrial.common.errors import UserError
from ranktrial.engine.slurm import (
    ASKS,
    USED,
    arrays,
    ask_for_gpus_of_each_node,
    begin_run,
    end_earlier_jobs,
    follow_limit,
    limits_of_partitions,
    minutes,
    prefix,
    refuse_jobs_of_others,
    replaced,
    short_memory,
    too_long,
)


@pytest.fixture(autouse=True)
def asking(monkeypatch):
    """The module of the executors of these tests asks for GPUs as the plugin's does."""
    monkeypatch.setattr(types, ASKS, lambda job: f" --gpus=a100:{job.resources['gpu']}", raising=False)


def test_a_name_belongs_to_one_experiment_in_one_folder(tmp_path):
    folders = [tmp_path / "a" / "results" / "x", tmp_path / "b" / "results" / "x", tmp_path / "a" / "results" / "x.y"]
    names = [prefix(folder) for folder in folders]
    assert not any(one.startswith(other) for one in names for other in names if one is not other)
    assert names[0].startswith("x_") and names[2].startswith("x-y_")


def test_a_name_is_one_that_slurm_and_the_shell_take_as_it_is(tmp_path):
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,50}", prefix(tmp_path / ("ü .;$" + "long" * 50)))


def workflow_with(executor, plugin="slurm"):
    scheduler = SimpleNamespace(_executor=executor)
    return SimpleNamespace(executor_plugin=SimpleNamespace(name=plugin), scheduler=scheduler, rules=[])


def an_executor():
    """What the module needs of the plugin's executor, without any of its work."""
    settings = SimpleNamespace(init_seconds_before_status_checks=10)
    workflow = SimpleNamespace(executor_settings=settings)
    return SimpleNamespace(**(dict.fromkeys(USED) | {"run_uuid": "1", "workflow": workflow, "array_jobs": set()}))


def test_without_slurm_nothing_is_asked_or_renamed():
    executor = SimpleNamespace()
    begin_run(workflow_with(executor, "local"), "results/x", print)
    assert not vars(executor)


def test_a_machine_without_slurm_is_reported_in_one_line(monkeypatch, tmp_path):
    executor = an_executor()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="error: squeue: no such command"):
        begin_run(workflow_with(executor), "results/x", print)
    assert executor.run_uuid == prefix("results/x") + "1"


@pytest.mark.parametrize("lacking", USED)
def test_a_plugin_that_is_built_otherwise_ends_the_run_before_any_job(lacking):
    executor = an_executor()
    delattr(executor, lacking)
    with pytest.raises(SystemExit, match=rf"^error: snakemake-executor-plugin-slurm \d.* no {lacking} in it"):
        begin_run(workflow_with(executor), "results/x", print)
    with pytest.raises(SystemExit, match="no run_uuid in it"):
        begin_run(SimpleNamespace(executor_plugin=SimpleNamespace(name="slurm"), scheduler=None), "results/x", print)


def test_a_plugin_that_asks_for_gpus_otherwise_ends_the_run_before_any_job(monkeypatch):
    monkeypatch.delattr(types, ASKS)
    executor = an_executor()
    with pytest.raises(SystemExit, match=rf"^error: snakemake-executor-plugin-slurm \d.* no {ASKS} in it"):
        begin_run(workflow_with(executor), "results/x", print)


def test_gpus_are_asked_for_by_node_where_a_job_has_several():
    ask_for_gpus_of_each_node(SimpleNamespace())
    asked = [
        getattr(types, ASKS)(SimpleNamespace(resources={"gpu": 4} | nodes))
        for nodes in ({}, {"nodes": 1}, {"nodes": 2})
    ]
    assert asked == [" --gpus=a100:4", " --gpus=a100:4", " --gpus-per-node=a100:4"]


def test_a_gpu_model_may_have_a_hyphen(monkeypatch):
    """The plugin's own words, which refuse one, for a name as Slurm gives it to NVIDIA's A100 of 80 GB."""
    plugin = importlib.import_module("snakemake_executor_plugin_slurm")
    monkeypatch.setattr(types, ASKS, getattr(plugin, ASKS))
    ask_for_gpus_of_each_node(SimpleNamespace())
    resources = ResourceList(fromdict={"gpu": 2, "gpu_model": "a100-sxm4-80gb", "nodes": 1, "gres": "shard:1"})
    asked = getattr(types, ASKS)
    assert asked(SimpleNamespace(resources=resources)) == " --gres=shard:1 --gpus=a100-sxm4-80gb:2"
    resources = ResourceList(fromdict={"gpu": 2, "gpu_model": "a100-sxm4-80gb", "nodes": 2})
    assert asked(SimpleNamespace(resources=resources)) == " --gpus-per-node=a100-sxm4-80gb:2"
    with pytest.raises(WorkflowError, match="a100-80 gb"):
        asked(SimpleNamespace(resources=ResourceList(fromdict={"gpu": 1, "gpu_model": "a100-80 gb"})))


QUEUE = """#!/bin/sh
cat "$(dirname "$0")/queue"
"""
CANCEL = """#!/bin/sh
echo "$@" >>"$(dirname "$0")/cancelled"
: >"$(dirname "$0")/queue"
"""


def test_only_jobs_of_this_experiment_in_this_folder_are_ended(monkeypatch, tmp_path, capsys):
    for name, script in (("squeue", QUEUE), ("scancel", CANCEL)):
        (tmp_path / name).write_text(script)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    ours, others = prefix(tmp_path / "results/x"), prefix(tmp_path / "elsewhere/results/x")
    (tmp_path / "queue").write_text(f"12 {ours}uuid\n9 {ours}uuid\n10 {others}uuid\n11 bash\n")
    end_earlier_jobs(ours)
    assert (tmp_path / "cancelled").read_text() == "9 12\n"
    assert "ending 2 jobs that an earlier run left in the queue: 9 12" in capsys.readouterr().err
    end_earlier_jobs(ours)
    assert (tmp_path / "cancelled").read_text() == "9 12\n"


def test_a_python_on_a_path_with_a_space_is_refused_before_any_job(monkeypatch):
    monkeypatch.setattr("sys.executable", "/home/lab/with space/.venv/bin/python")
    with pytest.raises(SystemExit, match=r"^error: /home/lab/with space/\.venv/bin/python: a path with a space"):
        begin_run(workflow_with(an_executor()), "results/x", print)


def test_a_slurm_that_forgets_ended_jobs_sooner_than_it_is_asked_is_named():
    assert short_memory("KillWait = 30 sec\nMinJobAge               = 300 sec\n") is None
    assert "after 20 s (MinJobAge)" in (short_memory("MinJobAge               = 20 sec\n") or "")
    assert short_memory("") is None


def test_no_training_is_submitted_in_an_array():
    assert arrays({"all"}, ["search", "fine_tune"]) == {"search"}
    assert arrays({"score", "fine_tune"}, ["search", "score", "fine_tune"]) == {"score"}
    assert arrays(set(), ["search"]) == set()


def test_jobs_of_another_user_on_the_same_results_are_named_and_left(monkeypatch, tmp_path):
    (tmp_path / "squeue").write_text(QUEUE)
    (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "queue").write_text(f"12 me {os.getuid()} x_1\n13 ann 7 y_1\n\n14 ann\n")
    refuse_jobs_of_others("x_")
    (tmp_path / "queue").write_text("12 ann 4711 x_1\n13 ann 4711 x_1\n")
    with pytest.raises(UserError, match="jobs of ann on these results are in the queue: 12 13;"):
        refuse_jobs_of_others("x_")


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("30:00", 30), ("1:00:00", 60), ("2-00:00:00", 2880), ("1-12:30:30", 36 * 60 + 30.5), ("infinite", None), ("n/a", None)],
)  # fmt: skip
def test_a_time_limit_is_read_in_each_form_of_sinfo(limit, expected):
    assert minutes(limit) == expected


def test_more_time_than_each_partition_has_is_one_warning_for_the_worst_rule():
    limits = limits_of_partitions("cpu*|1:00:00\nlong|infinite\nProject lab: 1500 hours left\ngpu|10:00\n")
    assert limits == {"cpu": 60, "gpu": 10}
    asked = [("score", "cpu", 60), ("search", "cpu", 61), ("tune", "cpu", 90), ("join", "cpu,long", 90), ("x", "no", 9)]
    (warning,) = too_long(asked, limits)
    assert warning.startswith("tune asks for up to 90 minutes on partition cpu, whose limit is 60 (sinfo)")
    assert too_long([("encode", "cpu,gpu", 60)], limits) == []


@pytest.mark.parametrize("word", ["--set-resources", "--set-resources=fine_tune:mem_mb=32000", "--default-resources"])
def test_an_option_that_replaces_an_entry_of_the_profile_is_named(word):
    (warning,) = replaced(["snakemake", word, "fine_tune:mem_mb=32000"])
    assert warning.startswith(f"{word.partition('=')[0]} on the command line replaces the profile's entry")
    assert replaced(["snakemake", "--profile", "slurm"]) == []


def test_a_limit_on_jobs_is_that_of_the_default_account_and_qos_where_the_profile_has_none(monkeypatch, tmp_path):
    """sacctmgr knows these alone; a resource without a value evaluates to None."""
    (tmp_path / "sacctmgr").write_text(
        '#!/bin/sh\ncase "$*" in *"show user"*) echo lab;; *account=lab*) echo "paper||";; *"show qos paper"*) echo "paper|2|";; esac\n'
    )
    (tmp_path / "sacctmgr").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    needs = {name: Resource(name, None) for name in ("slurm_account", "qos")}
    job = SimpleNamespace(
        is_local=False, input=[], restart_times=0, wildcards={}, rule=SimpleNamespace(name="x", resources=needs)
    )
    scheduler = SimpleNamespace(global_resources={"_nodes": 100}, resources={"_nodes": 100})
    dag = SimpleNamespace(needrun_jobs=lambda: [job])
    workflow = SimpleNamespace(dag=dag, scheduler=scheduler, async_run=None)
    assert follow_limit(workflow) == "at most 2 jobs in the queue at a time: the limit of QOS paper"
    assert scheduler.resources["_nodes"] == scheduler.global_resources["_nodes"] == 2
