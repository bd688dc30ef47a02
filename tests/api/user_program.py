"""A program of a user, with every public name, which mypy --strict accepts: results are typed (make types)."""

import matplotlib.figure
import pandas as pd

import ranktrial as rt


def typed(frame: pd.DataFrame) -> None:
    """Calls that are checked, not run."""
    found: rt.Findings = rt.compare(frame, control="a", treatment=["b"], effect="MD", alpha=0.05)
    figure: matplotlib.figure.Figure = found.forest_plot("a.pdf", title="A")
    diagram: matplotlib.figure.Figure = found.diagram()
    text: str = found.sentence() + found.table("a.tex") + rt.__version__
    warnings: list[str] = found.warnings
    numbers: dict[str, object] = found.numbers()
    found.report("a.html", title="A")
    names: list[str] = [path.name for path in found.write("folder")]
    values: pd.DataFrame = rt.evaluate("qrels.txt", {"a": "a.run"}, ["AP"])
    read: pd.DataFrame = rt.read("a.csv", measure="AP")
    plan: rt.Plan = rt.power(found, effect=0.02)
    more: str = plan.sentence()
    drawn: matplotlib.figure.Figure = plan.figure()
    try:
        rt.compare({"a": ([1.0], [2.0])})
    except rt.UserError as error:
        print(error, figure, diagram, text, warnings, numbers, names, values, read, more, drawn)


def wrong(found: rt.Findings) -> None:
    """Mistakes that mypy finds only where results and arguments are typed."""
    rt.power(power="x")  # type: ignore[arg-type]
    found.sentence() + 1  # type: ignore[operator]
    rt.compare({}, control=1)  # type: ignore[arg-type]
    print(found.nothing)  # type: ignore[attr-defined]
    print(rt.nothing)  # type: ignore[attr-defined]
    len(rt.power(found))  # type: ignore[arg-type]
    rt.read("a", measure=1)  # type: ignore[arg-type]
