"""What a forest plot shows, as plain data; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from ranktrial.statistics.bayes import BayesianSummary
from ranktrial.statistics.effects import EffectType, effect_named

SORTS = ("config", "effect", "weight")
COLUMNS = ("n", "means", "judged", "effect", "weight", "p")  # beside the plot, from the left
WIDTHS = {"single column": 3.4, "double column": 7.0}  # inches, of a two-column journal page
NARROW = 5.2  # inches: the middle of both


@dataclass(frozen=True)
class Row:
    """One task. `weight` in 0..1; a task without an effect has its reason in `undefined`, and its means if any.
    An effect that is taken from a paper has neither n nor means.

    `task` is its label, `name` its name in files. `trained` names the roles (control, treatment) whose system learnt
    from training queries of the task's dataset.
    """

    task: str
    n: int | None
    effect: float | None
    ci_low: float | None
    ci_high: float | None
    weight: float | None
    control_mean: float | None
    treatment_mean: float | None
    control_judged: float | None = None
    treatment_judged: float | None = None
    p_value: float | None = None
    undefined: str | None = None
    control_seeds: int | None = None
    treatment_seeds: int | None = None
    equivalence_p_value: float | None = None
    non_inferiority_p_value: float | None = None
    trained: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True)
class Diamond:
    """A mean effect with its interval, p-value and prediction interval (None if none is given).

    `p_value` is adjusted as those of the tasks are, `own_p` is not; `p_holm` is that by Holm for the `hypotheses` of
    its family. `df`, `prediction_df`: of the t distributions behind own_p and behind the prediction interval; None is
    the normal distribution.
    """

    effect: float
    ci_low: float
    ci_high: float
    p_value: float | None = None
    prediction_interval: tuple[float, float] | None = None
    own_p: float | None = None
    df: float | None = None
    prediction_df: float | None = None
    p_holm: float | None = None
    hypotheses: int = 1


@dataclass(frozen=True)
class AgainstMargin:
    """A p-value of a summary against the margin (None: no test): its own, the one that the figure shows, Holm's."""

    own_p: float | None
    p_value: float | None
    p_holm: float | None = None
    hypotheses: int = 1


@dataclass(frozen=True)
class Margin:
    """The difference that does not matter, and the tests of the summary against it."""

    margin: float
    equivalence: AgainstMargin
    non_inferiority: AgainstMargin


@dataclass(frozen=True)
class Heterogeneity:
    """Cochran's Q with its degrees of freedom and p-value, I2 in percent, tau2 and its interval (None in two
    levels)."""

    q: float
    df: int
    p_value: float
    i2: float
    tau2: float
    tau2_ci: tuple[float, float] | None


@dataclass(frozen=True)
class Subgroup:
    """Tasks with the same value of a moderator, by their names in rows, and their summary if it exists."""

    label: str
    tasks: tuple[str, ...]
    subtotal: Diamond | None = None


@dataclass(frozen=True)
class Group:
    """One treatment against the control: its tasks, and their means unless no task has an effect.

    `fixed_mean` is the mean on these collections, `summary` that over collections like these (random effects). Where
    the tasks are in `subgroups`, each of them in one, `between` says how these differ. `fixed` and `posterior` are
    drawn where they are given. `estimator` and `interval` are those used, if they are not those of the figure.
    """

    treatment: str
    rows: tuple[Row, ...]
    summary: Diamond | None = None
    heterogeneity: Heterogeneity | None = None
    subgroups: tuple[Subgroup, ...] = ()
    between: str = ""
    fixed: Diamond | None = None
    posterior: BayesianSummary | None = None
    margin: Margin | None = None
    fixed_mean: Diamond | None = None
    estimator: str = ""
    interval: str = ""


@dataclass(frozen=True)
class Forest:
    """A forest plot: one control and the treatments it is compared with, one group per treatment.

    effect_type, estimator, interval: names in statistics/effects/, estimators/ and intervals/. `judged` names the
    columns of control_judged and treatment_judged, such as Judged@10. `p_note` says what the tasks' p-values are,
    `correction` by whom they are adjusted (Holm, Benjamini-Hochberg; empty: not), `summary_note` how those of summaries
    are; with `p_note`, p-values below alpha bear a star. `seeds_note` says whether intervals include seed variance,
    `clusters_note` which queries are clustered, `weights_note` which weights are below 0. sort: rows as configured, or
    by effect or weight, largest first. width: "single column" (3.4 in), "double column" (7 in) or inches. A figure of
    less than NARROW has task, plot and effect, with n and p below them, any other all columns. height: in inches, or by
    its lines. x_label: below the axis, in place of what it measures.

    task_interval: the label of the tasks' intervals; empty if they are not named. limits, ticks, columns and digits
    (decimals) are chosen by the data where they are None. lower_is_better: a negative effect favours the treatment.
    notes: at the foot of the "figure", or in a "caption" beside it. unstated: systems of whose published weights nobody
    states what they were trained on. of_treatments: a row is a treatment, with its means alone, not a task.
    """

    control: str
    groups: tuple[Group, ...]
    effect_type: str
    measure: str
    alpha: float
    estimator: str
    interval: str
    judged: str = ""
    title: str = ""
    sort: str = "config"
    width: str | float = "double column"
    height: float | None = None
    x_label: str | None = None
    p_note: str = ""
    correction: str = ""
    seeds_note: str = ""
    clusters_note: str = ""
    weights_note: str = ""
    summary_note: str = ""
    task_interval: str = ""
    limits: tuple[float, float] | None = None
    ticks: tuple[float, ...] | None = None
    columns: tuple[str, ...] | None = None
    digits: int | None = None
    lower_is_better: bool = False
    notes: str = "figure"
    unstated: tuple[str, ...] = ()
    of_treatments: bool = False

    def __post_init__(self) -> None:
        if not self.groups:
            raise ValueError("a forest plot needs at least one group")
        if self.sort not in SORTS or (isinstance(self.width, str) and self.width not in WIDTHS):
            raise ValueError(f"unknown sort {self.sort!r} or width {self.width!r}")
        if not set(self.columns or ()) <= set(COLUMNS):
            raise ValueError(f"unknown columns in {self.columns}; expected some of {COLUMNS}")
        effect_named(self.effect_type)

    @property
    def effect(self) -> EffectType:
        """All that is known of the type of its effects."""
        return effect_named(self.effect_type)

    @property
    def inches(self) -> float:
        """Its width."""
        return WIDTHS[self.width] if isinstance(self.width, str) else self.width

    @property
    def single(self) -> bool:
        """Whether it is so narrow that n and p are below task and effect."""
        return self.inches < NARROW

    @property
    def weighted(self) -> bool:
        """Whether tasks of a group have different weights in print; a column that is constant says nothing."""
        printed = [{f"{row.weight:.3f}" for row in group.rows if row.weight is not None} for group in self.groups]
        return any(len(weights) > 1 for weights in printed)

    @property
    def measured(self) -> bool:
        """Whether a task has the mean of a system; effects that are taken from a paper have none."""
        return any(row.control_mean is not None for group in self.groups for row in group.rows)

    def shows(self, column: str) -> bool:
        """Whether it shows a column (or, where it is narrow, n or p in the second line of a task)."""
        if self.columns is not None:
            return column in self.columns
        if self.of_treatments and column not in ("effect", "p"):
            return False
        if column == "weight" and not self.weighted:
            return False
        return not self.single or column in ("n", "effect", "p")
