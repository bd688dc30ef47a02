// The slice that passes the filter: its effect with interval and n, and how unjudged documents could change it.
"use strict";
(() => {
  const { element, number, signed } = explorer;

  explorer.effect = (view, rows) => {
    const values = (key) => rows.map((row) => row[key]);
    return explorer.difference(values("treatment"), values("control"), view.quantiles, view.range);
  };

  const percent = (view) => `${Number((100 * (1 - view.comparison.alpha)).toPrecision(6))}%`;
  const interval = (one) => (one.low === null ? "no interval" : `${number(one.low)} to ${number(one.high)}`);

  const counts = (rows) => {
    const of = (outcome) => rows.filter((row) => row.outcome === outcome).length;
    return `${explorer.count(of("win"), "win")}, ${explorer.count(of("tie"), "tie")}, ${explorer.count(of("loss"), "loss", "losses")}`;
  };

  explorer.slice = (view, rows, all) => {
    const found = explorer.effect(view, rows);
    const whole = rows.length === all.length;
    const effect = element("p", { class: "effect", id: "slice" }, element("strong", {}, signed(found.mean)), ` ${view.comparison.measure} `,
      element("span", { class: "quiet" }, found.low === null ? "no t interval" : `${percent(view)} t interval ${interval(found)}`));
    const n = element("p", { id: "slice-n" }, `${whole ? "All" : `${rows.length} of`} ${explorer.count(all.length, ...view.noun)}: `, counts(rows));
    const note = whole
      ? `The interval is for these ${view.noun[1]} alone, for the mean over seeds. The report has the comparison's own interval, with seed variance and correction.`
      : ` These ${view.noun[1]} were chosen after seeing the data. The interval is not a test, and it is not corrected for the number of slices inspected.`;
    return element("div", { class: "slice", "aria-live": "polite" }, effect, n, element("p", { class: whole ? "quiet" : "warning", id: "slice-note" }, whole ? null : element("strong", {}, "Exploratory."), note));
  };

  // The effect with the differences of a case instead of those as judged.
  const caseEffect = (view, rows, differences) =>
    explorer.difference(rows.map((row) => differences[row.place]), rows.map(() => 0), view.quantiles, view.range);

  const caseRow = (text, found) =>
    element("tr", {}, element("th", { scope: "row" }, text), element("td", { class: "n" }, signed(found.mean)), element("td", { class: "n" }, interval(found)));

  explorer.holes = (view, rows) => {
    const holes = view.table.holes[view.comparison.name];
    if (!holes) return null;
    const first = view.experiment.tops[view.comparison.measure];
    const total = rows.reduce((sum, row) => sum + holes.number[row.place], 0);
    const cases = [
      ["None is relevant (as judged)", explorer.effect(view, rows)],
      ["All are relevant", caseEffect(view, rows, holes.all)],
      [`Only those that ${view.label(view.comparison.treatment)} ranks higher are relevant`, caseEffect(view, rows, holes.treatment)],
      [`Only those that ${view.label(view.comparison.control)} ranks higher are relevant`, caseEffect(view, rows, holes.control)],
    ];
    const heads = ["Assumption", `Difference in ${view.comparison.measure}`, `${percent(view)} t interval`];
    const head = element("tr", {}, heads.map((text, at) => element("th", { scope: "col", class: at ? "n" : null }, text)));
    const table = element("table", { id: "holes" }, element("thead", {}, head), element("tbody", {}, cases.map((one) => caseRow(...one))));
    const said = `Unjudged: ${explorer.count(total, "document")} ${first ? `among the first ${first}` : "in the rankings"} of either system, over all its seeds. They count as not relevant. The comparison if some of them had the highest grade of the judgements:`;
    return element("section", { "aria-labelledby": "holes-title" }, element("h3", { id: "holes-title" }, "Unjudged documents"), element("p", {}, said),
      element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Cases" }, table), exporter(view, rows, first));
  };

  const exporter = (view, rows, first) => {
    const status = element("span", { class: "quiet", role: "status" });
    const save = async () => {
      const runs = [view.comparison.control, view.comparison.treatment].flatMap((system) => view.runsOf(system));
      const shown = Math.min(first ?? view.task.depth, view.task.depth);
      status.textContent = " collecting …";
      const text = await explorer.pool(view.task, rows, runs, shown);
      explorer.save(text, `pool-${view.comparison.name}-${view.state.t}.tsv`);
      status.textContent = ` ${explorer.count(text.split("\n").length - 2, "document")}, among the first ${shown}; texts cut as on this page`;
    };
    return element("p", {}, element("button", { type: "button", id: "pool", onclick: save }, "Export the pool for judging (TSV)"), status);
  };
})();
