// What the page shows stands in the address behind #, so that a link leads to every state. `change` goes to another.
"use strict";
(() => {
  explorer.state = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

  explorer.address = (changes, from = explorer.state()) => {
    const all = Object.entries({ ...from, ...changes }).filter(([, value]) => value !== "" && value !== null && value !== undefined);
    return `#${new URLSearchParams(all)}`;
  };

  explorer.change = (changes) => {
    location.hash = explorer.address(changes);
  };

  // While somebody types in a filter, without a step back for each letter.
  explorer.adjust = (changes) => {
    history.replaceState(null, "", explorer.address(changes));
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  };
})();
