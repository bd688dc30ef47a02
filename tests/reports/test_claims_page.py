"""The numbers of docs/studies/claims.md are those of the tables beside it, which come from results and from the thesis."""

import re
from pathlib import Path

import pandas as pd
import pytest

CLONE = Path(__file__).parents[2]
PAGE = (CLONE / "docs/studies/claims.md").read_text()
SECTIONS = dict(section.split("\n", 1) for section in PAGE.split("\n## ")[1:])
COMPUTED = ("The thesis's conclusions", "Hard or random negatives?", "The collapse of bi-encoders on split texts")
NUMBER = r"[+-]?1?\.\d{3}"


def beside(name: str) -> pd.DataFrame:
    return pd.read_csv(CLONE / f"docs/studies/claims/{name}.tsv", sep="\t")


def shown(value: float, sign: str = "") -> str:
    return re.sub(r"^([+-]?)0\.", r"\1.", f"{value:{sign}.3f}")


def test_every_effect_with_its_interval_is_one_of_the_results():
    rows = beside("effects").itertuples()
    known = {f"{shown(row.effect, '+')} [{shown(row.ci_low)}, {shown(row.ci_high)}]" for row in rows}
    found = [effect for name in COMPUTED for effect in re.findall(rf"{NUMBER} \[{NUMBER},\s{NUMBER}\]", SECTIONS[name])]
    assert len(found) >= 10 and {" ".join(effect.split()) for effect in found} <= known


def test_the_means_of_the_four_cells_are_those_of_the_results():
    effects = beside("effects").set_index(["comparison", "task"])
    for name, label in (("bi", "bi-encoder"), ("ce", "cross-encoder")):
        cells = [shown(effects.loc[(name, task), side]) for task in ("clef", "politifact")
                 for side in ("control_mean", "treatment_mean")]  # fmt: skip
        assert f"| {label} | {' | '.join(cells)} |" in PAGE


def test_the_conclusions_are_those_of_the_table():
    rows = [f"| {' | '.join(row)} |" for row in beside("conclusions").astype(str).itertuples(index=False, name=None)]
    assert len(rows) == 9 and all(row in SECTIONS["The thesis's conclusions"] for row in rows)


def test_scores_of_split_texts_are_those_of_the_table():
    scores = beside("scorers").set_index(["score of an article", "query"])
    for score in scores.index.levels[0]:
        row = " | ".join(
            shown(scores.loc[(score, query), name]) for query in ("tweet", "tweet+image") for name in ("RR@1", "R@5")
        )
        assert ("all similarities" in score) != (f"{score} | {row} |" in PAGE)


def test_the_numbers_of_printed_cells_are_those_of_the_table():
    cells, equal, different, times, not_run = beside("cells").sum(numeric_only=True)
    said = (
        f"the {cells:,} printed cells, {cells - not_run} have a counterpart: {equal} are equal to the printed digits, "
    )
    assert f"{said}{different} differ, {times} are times" in " ".join(PAGE.split())
    assert (
        f"| claim retrieval | {cells:,} | {cells - not_run} | {equal} | {different}: "
        in (CLONE / "docs/archive.md").read_text()
    )


@pytest.mark.parametrize(("tables", "said"), [(("A.12", "A.13"), "bi-encoders"), (("A.14", "A.15"), "cross-encoders")])
def test_printed_gains_by_hard_negatives(tables, said):
    cells = pd.read_csv(CLONE / "config/published/factcheck.tsv", sep="\t", comment="#", dtype=str)
    at_three = cells[(cells["measure"] == "RR") & (cells["cutoff"] == "3")]
    hard, random = (at_three[at_three["table"] == table].set_index("system")["value"].astype(float) for table in tables)
    gains = (hard - random).dropna()
    text = (
        f"{len(gains)} {said} ({shown(gains.min(), '+')} to {shown(gains.max(), '+')}, mean {shown(gains.mean(), '+')})"
    )
    assert text in " ".join(SECTIONS["Hard or random negatives?"].split())
