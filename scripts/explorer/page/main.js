// Draws the state in the address, and again when it changes. Keys: j and k go to the next and the previous query, u to all.
"use strict";
(() => {
  const main = document.getElementById("main");
  let drawn = 0; // of the last drawing, so that an earlier one that loads longer does not replace it

  const viewOf = async () => {
    const experiment = await explorer.part("experiment");
    const state = explorer.state();
    const comparison = experiment.comparisons.find((one) => one.name === state.c) ?? experiment.comparisons[0];
    state.c = comparison.name;
    state.t = comparison.tasks[state.t] ? state.t : Object.keys(comparison.tasks)[0];
    const [task, table] = [experiment.tasks[state.t], await explorer.part(`${state.t}/queries`)];
    const rows = explorer.rows(table, comparison);
    const hasRuns = explorer.hasRuns(table);
    return {
      experiment, state, comparison, task, table, rows,
      left: explorer.sorted(explorer.filtered(rows, state), state),
      row: rows.find((one) => one.id === state.q),
      hasRuns, hasTexts: explorer.hasTexts(table), noun: hasRuns ? ["query", "queries"] : ["sample", "samples"],
      quantiles: table.quantiles[String(comparison.alpha)],
      label: (system) => experiment.systems[system] ?? system,
      runsOf: (system) => (task.seeds[system] ?? []).map((seed) => `${system} ${seed}`),
    };
  };

  const kept = (view) => JSON.stringify([view.state.c, view.state.t, view.state.s, explorer.FILTERS.map((key) => (document.activeElement?.id === `filter-${key}` ? "" : view.state[key]))]);
  let before = "";

  const show = async (view, number) => {
    const typing = document.activeElement?.closest?.(".filters") && document.getElementById("left") && !view.state.q;
    if (typing && before === kept(view)) return explorer.left(view, document.getElementById("left"));
    before = kept(view);
    if (!view.row) return explorer.listView(view);
    const content = await explorer.queryView(view);
    if (number === drawn) main.replaceChildren(...content);
  };

  const draw = async () => {
    const number = (drawn += 1);
    const begun = performance.now();
    try {
      const view = await viewOf();
      if (number !== drawn) return;
      document.title = `${view.row ? view.row.text || view.row.id : view.comparison.name} – explorer of ${view.experiment.experiment}`;
      document.getElementById("title").textContent = view.experiment.experiment;
      document.getElementById("single").textContent = `explorer of single ${view.noun[1]}`;
      await show(view, number);
      explorer.view = view;
    } catch (error) {
      main.replaceChildren(explorer.element("p", { class: "warning", role: "alert" }, error.message));
    }
    document.body.dataset.drawn = `${number}`;
    document.body.dataset.milliseconds = `${Math.round(performance.now() - begun)}`;
  };

  const KEYS = { j: '[rel="next"]', ArrowRight: '[rel="next"]', k: '[rel="prev"]', ArrowLeft: '[rel="prev"]', u: ".steps a:first-child" };
  document.addEventListener("keydown", (event) => {
    const inField = event.target.closest("input, select, textarea");
    if (inField || event.ctrlKey || event.metaKey || event.altKey) return;
    document.querySelector(`.steps ${KEYS[event.key]?.replace(".steps ", "") ?? "none"}`)?.click();
  });

  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  window.addEventListener("hashchange", draw);
  draw();
})();
