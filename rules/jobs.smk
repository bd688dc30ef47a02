"""What most rules inherit: the environment and the command of a job, which is one function of a script.

`use rule in_workflow as score with:` states inputs, outputs and `params: **job(script, settings)`: all named inputs
and outputs are options of the command, so that a function gets them by their names. Paths of environments are whole, since
Snakemake would look for them from the folder of the file that inherits. A rule states its log (logs/{rule}/{wildcards}.log)
and its message (this path in words) only where they are others. Provides all rule files with `job`, `planned` and
`measured`, whose rules are MEASURED.
"""

from inspect import signature

from ranktrial.engine.rule_helpers import options, settings

RUN = "python -P -m {params.code[module]} {params.function} {params.options:q} --settings {params.settings:q} --log {log:q}"


def job(script, of_job=lambda wildcards: {}, loads=()):
    """The parameters of a rule that inherits RUN; `of_job` returns the settings for the wildcards.

    `script` is a file below scripts/, with the function's name after a colon if it has several, or the parameter `code`.
    `loads` are the files of ours that it loads or reads by name, or a function of the wildcards.
    """
    file, _, function = script.partition(":") if isinstance(script, str) else (None, "", "")
    return {
        "code": code(file, loads) if file else script,
        "function": function,
        "options": lambda wildcards, input, output: options(input) + options(output),
        "settings": lambda wildcards: settings(**of_job(wildcards)),
    }


def planned(function):
    """A function of a job's wildcards: `function` of the experiment and of those wildcards that it takes, by name."""
    _, *taken = signature(function).parameters
    every = any(one.kind is one.VAR_KEYWORD for one in signature(function).parameters.values())

    def of_job(wildcards):
        return function(EXPERIMENT, **{name: text for name, text in wildcards.items() if every or name in taken})

    return of_job


MEASURED = set()


def measured(*names):
    """Measure time and memory of the jobs of these rules, in benchmark files."""
    MEASURED.update(names)


for extra in ("workflow", "bm25", "neural", "learning-to-rank"):

    rule:
        name:
            f"in_{extra.replace('-', '_')}"
        conda:
            str(REPOSITORY / f"envs/{extra}.yaml")
        shell:
            RUN
