// The queries of a task in a comparison: as rows, filtered and in order. Pure functions of data and state.
"use strict";
(() => {
  const value = (table, measure, system, place) => table.values[measure]?.[system]?.[place] ?? null;

  const unjudged = (table, systems, place) => {
    const known = systems.map((system) => table.unjudged[system]?.[place]).filter((one) => one !== undefined);
    return known.length ? known.reduce((sum, one) => sum + one, 0) / (10 * known.length) : null;
  };

  // Without runs (values that others computed) there are no documents to count, and without texts no words.
  explorer.hasRuns = (table) => Object.keys(table.unjudged).length > 0;
  explorer.hasTexts = (table) => table.texts.some(Boolean);

  explorer.rows = (table, comparison) =>
    table.ids
      .map((id, place) => {
        const control = value(table, comparison.measure, comparison.control, place);
        const treatment = value(table, comparison.measure, comparison.treatment, place);
        const difference = control === null || treatment === null ? null : explorer.gap(treatment, control);
        return {
          place, id, control, treatment, difference,
          text: table.texts[place],
          outcome: difference === null ? null : explorer.outcome(difference, comparison.lower),
          words: explorer.hasTexts(table) ? table.words[place] : null,
          relevant: explorer.hasRuns(table) ? table.relevant[place] : null,
          unjudged: unjudged(table, [comparison.control, comparison.treatment], place),
        };
      })
      .filter((row) => row.difference !== null);

  const within = (number, least, most) =>
    number === null || ((!least || number >= Number(least)) && (!most || number <= Number(most)));

  const holds = (row, state) => {
    const words = (state.w ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const said = `${row.id} ${row.text}`.toLowerCase();
    return (
      (!state.o || row.outcome === state.o) &&
      words.every((word) => said.includes(word)) &&
      within(row.words, state.w1, state.w2) &&
      within(row.relevant, state.r1, state.r2) &&
      within(row.unjudged === null ? null : 100 * row.unjudged, state.u1, state.u2)
    );
  };

  explorer.FILTERS = ["o", "w", "w1", "w2", "r1", "r2", "u1", "u2"];
  explorer.filtered = (rows, state) => rows.filter((row) => holds(row, state));

  const text = (row) => (row.text || row.id).toLowerCase();
  explorer.sorted = (rows, state) => {
    const [key, down] = (state.s ?? "difference-").endsWith("-") ? [(state.s ?? "difference-").slice(0, -1), -1] : [state.s, 1];
    const compare = key === "text" ? (a, b) => text(a).localeCompare(text(b)) : (a, b) => (a[key] ?? 0) - (b[key] ?? 0);
    return [...rows].sort((a, b) => down * compare(a, b) || a.place - b.place);
  };
})();
