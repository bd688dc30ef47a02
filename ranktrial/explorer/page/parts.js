// Loads parts of the data. A page from the disk cannot fetch: each part is a script that calls explorer.receive.
"use strict";
(() => {
  const KEPT = 400; // parts in memory
  const parts = new Map();
  const received = new Map();

  const unpacked = (packed) => {
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  };

  explorer.receive = (packed) => received.set(document.currentScript, packed);

  const load = (name) =>
    new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `data/${name.split("/").map(encodeURIComponent).join("/")}.js`;
      script.onerror = () => reject(new Error(`data/${name}.js is missing: the folder of this page is incomplete.`));
      script.onload = () => {
        const packed = received.get(script);
        received.delete(script);
        script.remove();
        resolve(unpacked(packed));
      };
      document.head.append(script);
    });

  explorer.part = (name) => {
    const known = parts.get(name) ?? load(name);
    parts.delete(name); // and again as the last that was used
    parts.set(name, known);
    if (parts.size > KEPT) parts.delete(parts.keys().next().value);
    return known;
  };
})();
