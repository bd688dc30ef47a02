// The view of a query: its text, two rankings side by side, and the relevant documents that neither shows.
"use strict";
(() => {
  const { element, number, signed } = explorer;
  const DEPTHS = [3, 10, 20, 50, 100, 1000];

  const runChoice = (view, label, key, value) => {
    const options = Object.entries(view.task.seeds).flatMap(([system, seeds]) =>
      seeds.map((seed) => [`${system} ${seed}`, seeds.length > 1 ? `${view.label(system)}, seed ${seed}` : view.label(system)]));
    return explorer.select(label, options, value, (chosen) => explorer.change({ [key]: chosen }));
  };

  const depthChoice = (view, depth) => {
    const fitting = DEPTHS.filter((one) => one < view.task.depth).concat(view.task.depth).map((one) => [String(one), String(one)]);
    return explorer.select("Documents", fitting, String(depth), (d) => explorer.change({ d }));
  };

  const steps = (view, row) => {
    const at = view.left.findIndex((one) => one.id === row.id);
    const step = (text, other, key) => {
      if (!other) return element("span", { class: "quiet" }, text);
      return element("a", { href: explorer.address({ q: other.id }, view.state), rel: key, "aria-keyshortcuts": key === "next" ? "j" : "k" }, text);
    };
    const where = at < 0 ? "excluded by the filter" : `${at + 1} of ${view.left.length}`;
    return element("nav", { class: "steps", "aria-label": explorer.heading(view.noun[1]) }, element("a", { href: explorer.address({ q: "", l: "", r: "" }, view.state) }, `All ${view.noun[1]}`),
      step("Previous (k)", view.left[at - 1], "prev"), element("span", { class: "quiet" }, where), step("Next (j)", view.left[at + 1], "next"));
  };

  const facts = (view, row) => {
    const { measure, control, treatment } = view.comparison;
    const kind = { win: "better", loss: "worse", tie: "open" }[row.outcome];
    return element("p", { class: "facts" }, `${measure}: ${view.label(control)} ${number(row.control)}, ${view.label(treatment)} ${number(row.treatment)} `,
      element("span", { class: kind }, signed(row.difference)), row.relevant === null ? null : ` ${explorer.count(row.relevant, "relevant document")}.`);
  };

  const column = (view, run, lines, documents, terms, depth) => {
    const [, system, seed] = run.match(/^(.*) (\S+)$/);
    const value = view.table.values[view.comparison.measure]?.[system]?.[view.row.place];
    const seeds = view.task.seeds[system] ?? [];
    const said = value === undefined ? "" : `${view.comparison.measure} ${number(value)}${seeds.length > 1 ? ` (mean of ${seeds.length} seeds)` : ""}`;
    const heading = element("h3", {}, view.label(system), seeds.length > 1 ? `, seed ${seed} ` : " ", element("span", { class: "quiet" }, said));
    const list = lines.map((line) => explorer.rankedDocument(line, documents.get(line.number), terms, depth));
    return element("section", { class: "ranking" }, heading, list.length ? element("ol", {}, list) : element("p", { class: "quiet" }, "No document was returned."));
  };

  const missing = (view, sides, documents, terms, runs) => {
    if (!sides.missing.length) return null;
    const labels = runs.map((run) => view.label(run.replace(/ \S+$/, "")));
    const list = sides.missing.map((one) => explorer.missingDocument(one, documents.get(one.number), terms, labels));
    return element("section", { id: "missing" }, element("h3", {}, "Relevant documents that neither ranking shows"), element("ol", {}, list));
  };

  const rankings = async (view, record, runs, depth) => {
    const sides = explorer.sides(record, ...runs, depth);
    const lines = [...sides.left, ...sides.right, ...sides.missing];
    const documents = await explorer.documents(view.task, [...new Set(lines.map((line) => line.number))]);
    const terms = explorer.terms(record.text || view.row.text);
    const columns = [sides.left, sides.right].map((side, at) => column(view, runs[at], side, documents, terms, view.task.depth));
    return [element("div", { class: "sides" }, columns), missing(view, sides, documents, terms, runs)];
  };

  // Preloads the next and the previous query.
  const ahead = async (view, row, runs, depth) => {
    const at = view.left.findIndex((one) => one.id === row.id);
    for (const other of [view.left[at + 1], view.left[at - 1]].filter(Boolean)) {
      const record = await explorer.record(view.task, other.place);
      if (!record) continue;
      const sides = explorer.sides(record, ...runs, depth);
      await explorer.documents(view.task, [...sides.left, ...sides.right, ...sides.missing].map((line) => line.number));
    }
  };

  explorer.queryView = async (view) => {
    const { row, task, state } = view;
    const first = (system) => view.runsOf(system)[0] ?? "";
    const runs = [state.l || first(view.comparison.control), state.r || first(view.comparison.treatment)];
    const depth = Math.min(Number(state.d) || 10, task.depth);
    const record = await explorer.record(task, row.place);
    const text = record?.text || row.text;
    const shown = [steps(view, row), element("h2", { id: "query" }, text || row.id, text ? element("span", { class: "quiet" }, ` ${row.id}`) : null), facts(view, row)];
    if (record) {
      const choices = [runChoice(view, "Left", "l", runs[0]), runChoice(view, "Right", "r", runs[1]), depthChoice(view, depth)];
      shown.push(element("div", { class: "choices" }, choices), ...(await rankings(view, record, runs, depth)));
      ahead(view, row, runs, depth);
    } else if (view.hasRuns) shown.push(element("p", { class: "warning" }, "This page has no rankings for this query.", ...task.left_out.map((said) => ` ${said}`)));
    else shown.push(element("p", { class: "quiet" }, ...task.left_out));
    return shown.filter(Boolean);
  };
})();
