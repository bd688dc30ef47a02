"""Sentences of many generated comparisons, each read by a second reader that knows nothing but the stored record.

The reader takes numbers from the JSON of the record and from the columns of tables/comparisons.tsv, decides verdict,
sign, scope, correction and what is included by itself, and compares this with the text.
"""

import re
from dataclasses import replace

import numpy as np
import pandas as pd

from ranktrial.common.keys import given
from ranktrial.experiment.synthesis_records import SeedsOf
from ranktrial.records.comparison import ComparisonRow, EffectsRow, rows_of
from ranktrial.reports.comparison.notes import notes
from ranktrial.reports.comparison.reading import Found
from ranktrial.reports.comparison.sentence import sentence
from ranktrial.statistics.sensitivity import sensitivity
from ranktrial.synthesis.all_comparisons import Settings as TableSettings
from ranktrial.synthesis.all_comparisons import comparisons as table
from ranktrial.synthesis.comparing import Settings, compared
from ranktrial.synthesis.comparison_results import (
    dependence_record,
    equivalence_record,
    meta_record,
    rows,
    sensitivity_record,
)
from ranktrial.synthesis.metrics_files import Scores
from tests.reports.test_sentence import LABELS, LOOKS, plot_of

ALPHA, FAMILIES = 0.05, 40
COUNTS = ("zero", "one", "two", "three", "four", "five", "six")


def generated(generator: np.random.Generator) -> Found:
    """A comparison of one to six tasks, one of them sometimes far from the others, with or without seeds, tasks without
    a variance, and a margin."""
    seeds, k = int(generator.choice([1, 3])), int(generator.integers(1, 7))
    far = float(generator.choice([0.0, 0.0, 0.5]))
    shift, noise = generator.choice([-0.05, 0.0, 0.03, 0.08]), generator.normal(0, 0.02, seeds)
    pairs = {}
    for place in range(k + int(generator.integers(0, 3))):
        n = int(generator.integers(11, 40))
        control = generator.uniform(0.2, 0.7, (n, 1))
        gains = shift + generator.normal(0, 0.04) + generator.normal(0, 0.12, (n, 1)) + noise * (seeds > 1)
        gains += far * (place == 0)
        if place >= k:
            gains = np.full((n, seeds), generator.choice([0.0, 0.125]))
        of = [Scores(pd.DataFrame(values, [f"{place}-{j}" for j in range(n)]), None) for values in
              (control, control + gains)]  # fmt: skip
        pairs[f"t{place}"] = (of[0], of[1])
    settings = Settings(
        control="c", treatment="t", measure="nDCG@10", effect=str(generator.choice(["MD", "MD", "SMD", "CORR"])),
        interval=str(generator.choice(["equal-weights", "knapp-hartung", "normal"])), own={"resamples": 199}, permutations=100,
        task_interval=str(generator.choice(["t", "bca"])), margin=0.05, alpha=ALPHA,
        lower_is_better=bool(generator.random() < 0.3),
        seed_sources={"treatment": SeedsOf("own", "t")} if seeds > 1 else {},
    )  # fmt: skip
    found = compared(pairs, settings)
    every = sensitivity(found.tasks, settings, found.corpora, list(found.seed_effects.values()))
    record = meta_record(
        found.synthesis, settings, 1.0, **dependence_record(found, settings), equivalence=equivalence_record(found, settings),
        sensitivity=sensitivity_record(every) if every else None,
    )  # fmt: skip
    return Found(tuple(rows_of(EffectsRow, rows(found.tasks, found.synthesis.weights))), record)


class Reader:
    """What the record says, by the reader's own decisions."""

    def __init__(self, record: dict, row: dict, effects: list[dict]):
        self.record, self.row, self.k, self.effect = record, row, record["k"], record["effect_type"]
        self.tested = [one for one in effects if one["effect"] is not None]

    def verdict(self, p: float | None, holm: float | None) -> str:
        """The words for a p-value and its corrected one."""
        if p >= ALPHA:
            return "not significant at the 0.05 level"
        if self.row["hypotheses"] > 1 and holm >= ALPHA:
            return "significant at the 0.05 level alone, but not after Holm correction"
        return "significant at the 0.05 level"

    def p_text(self, p: float) -> str:
        return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"

    def expected(self) -> dict[str, bool | str]:
        """Each phrase of the text that follows from the record: whether it is there."""
        mean, summary, k = self.record["fixed_mean"], self.record["summary"], self.k
        here = "On this collection," if k == 1 else f"On these {COUNTS[k]} collections,"
        found = {here: True, self.verdict(mean["p_value"], self.row["fixed_mean_p_holm"]): True}
        if self.effect != "CORR":
            large = abs(mean["effect"]) > 1e-3
            found |= {"exceeds that of": mean["effect"] > 0, "is below that of": mean["effect"] < 0} if large else {}
        found |= {"Over collections like these": k > 1, "nothing follows for others": k == 1}
        if k > 1:
            found[self.verdict(summary["p_value"], self.row["p_holm"])] = True
            holms = sorted([self.row["fixed_mean_p_holm"], self.row["p_holm"]])
            found["Holm"] = self.row["hypotheses"] > 1
            surer = holms[0] < ALPHA <= holms[1] and self.row["p_holm"] == holms[0]
            alone = mean["p_value"] < ALPHA and summary["p_value"] < ALPHA
            same_sign = mean["effect"] * summary["effect"] > 0
            found["before it, both means are significant"] = surer and alone and same_sign
            if self.record["q"] >= self.record["q_df"]:
                found["than their sampling errors suggest"] = False
        found["There is no prediction interval"] = 1 < k < 4
        differences = [task["effect"] for task in (self.record.get("sensitivity") or {"tasks": {}})["tasks"].values()]
        found["on which both systems are the same"] = 0.0 in differences
        found["on which every query"] = any(differences)
        return found | self.of_margin() | self.of_seeds() | {"alone decides the width": self.decides()}

    def half(self, mean: dict) -> float:
        """Half the width of an interval, on the scale of the variances."""
        low, high = mean["ci_low"], mean["ci_high"]
        return float(np.arctanh(high) - np.arctanh(low) if self.effect == "CORR" else high - low) / 2

    def decides(self) -> bool:
        """Whether four tasks or more have an interval at most half as wide that their errors allow."""
        without = [(self.record.get("fixed_mean_without") or {}, self.record["fixed_mean"])]
        left_out = {task: one["summary"] for task, one in self.record["leave_one_out"].items()}
        for others, mean in [*without, (left_out, self.record["summary"])] if self.k > 4 else []:
            half, task = min((self.half(one), task) for task, one in others.items())
            errors = sum(one["variance"] for one in self.tested if one["task"] in others and one["task"] != task)
            if 1.959963985 * errors**0.5 / (self.k - 1) < half * (1 + 1e-6) and half <= self.half(mean) / 2:
                return True
        return False

    def of_margin(self) -> dict[str, bool]:
        if self.effect != "MD":
            return {"Non-inferiority": False}
        shown = self.row["p_non_inferiority_holm"] < ALPHA
        place = "on this collection" if self.k == 1 else "over collections like these"
        return {f"{place}, with margin 0.05, is {'shown' if shown else 'not shown'} at the 0.05 level": True}

    def of_seeds(self) -> dict[str, bool]:
        trained = bool(self.record.get("seeds"))
        with_seeds = [one["seeds_variance"] is not None for one in self.tested]
        means = self.record.get("given_seeds") is not None
        return {
            "Intervals include seed variance": trained and means and any(with_seeds),
            "Intervals of means include seed variance": trained and means and not any(with_seeds),
            "Intervals take the seeds as given": trained and not means,
        }


def test_each_sentence_says_what_a_second_reader_finds_in_its_record():
    generator, phrases = np.random.default_rng(7), {}
    for _ in range(FAMILIES):
        founds = {f"c{number}": generated(generator) for number in range(int(generator.integers(1, 4)))}
        founds = {name: one for name, one in founds.items() if one.meta.meta is not None}
        compared_all = table({name: one.meta for name, one in founds.items()}, TableSettings())
        cells = compared_all.set_index("comparison").to_dict("index")
        of_family = {row.comparison: row for row in rows_of(ComparisonRow, compared_all)}
        for name, one in founds.items():
            record = given(one.meta)
            shown = replace(one, family=of_family[name])
            plot = plot_of(shown, LOOKS)
            text = sentence(one.meta, plot)
            reader = Reader(record, cells[name], list(map(vars, one.effects)))
            for phrase, there in reader.expected().items():
                assert (phrase in text) == there, (phrase, there, text, record)
                phrases.setdefault(phrase, set()).add(there)
            own = [record["fixed_mean"], *([record["summary"]] if reader.k > 1 else [])]
            for mean in own:
                assert reader.p_text(mean["p_value"]) in text or abs(mean["p_value"] - ALPHA) < 5e-4, text
            assert not re.search("[\N{MINUS SIGN}-]0[.]0+(?![0-9])", text + " ".join(notes(plot, True))), text
            low, high = record["fixed_mean"]["ci_low"], record["fixed_mean"]["ci_high"]
            excluded = low > 0 or high < 0
            assert excluded == (record["fixed_mean"]["p_value"] < ALPHA)
    both = [phrase for phrase in phrases if phrases[phrase] == {True, False}]
    assert len(both) >= 10 and "alone decides the width" in both, (
        phrases
    )  # the generated records have each of these and lack it
    assert LABELS.system("t") == "Tuned & Co"
