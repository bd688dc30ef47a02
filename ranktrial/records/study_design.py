"""tables/study-designs/{plan}.json: what designs of a further study can show, and the basis of the computation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ranktrial.common.keys import INLINE
from ranktrial.ir.nouns import RETRIEVAL, Nouns, nouns_of
from ranktrial.statistics.power import Target


@dataclass(frozen=True)
class FoundBasis:
    """The comparison from which the variances are: `axis` is the label of the effect's axis, `interval` the summary's.

    Also the names of systems with unknown seed variance, of external ones, and of those without timing; the measure.
    """

    control: str
    treatment: str
    interval: str
    axis: str
    unknown_seed_variance: list[str]
    given: list[str]
    untimed: list[str]
    devices: list[str]
    measure: str
    of_tasks: bool


@dataclass(frozen=True)
class AssumedBasis:
    """Variances assumed in the configuration."""

    axis: str
    interval: str


@dataclass(frozen=True)
class SeedVarianceRecord:
    """The seed variances of a system; `df` None: they are assumed."""

    seed: float
    seed_by_collection: float
    seed_by_query: float
    df: float | None


@dataclass(frozen=True)
class ComponentsRecord:
    """The components of variance."""

    query: float
    collection: float
    seed_variances: tuple[SeedVarianceRecord, ...]


@dataclass(frozen=True)
class PrecisionRecord:
    """The precision of an estimate; `df` None: its variance is known."""

    variance: float
    df: float | None
    detectable: float
    half_width: float


@dataclass(frozen=True)
class PresentSummary:
    """The precision of the present design over collections, also at the upper limit of the interval of tau2."""

    summary: PrecisionRecord
    summary_with_high_tau2: PrecisionRecord | None
    share_between_collections: float


@dataclass(frozen=True)
class Present:
    """The design of the comparison, with the seeds of each trained system; a single collection has no summary."""

    queries: float
    collections: float
    seeds: tuple[int, ...]
    task: PrecisionRecord
    over_collections: Annotated[PresentSummary | None, INLINE] = None


@dataclass(frozen=True)
class DesignRecord:
    """One design in one test: task (one collection) or summary; `meets_target` None: there is no target."""

    test: str
    queries: float
    collections: float
    seeds: int
    precision: Annotated[PrecisionRecord, INLINE]
    hours: float | None
    meets_target: bool | None


@dataclass(frozen=True)
class Curves:
    """The grids of the figure: for one collection by seeds and queries, over several also by collections."""

    quantity: str
    queries: list[float]
    collections: list[float]
    seeds: list[int]
    task: list[list[float]]
    summary: list[list[list[float]]]


@dataclass(frozen=True)
class PlanRecord:
    """A plan: its designs, the cheapest one for the target in each test, and how many collections suffice."""

    plan: str
    basis: Annotated[FoundBasis | AssumedBasis, INLINE]
    alpha: float
    power: float
    target: Target
    components: ComponentsRecord
    present: Present | None
    designs: tuple[DesignRecord, ...]
    cheapest: dict[str, DesignRecord | None]
    enough_collections: int | None
    curves: Curves

    @property
    def nouns(self) -> Nouns:
        """The words for what it is over; those of retrieval where variances are assumed."""
        return nouns_of(self.basis.measure, self.basis.of_tasks) if isinstance(self.basis, FoundBasis) else RETRIEVAL

    def shown(self, found: PrecisionRecord) -> float:
        """The value shown for a design: the smallest detectable effect, or the half-width if that is the target."""
        return found.detectable if self.curves.quantity == "detectable" else found.half_width
