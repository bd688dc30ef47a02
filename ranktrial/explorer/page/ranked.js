// One ranked document as a row, and the list of relevant ones that neither ranking shows.
"use strict";
(() => {
  const { element } = explorer;

  explorer.gradeBadge = (grade) => {
    if (explorer.isUnjudged(grade)) return element("span", { class: "open" }, "unjudged");
    return element("span", { class: grade > 0 ? "better" : "worse" }, grade > 0 ? `relevant, grade ${grade}` : "not relevant");
  };

  const notInOther = (held, depth) => {
    if (!held) return "the other ranking returned no document";
    return held < depth ? `not among the other's ${explorer.count(held, "document")}` : `not in the other's first ${depth}`;
  };

  const otherRank = (line, depth) => {
    const { rank, otherRank: other } = line;
    if (other === null) return element("span", { class: "quiet move" }, notInOther(line.otherHeld, depth));
    const [arrow, said] = other < rank ? ["▲", "higher"] : other > rank ? ["▼", "lower"] : ["=", "the same"];
    return element("span", { class: "quiet move", title: `rank in the other ranking: ${said}` }, `${arrow} ${other} in the other`);
  };

  const LONG = 320; // characters, above which a text is folded

  const unfold = (event) => {
    const open = event.target.closest(".ranked").classList.toggle("whole");
    event.target.textContent = open ? "Less" : "More";
    event.target.setAttribute("aria-expanded", String(open));
  };

  const body = (document, terms) => {
    const [id, title, text, whole] = document;
    const name = title ? element("strong", { class: "title" }, explorer.marked(title, terms)) : null;
    if (text === undefined) return [name, element("span", { class: "quiet id" }, id)];
    const end = whole ? `… (cut; ${whole.toLocaleString("en")} characters)` : "";
    return [name, element("p", { class: "text" }, explorer.marked(text, terms), element("span", { class: "quiet" }, end)),
      text.length > LONG ? element("button", { type: "button", class: "more", "aria-expanded": "false", onclick: unfold }, "More") : null, element("span", { class: "quiet id" }, id)];
  };

  explorer.rankedDocument = (line, document, terms, depth) => {
    const about = element("div", { class: "about" }, element("span", { class: "rank" }, String(line.rank)), explorer.gradeBadge(line.grade), otherRank(line, depth),
      element("span", { class: "quiet score" }, `score ${String(line.score).replace("-", "\u2212")}`));
    return element("li", { class: "ranked", "data-document": document[0] }, about, body(document, terms));
  };

  const standing = (labels, ranks) =>
    ranks.map((rank, side) => `${labels[side]}: ${rank ? `rank ${rank.toLocaleString("en")}` : "not returned"}`).join("; ");

  explorer.missingDocument = (one, document, terms, labels) => {
    const about = element("div", { class: "about" }, explorer.gradeBadge(one.grade), element("span", { class: "quiet" }, standing(labels, one.ranks)));
    return element("li", { class: "ranked", "data-document": document[0] }, about, body(document, terms));
  };
})();
