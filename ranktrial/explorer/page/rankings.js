// Two rankings of a query side by side, from its record. Pure functions, but `record` and `documents`, which load.
"use strict";
(() => {
  // The chunk that holds the rankings of the query at `place` in the table, and where in it they are.
  const where = (task, place) => {
    const position = task.shown ? task.shown.indexOf(place) : place;
    if (position < 0 || !task.firsts.length) return null;
    const chunk = task.firsts.findLastIndex((first) => first <= position);
    return { chunk, position: position - task.firsts[chunk] };
  };

  explorer.record = async (task, place) => {
    const found = where(task, place);
    return found && (await explorer.part(`${task.folder}/rankings-${found.chunk}`))[found.position];
  };

  explorer.documents = async (task, numbers) => {
    const chunks = new Map();
    for (const number of numbers) chunks.set(Math.floor(number / task.documents), null);
    await Promise.all([...chunks.keys()].map(async (one) => chunks.set(one, await explorer.part(`${task.folder}/documents-${one}`))));
    return new Map(numbers.map((number) => [number, chunks.get(Math.floor(number / task.documents))[number % task.documents]]));
  };

  const grade = (record, place) => record.grades[place] ?? null;
  explorer.isUnjudged = (one) => one === null || one < 0;

  const lines = (record, run, other, depth) => {
    const [places, scores] = record.runs[run] ?? [[], []];
    const ranks = new Map((record.runs[other]?.[0] ?? []).map((place, rank) => [place, rank + 1]));
    (record.runs[other]?.[2] ?? []).forEach((rank, place) => rank && ranks.set(place, rank)); // relevant ones, of any rank
    const otherHeld = record.runs[other]?.[0].length ?? 0;
    return places.slice(0, depth).map((place, at) => ({
      place,
      rank: at + 1,
      number: record.documents[place],
      score: scores[at],
      grade: grade(record, place),
      otherRank: ranks.get(place) ?? null,
      otherHeld,
    }));
  };

  // The relevant documents that neither ranking shows within the depth, with their ranks in both runs.
  const missing = (record, left, right, shown) =>
    Array.from({ length: record.relevant }, (_, place) => place)
      .filter((place) => !shown.has(place))
      .map((place) => ({
        number: record.documents[place],
        grade: grade(record, place),
        ranks: [left, right].map((run) => record.runs[run]?.[2][place] || null),
      }));

  explorer.sides = (record, left, right, depth) => {
    const sides = [lines(record, left, right, depth), lines(record, right, left, depth)];
    const shown = new Set(sides.flat().map((line) => line.place));
    return { left: sides[0], right: sides[1], missing: missing(record, left, right, shown) };
  };
})();
