"""What the workflow uses of Snakemake and its Slurm plugin without a public promise: an upgrade that changes it fails here.

Where a test fails after an upgrade, read the new source, adapt the module that the test names, raise TESTED in
ranktrial/engine/rule_helpers.py, and run `make test-slurm`.
"""

import inspect
import re
from types import SimpleNamespace

import pytest
import snakemake.api  # first: its parts import each other in a circle
from snakemake.dag import DAG
from snakemake.iocontainers import Wildcards
from snakemake.jobs import Job, JobFactory
from snakemake.logging import LoggerManager
from snakemake.persistence import PersistenceBase
from snakemake.persistence import file as kept_in_files
from snakemake.rules import Rule
from snakemake.scheduling.job_scheduler import JobScheduler
from snakemake.settings.types import RerunTrigger
from snakemake.workflow import Workflow
from snakemake_executor_plugin_slurm import Executor

from ranktrial.engine.job_records import DIRECTORY_STAMP, PARTS, left_standing
from ranktrial.engine.job_records import USED as USED_TRIGGERS
from ranktrial.engine.rule_helpers import TESTED, newer_than_tested
from ranktrial.engine.run_progress import SAID, STOPPING, STREAM
from ranktrial.engine.slurm import ASKS
from ranktrial.engine.slurm_submission import ARRAY, STEP

pytestmark = pytest.mark.slow  # where a Slurm is installed and away, importing its plugin takes ten seconds


def source(thing):
    return inspect.getsource(thing)


def parameters(function):
    return list(inspect.signature(function).parameters)


def test_the_version_is_the_tested_one():
    assert tuple(int(part) for part in snakemake.__version__.split(".")[:2]) == TESTED
    assert newer_than_tested(snakemake.__version__) is None


# ranktrial/engine/slurm.py


def test_the_scheduler_keeps_the_executor_and_has_it_before_onstart():
    assert "self._executor = executor_plugin.executor(" in source(JobScheduler.__init__)
    execute = source(Workflow.execute)
    assert execute.index("self.scheduler = JobScheduler(") < execute.index("self._onstart(")
    assert execute.index("self._onstart(") < execute.index("self.scheduler.schedule()")
    assert isinstance(Workflow.executor_plugin, property)


def test_the_slurm_plugin_names_its_jobs_by_run_uuid():
    assert "self.run_uuid = " in source(Executor.__post_init__)
    assert '"all" in self.array_jobs or rule_name in self.array_jobs' in source(Executor.run_jobs)
    plugin = source(inspect.getmodule(Executor))
    assert plugin.count('"run_uuid": self.run_uuid') == 2, "a job and an array of jobs are submitted under it"


# ranktrial/engine/slurm_submission.py


def test_the_slurm_plugin_submits_by_popen_alone_and_reports_failures_by_one_method():
    plugin = source(inspect.getmodule(Executor))
    assert plugin.count("subprocess.Popen(") == plugin.count("process.communicate(") == 2, "a job and an array of jobs"
    assert plugin.count("if process.returncode != 0:") == 2
    assert parameters(Executor._report_job_error_threadsafe) == ["self", "job_info", "msg"]
    assert parameters(Executor.report_job_error) == ["self", "job_info", "msg", "kwargs"]
    assert source(Executor.run_job).count("self._report_job_error_threadsafe(") == 2
    assert plugin.count("next(self.get_account_arg(job") == 2
    assert "self._job_submission_executor.submit(self.run_job, job)" in source(Executor._submit_job)
    assert "self._job_submission_executor.submit(self.run_array_jobs, jobs)" in source(Executor._submit_array_jobs)


def test_ctrl_c_cancels_the_jobs_of_an_executor_and_then_waits_for_its_threads():
    cancel = source(Executor.cancel)
    assert cancel.index("self.cancel_jobs(") < cancel.index("self.shutdown()")


def test_a_job_without_attempts_left_is_not_started_again():
    assert "if job.restart_times > job.attempt - 1:" in source(JobScheduler)


# ranktrial/engine/slurm_submission.py


def test_the_slurm_plugin_gives_a_job_one_command_which_starts_a_step():
    assert f'"{STEP.strip()}"' in source(Executor.additional_general_args)
    assert "call += f' --wrap=\"{exec_job_escaped}\"'" in source(Executor.run_job)
    assert '["#!/bin/sh", exec_job]' in source(Executor.run_job)
    assert f'call + f"{ARRAY}{{' in source(Executor.run_array_jobs)


# ranktrial/engine/slurm.py


def test_the_scheduler_counts_the_jobs_in_the_queue_as_a_resource():
    begun = source(JobScheduler.__init__)
    assert 'workflow.global_resources["_nodes"]' in begun
    assert "self.resources = copy.copy(self.global_resources)" in begun


# ranktrial/engine/slurm_states.py


def test_an_executor_asks_for_its_jobs_and_sleeps_by_methods_that_can_be_replaced():
    waiting = source(Executor._wait_for_jobs)
    assert "async for job_info in self.check_active_jobs(active_jobs)" in waiting
    assert waiting.index("if not self.wait:") < waiting.index("await self.sleep()")
    assert 'aux={"slurm_logfile": slurm_logfile}' in source(Executor.run_job)


# ranktrial/engine/slurm.py


def test_the_slurm_plugin_asks_for_gpus_in_all_by_a_function_of_its_module():
    plugin = inspect.getmodule(Executor)
    assert source(plugin).count(f"call += {ASKS}(job") == 2, "of a job and of an array of jobs"
    asked = getattr(plugin, ASKS)(SimpleNamespace(resources={"gpu": 4, "gpu_model": "a100", "nodes": 2}))
    assert asked == " --gpus=a100:4"


# ranktrial/engine/rule_graph.py and scripts/archive/plan.py


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (Rule.products, ["self", "include_logfiles"]),
        (Rule.is_producer, ["self", "requested_output"]),
        (Rule.get_wildcards, ["self", "requested_output", "wildcards_dict"]),
        (Rule.expand_input, ["self", "wildcards", "groupid"]),
        (Job.__init__, ["self", "rule", "dag", "wildcards_dict", "format_wildcards", "targetfile", "groupid"]),
    ],
    ids=lambda value: getattr(value, "__qualname__", ""),
)
def test_rules_are_asked_in_this_way(method, expected):
    assert parameters(method) == expected


def test_the_inputs_come_first_of_what_a_rule_expands_to():
    assert re.search(r"return input, mapping, ", source(Rule.expand_input))
    assert list(Wildcards(fromdict={"a": "1", "b": "2"})) == ["1", "2"]


def test_jobs_are_kept_as_they_are_made():
    """`graph` of rules/common.smk takes those."""
    assert "self._dag: Optional[DAG] = None" in source(Workflow) and isinstance(Workflow.dag, property)
    assert "self.job_factory = JobFactory()" in source(DAG) and "await self.job_factory.new(" in source(DAG.new_job)
    assert JobFactory().cache == {} and "self.cache[key] = obj" in source(JobFactory.new)
    assert "self.rule.expand_input(" in source(Job.__init__)


# rules/start.smk and the Snakefile


def test_a_mapping_among_the_parameters_is_recorded_as_python_writes_it():
    """By this the code of a job counts, and archives read it back."""
    serialized = source(PersistenceBase._serialize_param_builtin)
    assert "dict," in serialized and "return repr(value)" in serialized


@pytest.mark.parametrize("name", ["current_basedir", "main_snakefile", "is_main_process", "remote_exec", "rules"])
def test_the_workflow_tells_the_rule_files_of_itself(name):
    assert isinstance(getattr(Workflow, name), property)


def test_files_of_configuration_from_the_command_line_are_there_before_the_snakefile_is_read():
    assert "self.configfiles = list(self.config_settings.configfiles)" in source(Workflow)


def test_hooks_of_a_module_are_those_of_its_name():
    assert 'self.globals["onstart"] = partial(func' in source(Workflow.onstart)


# ranktrial/engine/run_progress.py


def test_the_log_file_is_open_before_the_snakefile_is_read_and_a_dry_run_has_none():
    api = source(snakemake.api.SnakemakeApi.workflow)
    assert api.index("setup_logfile(") < api.index("WorkflowApi(")
    assert "not self.settings.dryrun" in source(LoggerManager.setup_logfile)
    assert f'stream_handler.name = "{STREAM}"' in source(LoggerManager._default_streamhandler)
    assert "list(self.logger.handlers)" in source(LoggerManager.stop) and "handler.close()" in source(
        LoggerManager.stop
    )


def test_records_have_the_event_and_fields_that_a_run_is_followed_by():
    execute = source(Workflow.execute)
    reported = execute.index("event=LogEvent.RUN_INFO, stats=stats_dict")
    assert reported < execute.index("self._onstart(") and '"total"' in source(DAG.stats)
    started = source(Job.log_info)
    fields = ("event=LogEvent.JOB_INFO", "jobid=", "rule_msg=self.message", "rule_name=self.rule.name", "output=")
    assert all(field in started for field in fields)
    assert all(field in source(Job.get_log_error_info) for field in ("event=LogEvent.JOB_ERROR", "jobid=", "log="))
    scheduler = source(JobScheduler)
    assert "event=LogEvent.JOB_FINISHED, job_id=" in scheduler and f'"{STOPPING}' in scheduler
    assert f'"{SAID[1]}' in scheduler.replace('f"', '"')


# ranktrial/engine/rule_graph.py


def test_a_rule_asks_a_function_for_the_priority_of_each_job_by_wildcards_and_name():
    assert "callable(self.priority)" in source(Rule.expand_priority)
    assert "rulename=self.name" in source(Rule.expand_priority)
    assert parameters(DAG.job_dependencies) == ["self", "job"] and "job.rule.expand_priority(" in source(
        DAG.update_priority
    )


# ranktrial/engine/job_records.py


def test_records_tell_what_dates_do_not():
    assert {str(trigger) for trigger in RerunTrigger} > set(USED_TRIGGERS)
    assert all(isinstance(getattr(Workflow, name), property) for name in ("dag", "persistence", "rerun_triggers"))
    assert isinstance(DAG.jobs, property) and parameters(DAG.needrun) == ["self", "job"]
    for method in (PersistenceBase.params_changed, PersistenceBase.input_changed):
        assert parameters(method) == ["self", "job", "file"]
    made, untouched, run = (SimpleNamespace(output=[name]) for name in ("made", "untouched", "run"))
    asked = SimpleNamespace(
        params_changed=lambda job: job is not untouched, input_changed=lambda job: iter([False, False])
    )
    dag = SimpleNamespace(jobs=[run, made, untouched], needrun=lambda job: job is run)
    workflow = SimpleNamespace(dag_settings=True, dag=dag, persistence=asked, rerun_triggers={RerunTrigger.MTIME})
    assert left_standing(workflow) == ["made"]
    workflow.rerun_triggers = RerunTrigger.all()
    assert left_standing(workflow) == []


# ranktrial/engine/job_records.py and repair.py


def test_records_lie_where_this_workflow_looks_for_them():
    persistence = source(kept_in_files)
    for folder in (*PARTS, "locks"):
        assert f'os.path.join(self.path, "{folder}")' in persistence, folder
    assert '{"external_jobid": external_jobid}' in persistence
    assert "urlsafe_b64encode(id.encode()).decode()" in persistence
    assert 'os.pathconf(subject, "PC_NAME_MAX")' in persistence
    assert f'os.path.join(file, "{DIRECTORY_STAMP}")' in source(snakemake.io)


# ranktrial/engine/identity.py


def test_the_parameters_of_a_job_and_those_compared_come_from_its_rule():
    assert "self._params, self._non_derived_params = self.rule.expand_params(" in source(Job._expand_params)
    assert parameters(Rule.expand_params)[:3] == ["self", "wildcards", "input"]
    assert "job.non_derived_params" in source(PersistenceBase._params)
