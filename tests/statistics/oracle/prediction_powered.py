"""Writes prediction_powered.json: prediction-powered means by ppi-python 0.2.3 (pip install ppi-python==0.2.3; not locked here).

Reads nothing. Its weight, point estimate and interval of one mean, of samples with a good, a biased, a useless and a
perfect model: `python tests/statistics/oracle/prediction_powered.py`.
"""

import json
from pathlib import Path

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from ppi_py.ppi import _calc_lam_glm

ALPHA = 0.05


def sample(seed, n, further, slope, noise):
    generator = np.random.default_rng(seed)
    true = generator.normal(0.05, 0.25, n + further)
    model = (0.1 + slope * true + generator.normal(0, noise, n + further)).round(4)
    true = true.round(4)
    return true[:n], model[:n], model[n:]


def centred_weight(human, model, further):
    parts = (part.reshape(-1, 1) for part in (human, model, further))
    return float(_calc_lam_glm(*parts, np.eye(1), clip=True))


cases = []
for seed, n, further, slope, noise in ((1, 30, 300, 0.8, 0.1), (2, 50, 60, 0.4, 0.2), (3, 40, 200, 0.0, 0.2),
                                       (4, 100, 400, 2.0, 0.05), (5, 35, 90, -0.5, 0.1)):  # fmt: skip
    human, model, other = sample(seed, n, further, slope, noise)
    low, high = (float(end[0]) for end in ppi_mean_ci(human, model, other, alpha=ALPHA))
    cases.append(
        {
            "human": human.tolist(), "model": model.tolist(), "further": other.tolist(),
            "weight": centred_weight(human, model, other),
            "estimate": float(np.ravel(ppi_mean_pointestimate(human, model, other))[0]), "ci": [low, high],
        }
    )  # fmt: skip
Path(__file__).with_suffix(".json").write_text(json.dumps({"alpha": ALPHA, "cases": cases}))
