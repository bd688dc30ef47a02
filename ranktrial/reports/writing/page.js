// Optional: sorts and filters tables, enlarges figures, and unfolds sections for links and printing.
"use strict";
(() => {
  const added = (name, text, before) => {
    const made = document.createElement(name);
    made.textContent = text;
    before?.before(made);
    return made;
  };
  const key = (cell) => {
    if (cell.dataset.sort !== undefined) return Number(cell.dataset.sort);
    const text = cell.textContent.trim().replace(/\u2212/g, "-");
    const found = text.match(/^(?:ratio |[<>\[\s+])*(-?[\d,]*\.?\d+)/);
    return found ? Number(found[1].replace(/,/g, "")) : text.toLowerCase();
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));

  const sort = (table, heads, column) => {
    const down = heads[column].getAttribute("aria-sort") === "ascending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
    for (const body of table.tBodies) {
      const rows = [...body.rows].map((row) => ({ row, value: key(row.cells[column]) }));
      const full = rows.filter((one) => one.value !== "").sort((a, b) => (down ? -1 : 1) * compare(a.value, b.value));
      const empty = rows.filter((one) => one.value === "");
      body.append(...[...full, ...empty].map((one) => one.row));
    }
  };

  for (const table of document.querySelectorAll("table")) {
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    const heads = [...table.tHead.rows[0].cells];
    if (rows.length < 2) continue;
    heads.forEach((head, column) => {
      const button = added("button", head.textContent);
      button.type = "button";
      head.replaceChildren(button);
      button.addEventListener("click", () => sort(table, heads, column));
    });
    if (rows.length < 40) continue;
    const field = added("input", "", table.parentElement);
    field.type = "search";
    field.placeholder = "words of a row";
    field.setAttribute("aria-label", "Show the rows that hold all these words");
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/);
      rows.forEach((row) => (row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word))));
    });
  }

  for (const figure of document.querySelectorAll("figure")) {
    const button = added("button", "Enlarge", figure.firstElementChild);
    button.className = "zoom";
    button.type = "button";
    button.setAttribute("aria-label", `Enlarge: ${figure.querySelector("img").alt}`);
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => button.setAttribute("aria-pressed", String(figure.classList.toggle("zoomed"))));
  }

  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    target?.scrollIntoView();
  };
  window.addEventListener("hashchange", reveal);
  reveal();

  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((one) => (one.open = true));
  });
  window.addEventListener("afterprint", () => closed.forEach((one) => (one.open = false)));

  if (window.matchMedia("(max-width: 60rem)").matches) document.querySelector(".toc").open = false;
})();
