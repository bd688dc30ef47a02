// The charts of a task: differences in order, and control against treatment. A click opens the query.
// Above MOST queries a mark stands for several: a bar for neighbours in the order, a square for queries with like values.
"use strict";
(() => {
  const COLOURS = { win: "var(--good)", tie: "var(--quiet)", loss: "var(--bad)" };
  const STYLE = { background: "transparent", color: "var(--ink)", fontSize: "12px", overflow: "visible" };
  const MOST = 3000; // an element per query above this makes the page slow
  const BARS = 600;
  const SQUARES = 60; // of each axis
  const tip = (row) => explorer.unturned(`${row.text || row.id}\n${explorer.number(row.control)} → ${explorer.number(row.treatment)} (${explorer.signed(row.difference)})`);
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
    const every = [...rows].sort((a, b) => b.difference - a.difference).map((row, at) => ({ row, at: at + 1 }));
    const wide = rows.length > MOST ? rows.length / BARS : 1; // queries per bar, which is that of the middle one
    const ordered = wide > 1 ? Array.from({ length: BARS }, (_, bar) => every[Math.floor((bar + 0.5) * wide)]) : every;
    const half = wide > 1 ? wide / 2 : 0.45;
    return drawn(
      {
        width, height: 270, marginLeft: 46, marginBottom: 44,
        ariaLabel: `Differences of ${explorer.count(rows.length, ...noun)} in order`,
        x: { label: `${explorer.heading(noun[1])} by difference →`, labelOffset: 40, tickFormat: "d", ticks: Math.min(8, rows.length), domain: [0.4, rows.length + 0.6] },
        y: { label: `↑ Difference in ${comparison.measure}`, grid: true },
        marks: [
          Plot.rectY(ordered, { x1: (one) => one.at - half, x2: (one) => one.at + half, y: (one) => one.row.difference, fill: (one) => colour(one.row) }),
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
          ...(rows.length > MOST ? squares(rows, noun) : points(rows)),
        ],
      },
      open,
    );

  const points = (rows) => [
    Plot.dot(rows, { x: "control", y: "treatment", r: 3.5, fill: colour, fillOpacity: 0.55 }),
    Plot.tip(rows, Plot.pointer({ x: "control", y: "treatment", title: tip, fill: "var(--paper)" })),
  ];

  // The darker a square, the more queries it has; its colour is that of most of them. A click opens its first query.
  const squares = (rows, noun) => {
    const [least, most] = extent(rows);
    const side = (most - least) / SQUARES || 1;
    const at = (value) => Math.min(SQUARES - 1, Math.floor((value - least) / side));
    const cells = d3.rollups(rows, (members) => members, (row) => at(row.control), (row) => at(row.treatment));
    const drawn = cells.flatMap(([x, column]) => column.map(([y, members]) => ({ x, y, members, row: members[0] })));
    const largest = d3.max(drawn, (one) => one.members.length);
    const from = (place) => least + place * side;
    const said = (one) => `${explorer.count(one.members.length, ...noun)}, such as ${tip(one.row)}`;
    const usual = (one) => d3.greatest(d3.rollups(one.members, (some) => some.length, colour), (pair) => pair[1])[0];
    return [
      Plot.rect(drawn, {
        x1: (one) => from(one.x), x2: (one) => from(one.x + 1), y1: (one) => from(one.y), y2: (one) => from(one.y + 1), inset: 0,
        fill: usual, fillOpacity: (one) => 0.15 + 0.85 * Math.sqrt(one.members.length / largest),
      }),
      Plot.tip(drawn, Plot.pointer({ x: (one) => from(one.x + 0.5), y: (one) => from(one.y + 0.5), title: said, fill: "var(--paper)" })),
    ];
  };

  const extent = (rows) => {
    const values = rows.flatMap((row) => [row.control, row.treatment]);
    return [d3.min(values) ?? 0, d3.max(values) ?? 1];
  };

  const ends = (rows) => extent(rows).map((x) => ({ x }));
})();
