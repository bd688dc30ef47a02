// The controls: comparison, task, and filters of queries.
"use strict";
(() => {
  const { element } = explorer;

  explorer.select = (label, options, value, choose, id = null) => {
    const list = options.map(([key, text]) => element("option", { value: key, selected: key === value }, text));
    return element("label", {}, element("span", {}, label), element("select", { id, onchange: (event) => choose(event.target.value) }, list));
  };

  explorer.comparisonChoice = (view) => {
    const named = (one) => `${view.label(one.treatment)} against ${view.label(one.control)}, ${one.measure} (${one.name})`;
    const options = view.experiment.comparisons.map((one) => [one.name, named(one)]);
    return explorer.select("Comparison", options, view.comparison.name, (c) => explorer.change({ c, t: "", q: "", l: "", r: "" }));
  };

  const cells = (view, name, summary) => {
    const ties = summary.n - summary.wins - summary.losses;
    const current = name === view.state.t;
    const link = element("a", { href: explorer.address({ t: name, q: "" }, view.state), "aria-current": current ? "true" : null }, view.experiment.tasks[name].label);
    const numbers = [summary.n, explorer.signed(summary.mean), summary.wins, ties, summary.losses];
    return element("tr", { class: current ? "current" : null }, element("th", { scope: "row" }, link), numbers.map((one) => element("td", { class: "n" }, String(one))));
  };

  explorer.tasksTable = (view) => {
    const heads = ["Task", "n", "Difference", "Wins", "Ties", "Losses"];
    const head = element("tr", {}, heads.map((text, at) => element("th", { scope: "col", class: at ? "n" : null }, text)));
    const rows = Object.entries(view.comparison.tasks).map(([name, summary]) => cells(view, name, summary));
    const table = element("table", { class: "tasks" }, element("thead", {}, head), element("tbody", {}, rows));
    return element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Tasks" }, table);
  };

  // The filters as the state has them; a field in which somebody types already has its value.
  explorer.showFilters = (state) => {
    for (const key of explorer.FILTERS) {
      const control = document.getElementById(`filter-${key}`);
      if (control && control.value !== (state[key] ?? "")) control.value = state[key] ?? "";
    }
  };

  const field = (view, key, label, type = "number") => {
    const input = element("input", { type, value: view.state[key] ?? "", min: type === "number" ? "0" : null, id: `filter-${key}`, "aria-label": label });
    input.addEventListener("input", () => explorer.adjust({ [key]: input.value }));
    return input;
  };

  const range = (view, label, low, high) =>
    element("div", { class: "range", role: "group", "aria-label": label }, element("span", {}, label),
      field(view, low, `${label}, at least`), element("span", { class: "quiet" }, "to"), field(view, high, `${label}, at most`));

  explorer.filters = (view) => {
    const outcomes = [["", "all"], ["win", "wins"], ["tie", "ties"], ["loss", "losses"]];
    const words = view.hasTexts ? "Words in the query" : "Part of the id";
    const word = element("label", {}, element("span", {}, words), field(view, "w", words, "search"));
    const none = Object.fromEntries(explorer.FILTERS.map((key) => [key, ""]));
    return element("fieldset", { class: "filters" }, element("legend", {}, `Which ${view.noun[1]}`),
      explorer.select("Outcome", outcomes, view.state.o ?? "", (o) => explorer.change({ o }), "filter-o"), word,
      view.hasTexts ? range(view, "Number of words", "w1", "w2") : null,
      view.hasRuns ? [range(view, "Relevant documents", "r1", "r2"), range(view, "Unjudged in the first ten (%)", "u1", "u2")] : null,
      element("button", { type: "button", onclick: () => explorer.change(none) }, "Clear filters"));
  };
})();
