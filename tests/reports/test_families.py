"""Multiple comparisons as they are shown: sentences, tables, and diagrams in which nothing lies on anything else."""

import itertools
import json
import re

import numpy as np
import pytest
from matplotlib.colors import to_hex

from ranktrial.common.keys import given as as_json
from ranktrial.records.facts import Labels
from ranktrial.reports.comparison.families import (
    CONDITIONS,
    HIGHER,
    LOWER,
    OPEN,
    differences,
    heading,
    notes,
    read_families,
    read_family,
    sentence,
    standings,
    where,
)
from ranktrial.reports.comparison.table import family_content as content
from ranktrial.reports.contents.comparisons import families as families_section
from ranktrial.reports.figures.family import APART, diagram, filled, spread
from ranktrial.reports.figures.marks import DIAMOND
from ranktrial.reports.writing import printed
from ranktrial.reports.writing.content import Note
from ranktrial.statistics.multiple import scopes
from ranktrial.synthesis.families import Settings, record_of, rows
from tests.support.drawn import check_texts

LONG = "sentence-transformers/distiluse-base-multilingual-cased-v2, fine-tuned with hard negatives"


def found(folder, systems=4, tasks=1, n=40, noise=0.05, name="f", **settings):
    """The files of a family, as the comparison writes them, read."""
    generator = np.random.default_rng(systems)
    names = [f"s{place}" for place in range(systems)]
    levels = generator.permutation(np.linspace(0.3, 0.5, systems))
    tables = {
        f"t{task}": generator.normal(0, 0.2, (n, 1)) + levels + generator.normal(0, noise, (n, systems))
        for task in range(tasks)
    }
    given = {"statistic": "t", "alpha": 0.05, "permutations": 499, "seed": 42} | settings
    chosen = Settings(systems=names, measure="nDCG@10", **given)
    done = scopes(tables, chosen)
    rows(done, chosen, None).to_csv(folder / f"{name}.tsv", sep="\t", index=False)
    (folder / f"{name}.json").write_text(
        json.dumps(as_json(record_of(done, chosen, dict.fromkeys(names, 2), ["a warning"])))
    )
    labels = Labels({"t0": "Task *0*"}, {"s1": LONG, "s2": "BM25 & more"})
    return read_family(folder / f"{name}.tsv", folder / f"{name}.json", labels)


def columns_and_rows(table):
    return [column.name for column in table.columns], table.blocks[0]


def test_a_page_holds_means_letters_and_differences(tmp_path):
    one = found(tmp_path, tasks=2)
    assert heading(one) == "4 systems at once, all pairs" and where(one) == "on these two collections (80 queries)"
    best = one.whole.standings[0]
    assert sentence(one).startswith(
        f"On these two collections (80 queries), {best.system} has the highest mean nDCG@10 (0."
    )
    heads, lines = columns_and_rows(standings(one))
    assert heads == ["System", "Rank", "Over 2 tasks", "Task *0*", "t1"] and len(lines) == 4
    assert lines[0][0] == best.system and lines[0][2] == f"{best.mean:.3f} {best.sign}"
    heads, lines = columns_and_rows(differences(one))
    assert heads[3:] == ["95% simultaneous interval", "p (max-T)", "p (Tukey)"] and len(lines) == 6
    values = [float(line[2]) for line in lines]
    assert values == sorted(values, reverse=True) and min(values) >= 0
    for line in lines:
        low, high = (float(end.replace("\N{MINUS SIGN}", "-")) for end in line[3].strip("[]").split(", "))
        assert low < float(line[2]) < high and (low > 0) == line[4].endswith("*")
    text = printed.markdown_document("f", content(one))
    assert "- a warning" in text and "Differences in nDCG@10 over 2 tasks. * p (max-T) < 0.05" in text
    assert "Several seeds of a system are averaged by query." in notes(one) and "each task weighs the same" in text


def test_the_sentence_gives_the_difference_from_the_next_with_its_interval(tmp_path):
    """Highest or lowest, the difference is above 0 and lies inside its interval, as in the table."""
    for lower_is_better, direction in ((False, "less"), (True, "more")):
        one = found(tmp_path, tasks=2, lower_is_better=lower_is_better)
        best, following, *_ = one.whole.standings
        said = re.search(r"The next, (.*), has (\S+) \(95% simultaneous CI (\S+) to (\S+); adjusted p . \S+\) (\w+)\.$",
                         sentence(one))  # fmt: skip
        assert (said[1], said[5]) == (following.system, direction)
        difference, low, high = (float(said[group]) for group in (2, 3, 4))
        assert difference == round(abs(best.mean - following.mean), 3) and 0 < low < difference < high


def test_where_lower_is_better_all_begins_with_the_lowest_mean(tmp_path):
    """Letters, sentence, tables and the figure, whose right end is the better one."""
    higher, lower = found(tmp_path, name="h"), found(tmp_path, name="l", lower_is_better=True)
    means = [one.mean for one in lower.whole.standings]
    assert means == sorted(means) and "a" in lower.whole.standings[0].sign
    assert [one.system for one in lower.whole.standings] == [one.system for one in higher.whole.standings][::-1]
    best = lower.whole.standings[0]
    assert sentence(lower).startswith(
        f"On Task *0* (40 queries), {best.system} has the lowest mean nDCG@10 ({best.mean:.3f}"
    )
    assert all(line[2].startswith("\N{MINUS SIGN}") for line in differences(lower).blocks[0])
    shown = filled(lower, "")
    assert shown.axis == "Mean nDCG@10 on Task *0* (40 queries), lower is better"
    places = {text.get_text(): text.get_position()[0] for text in diagram(shown).axes[0].texts}
    assert places["0.35"] > places["0.40"] > places["0.45"]
    assert diagram(filled(found(tmp_path, statistic="difference", lower_is_better=True), ""))  # with its critical one


def test_against_a_control_there_are_verdicts_and_no_letters(tmp_path):
    one = found(tmp_path, against="s2", tasks=1)
    assert heading(one) == "3 systems against BM25 & more at once"
    signs = {standing.system: standing.sign for standing in one.whole.standings}
    assert signs["BM25 & more"] == "control" and set(signs.values()) <= {"control", HIGHER, LOWER, OPEN}
    said = sentence(one)
    for system, sign in signs.items():
        part = next(part for part in re.split("; |, at the", said) if system in part)
        assert {HIGHER: "significantly higher", LOWER: "significantly lower", OPEN: "not differ"}.get(sign, "") in part
    assert said.endswith("at the familywise 0.05 level (max-T test, each system against BM25 & more).")
    heads, lines = columns_and_rows(differences(one))
    assert heads[-1] == "p (Dunnett)" and {line[1] for line in lines} == {"BM25 & more"}
    assert any(line[2].startswith("\N{MINUS SIGN}") for line in lines) == ("lower" in signs.values())


def test_nobody_differs_from_the_control(tmp_path):
    one = found(tmp_path, against="s0", noise=3.0)
    assert sentence(one) == (
        "On Task *0* (40 queries), no system differs significantly from s0 in mean nDCG@10, at the familywise 0.05 level "
        "(max-T test, each system against s0)."
    )
    assert one.whole.groups == ((0, 1, 2, 3),)


@pytest.mark.parametrize("lower", (False, True))
def test_a_rank_interval_counts_the_systems_that_are_significantly_better_and_worse(tmp_path, lower):
    one = found(tmp_path, systems=6, noise=0.15, lower_is_better=lower)
    pairs = [(pair.system, pair.other, pair.difference) for pair in one.whole.differences if pair.p_value < 0.05]
    assert 0 < len(pairs) < 15
    better = [(first, second) if (gain > 0) != lower else (second, first) for first, second, gain in pairs]
    for row, standing in zip(columns_and_rows(standings(one))[1], one.whole.standings, strict=True):
        best = 1 + sum(loser == standing.system for _, loser in better)
        worst = 6 - sum(winner == standing.system for winner, _ in better)
        assert standing.ranks == (best, worst) and row[1] == (f"{best}-{worst}" if best < worst else str(best))


CASES = [
    {"systems": 2, "statistic": "difference"},
    {"systems": 3, "noise": 3.0, "statistic": "difference", "title": "A title"},
    {"systems": 5, "against": "s1"},
    {"systems": 12, "tasks": 2, "noise": 0.2, "title": "A long title " * 10},
    {"systems": 20, "noise": 0.3},
    {"systems": 30, "n": 15, "noise": 0.3, "permutations": 99},
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["systems"]))
def test_everything_stays_on_the_page_and_nothing_lies_on_another(tmp_path, case):
    settings = {key: value for key, value in case.items() if key != "title"}
    figure = diagram(filled(found(tmp_path, **settings), case.get("title", "")))
    assert figure.get_size_inches()[0] == 7.0
    check_texts(figure)
    for line in figure.axes[0].lines:
        assert min(line.get_xdata()) >= 0 and max(line.get_xdata()) <= 504


@pytest.mark.parametrize("case", CASES[3:5], ids=lambda case: str(case["systems"]))
def test_each_bar_has_a_dot_for_each_member_and_is_thick_between_neighbours_only(tmp_path, case):
    settings = {key: value for key, value in case.items() if key != "title"}
    one = found(tmp_path, **settings)
    lines = [line for line in diagram(filled(one, "")).axes[0].lines if to_hex(line.get_color()) == DIAMOND]
    dots = [line for line in lines if line.get_marker() == "o"]
    assert [len(line.get_xdata()) for line in dots] == [len(group) for group in one.whole.groups]
    thick = sum(line.get_linewidth() > 2 and line.get_marker() != "o" for line in lines)
    neighbours = sum(b == a + 1 for group in one.whole.groups for a, b in itertools.pairwise(group))
    assert thick == neighbours > 0


def test_the_latex_tables_hold_the_means_with_letters_and_the_differences(tmp_path):
    tables = printed.latex_document("f", content(found(tmp_path, tasks=2)))
    assert tables.count(r"\begin{tabular}{lrrrr}") == 1 == tables.count(r"\begin{tabular}{llrrrr}")
    assert tables.startswith("% \\usepackage{booktabs,graphicx}\n% On these two collections (80 queries), ")
    assert "a warning" in tables
    rows = [line for line in tables.splitlines() if line.endswith(r" \\")]
    assert len(rows) == 1 + 4 + 1 + 6 and rows[0].startswith("System & Rank & Over 2 tasks & Task *0* & t1")
    assert any(row.startswith(r"BM25 \& more & ") for row in rows)
    assert (
        rows[5]
        == r"System & Minus & Difference & \shortstack[r]{95\% \\ simultaneous \\ interval} & p (max-T) & p (Tukey) \\"
    )
    assert all(row.isascii() for row in rows)  # what pdflatex prints without another package


def test_lines_are_led_apart_by_the_least_way():
    assert spread([0.0, 10.0, 20.0], 5) == [0.0, 10.0, 20.0]
    assert spread([10.0, 10.0], 5) == [7.5, 12.5]
    generator = np.random.default_rng(1)
    xs = np.sort(generator.uniform(0, 60, 10))
    placed = np.array(spread(list(xs), APART))
    assert (np.diff(placed) >= APART - 1e-9).all() and placed.mean() == pytest.approx(xs.mean())
    for _ in range(200):  # no other allowed places are nearer
        other = placed + generator.normal(0, 0.5, 10)
        other = np.array(spread(list(np.sort(other)), APART))
        assert ((other - xs) ** 2).sum() >= ((placed - xs) ** 2).sum() - 1e-9


def test_lines_stay_on_the_axis():
    assert spread([0.0, 0.0, 1.0], 2.0, 0.0, 9.0) == [0.0, 2.0, 4.0]
    assert spread([8.0, 9.0, 9.0], 2.0, 0.0, 9.0) == [5.0, 7.0, 9.0]


def test_page_and_report_say_what_a_verdict_is_conditional_on(tmp_path):
    """A comparison of the same two systems includes the variance between seeds and may come to another verdict."""
    one = found(tmp_path)
    assert "given the trained checkpoints, with queries treated as independent" in CONDITIONS
    assert "its verdict on the same two systems may differ" in CONDITIONS
    for said in (content(one), [families_section({"f": one})]):
        assert printed.markdown_document("e", said).count(CONDITIONS) == 1


def test_report_and_summary_show_each_family(tmp_path):
    found(tmp_path, name="one", tasks=2)
    found(tmp_path, name="two", against="s0")
    names = ("one", "two")
    files = ([tmp_path / f"{name}.{suffix}" for name in names] for suffix in ("tsv", "json"))
    labels = Labels({}, {})
    families = read_families(*files, labels)
    _, *shown = families_section(families).blocks
    assert [one.name for one in shown] == list(names) and len({one.anchor for one in shown}) == 2
    assert len(shown[0].blocks[3].blocks[0]) == 4 and shown[0].blocks[1] == Note("a warning")
    assert [column.align for column in shown[0].blocks[-1].blocks[0].columns] == ["l", "l", "r", "r", "r", "r"]
    said = printed.markdown_document("e", [families_section(families)])
    assert "### 3 systems against s0 at once (two)" in said and "(figures/multiple-comparisons/one.svg)" in said
    assert "(tables/multiple-comparisons/one.md)" in said and "**Note**: a warning" in said
