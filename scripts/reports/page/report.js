// The page reads without this; it adds sorting by column, larger figures, and opens what a link or a printer needs.
"use strict";
(() => {
  const key = (cell) => {
    if (cell.dataset.sort !== undefined) return Number(cell.dataset.sort);
    const text = cell.textContent.trim().replace(/\u2212/g, "-");
    const found = text.match(/^[<>\[\s]*(-?[\d,]*\.?\d+)/);
    return found ? Number(found[1].replace(/,/g, "")) : text.toLowerCase();
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));

  for (const table of document.querySelectorAll("table")) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    if (body.rows.length < 2) continue;
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...body.rows].map((row) => ({ row, value: key(row.cells[column]) }));
        const full = rows.filter((one) => one.value !== "").sort((a, b) => (down ? -1 : 1) * compare(a.value, b.value));
        const empty = rows.filter((one) => one.value === "");
        body.append(...[...full, ...empty].map((one) => one.row));
      });
    });
  }

  for (const button of document.querySelectorAll("button.zoom")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const large = button.closest("figure").classList.toggle("zoomed");
      button.setAttribute("aria-pressed", String(large));
    });
  }

  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const section = target.closest("section.comparison");
    const folds = section ? [section.querySelector("details.group")] : [];
    for (let part = target.parentElement; part; part = part.parentElement) if (part.tagName === "DETAILS") folds.push(part);
    folds.forEach((fold) => fold && (fold.open = true));
    target.scrollIntoView();
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
