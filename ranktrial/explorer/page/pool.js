// The pool of unjudged documents near the top, as a TSV for assessors: query, document, texts.
"use strict";
(() => {
  const cell = (text) => (text ?? "").replace(/\s+/gu, " ").trim();
  const FORMULA = /^[=+@\-]/u; // a spreadsheet would compute such a cell; ids stay as they are, since they name documents
  const words = (text) => cell(text).replace(FORMULA, "'$&");

  const unjudged = (record, runs, first) => {
    const places = runs.flatMap((run) => (record.runs[run]?.[0] ?? []).slice(0, first));
    return [...new Set(places)].filter((place) => explorer.isUnjudged(record.grades[place] ?? null));
  };

  explorer.pool = async (task, rows, runs, first) => {
    const lines = [["query_id", "query", "document_id", "title", "text"].join("\t")];
    for (const row of rows) {
      const record = await explorer.record(task, row.place);
      if (!record) continue;
      const numbers = unjudged(record, runs, first).map((place) => record.documents[place]);
      const documents = await explorer.documents(task, numbers);
      for (const [id, title, text] of documents.values()) {
        lines.push([cell(row.id), words(record.text), cell(id), words(title), words(text)].join("\t"));
      }
    }
    return `${lines.join("\n")}\n`;
  };

  explorer.save = (text, name) => {
    const address = URL.createObjectURL(new Blob([text], { type: "text/tab-separated-values" }));
    explorer.element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  };
})();
