"""Statistics of paired scores: pure functions of arrays. Nothing here reads or writes files, or knows an experiment.

`comparison.compare` is the entry point: per-query scores of two systems by task in, a `Comparison` out. Behind it:

| where | what |
|---|---|
| `effects`, `estimators`, `intervals`, `task_intervals` | what a comparison chooses by name: one file each |
| `task` | one task: its effect, interval, tests, seeds, wins and losses |
| `dependence` | what tasks share: queries, corpora, checkpoints; and clusters of queries |
| `least_squares` | means and regressions of effects with a known covariance; components of variance |
| `meta_analysis` | the effects of several tasks: mean, heterogeneity, prediction, influence |
| `meta_regression` | what explains the differences between tasks |
| `multiple` | many systems at once; corrections for several tests |
| `power` | what a design of a study can show |

docs/statistics.md has every formula with its source and what it is checked against.
"""
