"""tables/study-designs/{plan}.json: what designs of a further study can show, and what this is computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from scripts.common.keys import INLINE
from scripts.statistics.power.designs import Target


@dataclass(frozen=True)
class FoundBasis:
    """The comparison that shows the variances: `axis` is what the effect's axis says, `interval` that of the summary.

    By name the systems of which the seed variance is not known, whose runs are given, and that were not timed.
    """

    control: str
    treatment: str
    interval: str
    axis: str
    unknown_seed_variance: list[str]
    given: list[str]
    untimed: list[str]
    devices: list[str]


@dataclass(frozen=True)
class AssumedBasis:
    """Variances that the configuration assumes."""

    axis: str
    interval: str


@dataclass(frozen=True)
class SeedVarianceRecord:
    """The variances of one training of a system; `df` None: they are assumed."""

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
    """What an estimate can show; `df` None: its variance is known."""

    variance: float
    df: float | None
    detectable: float
    half_width: float


@dataclass(frozen=True)
class PresentSummary:
    """What the present design shows over collections, also at the upper end of the interval of tau2."""

    summary: PrecisionRecord
    summary_with_high_tau2: PrecisionRecord | None
    share_between_collections: float


@dataclass(frozen=True)
class Present:
    """The design of the comparison; one collection alone has no summary."""

    queries: float
    collections: float
    seeds: int
    task: PrecisionRecord
    over_collections: Annotated[PresentSummary | None, INLINE] = None


@dataclass(frozen=True)
class DesignRecord:
    """One design in a test, task (one collection) or summary; `meets_target` None: there is none."""

    test: str
    queries: float
    collections: float
    seeds: int
    precision: Annotated[PrecisionRecord, INLINE]
    hours: float | None
    meets_target: bool | None


@dataclass(frozen=True)
class Curves:
    """The grids of the figure: of one collection by seeds and queries, over several also by collections."""

    quantity: str
    queries: list[float]
    collections: list[float]
    seeds: list[int]
    task: list[list[float]]
    summary: list[list[list[float]]]


@dataclass(frozen=True)
class PlanRecord:
    """A plan: its designs, the cheapest for the target in each test, and how many collections would be enough."""

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

    def shown(self, found: PrecisionRecord) -> float:
        """What is shown of a design: the smallest detectable effect, or the half-width where that is the target."""
        return found.detectable if self.curves.quantity == "detectable" else found.half_width
