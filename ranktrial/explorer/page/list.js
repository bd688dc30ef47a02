// The view of a task: tasks, filters, slice, charts, and the table of the queries that pass the filter.
"use strict";
(() => {
  const { element, number, signed } = explorer;
  const STEP = 200; // rows that are shown at once
  const columns = (view) => [["text", explorer.heading(view.noun[0])], ["control", ""], ["treatment", ""], ["difference", "Difference"],
    ...(view.hasTexts ? [["words", "Words"]] : []), ...(view.hasRuns ? [["relevant", "Relevant"], ["unjudged", "Unjudged"]] : [])];
  let rowsShown = STEP;

  const heading = (view, [key, text]) => {
    const name = text || view.label(view.comparison[key]);
    const order = view.state.s ?? "difference-";
    const now = order === key ? "ascending" : order === `${key}-` ? "descending" : null;
    const next = now === "descending" || (!now && key === "text") ? key : `${key}-`;
    const button = element("button", { type: "button", onclick: () => explorer.change({ s: next }) }, name);
    return element("th", { scope: "col", class: key === "text" ? null : "n", "aria-sort": now }, button);
  };

  const line = (view, row) => {
    const link = element("a", { href: explorer.address({ q: row.id }, view.state) }, row.text || row.id);
    const under = row.text ? element("span", { class: "quiet" }, row.id) : null;
    const kind = { win: "better", loss: "worse", tie: "open" }[row.outcome];
    const unjudged = row.unjudged === null ? "–" : `${Math.round(100 * row.unjudged)}%`;
    const cells = [number(row.control), number(row.treatment), element("span", { class: kind }, signed(row.difference)),
      ...(view.hasTexts ? [row.words] : []), ...(view.hasRuns ? [row.relevant, unjudged] : [])];
    return element("tr", {}, element("th", { scope: "row" }, link, under), cells.map((one) => element("td", { class: "n" }, typeof one === "number" ? String(one) : one)));
  };

  const table = (view, rows) => {
    const head = element("tr", {}, columns(view).map((column) => heading(view, column)));
    const body = element("tbody", {}, rows.slice(0, rowsShown).map((row) => line(view, row)));
    const made = element("table", { id: "queries" }, element("thead", {}, head), body);
    return element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": explorer.heading(view.noun[1]) }, made);
  };

  const more = (view, rows, place) => {
    if (rows.length <= rowsShown) return null;
    const show = () => {
      rowsShown += STEP;
      place.replaceChildren(...queries(view, rows, place));
    };
    return element("button", { type: "button", onclick: show }, `Show ${Math.min(STEP, rows.length - rowsShown)} more of ${rows.length}`);
  };

  const queries = (view, rows, place) => [table(view, rows), more(view, rows, place)].filter(Boolean);

  const tied = (view, rows, labels) => {
    const same = `${labels.treatment} and ${labels.control} have the same ${view.comparison.measure}, so there is no difference to draw.`;
    return element("p", { class: "tied" }, `Ties only (${explorer.count(rows.length, ...view.noun)}): ${same}`);
  };

  const charts = (view, rows, width) => {
    const open = (row) => explorer.change({ q: row.id });
    const labels = { control: view.label(view.comparison.control), treatment: view.label(view.comparison.treatment) };
    const narrow = width < 700;
    const differences = () => explorer.differencesChart(rows, view.comparison, view.noun, narrow ? width : Math.round(width * 0.6), open);
    const first = rows.every((row) => row.outcome === "tie") ? tied(view, rows, labels) : differences();
    const second = explorer.scatterChart(rows, view.comparison, labels, view.noun, narrow ? width : Math.round(width * 0.36), open);
    return element("div", { class: "charts" }, first, second);
  };

  // The parts that change with the filter; its input fields are kept, with the cursor in them.
  const left = (view) => {
    const place = document.getElementById("left");
    rowsShown = STEP;
    const width = Math.min(1180, document.getElementById("main").clientWidth);
    const below = element("div");
    below.append(...queries(view, view.left, below));
    const drawn = view.left.length ? charts(view, view.left, width) : element("p", { class: "warning" }, `No ${view.noun[0]} is left by this filter.`);
    const shown = [explorer.slice(view, view.left, view.rows), drawn, explorer.holes(view, view.left), element("h3", {}, explorer.heading(view.noun[1])), below];
    place.replaceChildren(...shown.filter(Boolean));
  };

  explorer.filteredView = (view) => {
    document.getElementById("tasks").replaceChildren(explorer.tasksTable(view)); // its links contain the filter
    explorer.showFilters(view.state);
    left(view);
  };

  explorer.listView = (view) => {
    const said = view.task.left_out.map((text) => element("li", {}, text));
    const leftOut = said.length ? element("details", {}, element("summary", {}, "What this page leaves out"), element("ul", {}, said)) : null;
    const named = `${view.label(view.comparison.treatment)} against ${view.label(view.comparison.control)} on ${view.task.label}`;
    const shown = [explorer.comparisonChoice(view), element("div", { id: "tasks" }, explorer.tasksTable(view)), element("h2", {}, named), explorer.filters(view), element("div", { id: "left" }), leftOut];
    document.getElementById("main").replaceChildren(...shown.filter(Boolean));
    left(view);
  };
})();
