"""Jobs of the first comparison run first: their priorities, on plans of a few jobs."""

from types import SimpleNamespace

from ranktrial.engine.priorities import prefer_first, priorities


class Plan:
    """A plan as Snakemake keeps it: jobs with what they write, and which jobs each takes files of."""

    def __init__(self, **needs):
        self.jobs = {
            name: SimpleNamespace(rule=SimpleNamespace(name=name), wildcards_dict={"task": "t"}, output=[f"{name}.png"])
            for name in needs
        }
        self.needs = needs

    @property
    def dag(self):
        return SimpleNamespace(
            jobs=self.jobs.values(),
            job_dependencies=lambda job: [self.jobs[name] for name in self.needs[job.rule.name]],
        )


PLAN = Plan(
    second=["compare_second"], compare_second=["shared", "own"], shared=[], own=[],
    first=["compare_first"], compare_first=["shared"], other=["shared"],
)  # fmt: skip


def test_what_a_plot_needs_has_its_priority_and_what_several_need_that_of_the_first():
    found = {rule: priority for (rule, _), priority in priorities(PLAN.dag, ["first.png", "second.png"]).items()}
    assert found == {"first": 2, "compare_first": 2, "shared": 2, "second": 1, "compare_second": 1, "own": 1}


def test_a_plot_that_is_drawn_already_asks_for_nothing():
    assert priorities(PLAN.dag, ["gone.png"]) == {}


def test_all_rules_get_it_and_a_job_outside_the_plots_has_none():
    rules = [SimpleNamespace(priority=0), SimpleNamespace(priority=0)]
    prefer_first(SimpleNamespace(rules=rules, dag=PLAN.dag), ["first.png"])
    ask = rules[1].priority
    assert rules[0].priority is ask
    assert (ask({"task": "t"}, "shared"), ask({"task": "t"}, "other"), ask({"task": "u"}, "shared")) == (1, 0, 0)
