"""Statistics of paired scores: pure functions of arrays, without files and independent of experiments.

`comparison.compare` is the entry point: it takes per-query scores of two systems by task and returns a `Comparison`.

| module or package | content |
|---|---|
| `effects`, `estimators`, `intervals`, `task_intervals` | methods that a comparison selects by name, one file each |
| `paired`, `significance`, `task_results`, `superiority`, `prediction_powered` | one task |
| `units`, `seeds`, `dependence`, `observed_tasks` | what tasks share, and clusters of queries |
| `least_squares`, `satterthwaite`, `tails`, `heterogeneity` | least squares, components of variance, distributions |
| `independent_tasks`, `dependent_tasks`, `synthesise`, `summaries`, `influence`, `bayes` | several tasks |
| `moderation`, `meta_regression`, `design_matrix` | models of the differences between tasks |
| `multiple`, `corrections` | simultaneous tests of many systems; corrections for multiple tests |
| `power` | power and precision of study designs |

Modules import `scipy` alone, whose parts are loaded when they are first used: planning imports some of these modules
and computes nothing.

docs/formulas.md has every formula with its source and its tests.
"""
