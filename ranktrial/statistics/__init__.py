"""Statistics of paired scores: pure functions of arrays, without files and independent of experiments.

`comparison.compare` is the entry point: it takes per-query scores of two systems by task and returns a `Comparison`.

| package | content |
|---|---|
| `effects`, `estimators`, `intervals`, `task_intervals` | methods that a comparison selects by name, one file each |
| `task` | one task: its effect, interval, tests, seeds, wins and losses |
| `dependence` | dependence between tasks (shared queries, corpora, checkpoints), and clusters of queries |
| `least_squares` | means and regressions of effects with a known covariance; components of variance |
| `meta_analysis` | the effects of several tasks: mean, heterogeneity, prediction, influence |
| `meta_regression` | models of the differences between tasks |
| `multiple` | simultaneous tests of many systems; corrections for multiple tests |
| `power` | power and precision of study designs |

docs/formulas.md has every formula with its source and its tests.
"""
