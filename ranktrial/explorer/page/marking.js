// A text with the terms of a query marked: whole words, whatever their case, with or without a plural s.
"use strict";
(() => {
  const WORD = /[\p{L}\p{N}]+/gu;
  const COMMON = new Set(
    ("a an and are as at be by can did do does for from had has have how i if in is it its my no not of on or our shall so " +
      "that the their them then there these they this to was we were what when where which who why will with you your").split(" "),
  );

  const stem = (word) => {
    const lower = word.toLowerCase();
    return lower.length > 3 ? lower.replace(/(?<!s)s$/u, "") : lower;
  };

  explorer.terms = (query) => {
    const words = (query.match(WORD) ?? []).map((word) => word.toLowerCase());
    return new Set(words.filter((word) => !COMMON.has(word)).map(stem));
  };

  explorer.marked = (text, terms) => {
    const pieces = [];
    let from = 0;
    for (const found of text.matchAll(WORD)) {
      if (!terms.has(stem(found[0]))) continue;
      pieces.push(text.slice(from, found.index), explorer.element("mark", {}, found[0]));
      from = found.index + found[0].length;
    }
    return [...pieces, text.slice(from)];
  };
})();
