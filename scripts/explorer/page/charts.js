// The charts of a task: differences in order, and control against treatment. A click opens the query.
"use strict";
(() => {
  const COLOURS = { win: "var(--good)", tie: "var(--quiet)", loss: "var(--bad)" };
  const STYLE = { background: "transparent", color: "var(--ink)", fontSize: "12px", overflow: "visible" };
  const tip = (row) => `${row.text || row.id}\n${explorer.number(row.control)} → ${explorer.number(row.treatment)} (${explorer.signed(row.difference)})`;
  const colour = (row) => COLOURS[row.outcome];

  const drawn = (options, open) => {
    const plot = Plot.plot({ style: STYLE, marginTop: 24, ...options });
    plot.setAttribute("role", "img");
    for (const mark of plot.querySelectorAll("g[aria-label]")) { // an image is named as a whole
      mark.dataset.mark = mark.getAttribute("aria-label");
      mark.removeAttribute("aria-label");
    }
    plot.addEventListener("click", () => plot.value && open(plot.value.row ?? plot.value));
    return plot;
  };

  explorer.differencesChart = (rows, comparison, noun, width, open) => {
    const ordered = [...rows].sort((a, b) => b.difference - a.difference).map((row, at) => ({ row, at: at + 1 }));
    return drawn(
      {
        width, height: 270, marginLeft: 46, marginBottom: 44,
        ariaLabel: `Differences of ${explorer.count(rows.length, ...noun)} in order`,
        x: { label: `${explorer.heading(noun[1])} by difference →`, labelOffset: 40, tickFormat: "d", ticks: Math.min(8, rows.length), domain: [0.4, rows.length + 0.6] },
        y: { label: `↑ Difference in ${comparison.measure}`, grid: true },
        marks: [
          Plot.rectY(ordered, { x1: (one) => one.at - 0.45, x2: (one) => one.at + 0.45, y: (one) => one.row.difference, fill: (one) => colour(one.row) }),
          Plot.dot(ordered.filter((one) => one.row.outcome === "tie"), { x: "at", y: 0, r: 1, fill: COLOURS.tie }),
          Plot.ruleY([0], { stroke: "var(--ink)" }),
          Plot.tip(ordered, Plot.pointerX({ x: "at", y: (one) => one.row.difference, title: (one) => tip(one.row), fill: "var(--paper)" })),
        ],
      },
      open,
    );
  };

  explorer.scatterChart = (rows, comparison, labels, noun, width, open) =>
    drawn(
      {
        width, height: Math.min(width, 360), marginLeft: 46, marginBottom: 44, inset: 6, grid: true,
        ariaLabel: `${comparison.measure} of ${explorer.count(rows.length, ...noun)}: ${labels.control} against ${labels.treatment}`,
        x: { label: `${labels.control} →`, labelOffset: 40 },
        y: { label: `↑ ${labels.treatment}` },
        marks: [
          Plot.line(ends(rows), { x: "x", y: "x", stroke: "var(--quiet)", strokeDasharray: "4 3" }),
          Plot.dot(rows, { x: "control", y: "treatment", r: 3.5, fill: colour, fillOpacity: 0.55 }),
          Plot.tip(rows, Plot.pointer({ x: "control", y: "treatment", title: tip, fill: "var(--paper)" })),
        ],
      },
      open,
    );

  const ends = (rows) => {
    const values = rows.flatMap((row) => [row.control, row.treatment]);
    return [d3.min(values) ?? 0, d3.max(values) ?? 1].map((x) => ({ x }));
  };
})();
