// The mean of paired differences with its t interval, as in ranktrial/statistics/significance.py.
"use strict";
(() => {
  const EPSILON = Number.EPSILON;
  const ROUNDING = 64 * EPSILON; // relative, as in ranktrial/statistics/superiority.py

  const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;
  const largest = (values) => values.reduce((most, one) => Math.max(most, Math.abs(one)), 0);

  // `quantiles` are those of Student's t for 1, 2, … degrees of freedom. No interval: one query, or one value for all.
  // The interval ends where differences of the measure do (`range`; null: unknown).
  explorer.difference = (treatment, control, quantiles, range = null) => {
    const n = treatment.length;
    if (!n) return { n, mean: null, low: null, high: null };
    const differences = treatment.map((value, place) => value - control[place]);
    const middle = mean(differences);
    const none = { n, mean: middle, low: null, high: null };
    const spread = Math.max(...bounds(differences)) - Math.min(...bounds(differences));
    if (n < 2 || spread <= 8 * EPSILON * Math.max(largest(treatment), largest(control), largest(differences))) return none;
    const variance = differences.reduce((sum, one) => sum + (one - middle) ** 2, 0) / (n - 1);
    const half = quantiles[n - 2] * Math.sqrt(variance / n);
    const [least, most] = range ?? [-Infinity, Infinity];
    return { n, mean: middle, low: Math.max(middle - half, least), high: Math.min(middle + half, most) };
  };

  const bounds = (values) => values.reduce(([low, high], one) => [Math.min(low, one), Math.max(high, one)], [Infinity, -Infinity]);

  explorer.outcome = (difference, lowerIsBetter) => {
    const gain = lowerIsBetter ? -difference : difference;
    return gain > 0 ? "win" : gain < 0 ? "loss" : "tie";
  };

  // Treatment minus control of a query; 0 where they differ only in their last digits.
  explorer.gap = (treatment, control) => {
    const difference = treatment - control;
    return Math.abs(difference) <= ROUNDING * Math.max(Math.abs(treatment), Math.abs(control)) ? 0 : difference;
  };
})();
