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
    state.t = Object.hasOwn(comparison.tasks, state.t ?? "") ? state.t : Object.keys(comparison.tasks)[0];
    const task = experiment.tasks[state.t];
    const table = await explorer.part(`${task.folder}/queries`);
    const rows = explorer.rows(table, comparison);
    const hasRuns = explorer.hasRuns(table);
    const runsOf = (system) => (task.seeds[system] ?? []).map((seed) => `${system} ${seed}`);
    const runs = new Set(Object.keys(task.seeds).flatMap(runsOf));
    for (const side of ["l", "r"]) if (!runs.has(state[side])) delete state[side];
    return {
      experiment, state, comparison, task, table, rows,
      left: explorer.sorted(explorer.filtered(rows, state), state),
      row: rows.find((one) => one.id === state.q),
      hasRuns, hasTexts: explorer.hasTexts(table), noun: hasRuns ? ["query", "queries"] : ["sample", "samples"],
      range: table.ranges[comparison.measure], quantiles: table.quantiles[String(comparison.alpha)],
      label: (system) => experiment.systems[system] ?? system,
      runsOf,
    };
  };

  let listed = ""; // the comparison and task whose list is on the page

  // What filters change is drawn anew without the filters, in which somebody may be typing.
  const show = async (view, number) => {
    const [before, place] = [listed, document.getElementById("left")];
    listed = view.row ? "" : JSON.stringify([view.comparison.name, view.state.t]);
    if (!view.row) return place && before === listed ? explorer.filteredView(view) : explorer.listView(view);
    const content = await explorer.queryView(view);
    if (number === drawn) main.replaceChildren(...content);
  };

  const draw = async () => {
    const number = (drawn += 1);
    const begun = performance.now();
    try {
      const view = await viewOf();
      if (number !== drawn) return;
      const shown = view.row ? view.row.text || view.row.id : view.comparison.name;
      document.title = explorer.unturned(`${shown} – explorer of ${view.experiment.experiment}`);
      document.getElementById("title").textContent = view.experiment.experiment;
      document.getElementById("report").href = `../${encodeURIComponent(view.experiment.report)}`;
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
