// The state of the page is in the address after #, so each state has a link. `change` goes to another state.
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

  // Typing in a filter adds no step to the browser's history for each letter.
  explorer.adjust = (changes) => {
    history.replaceState(null, "", explorer.address(changes));
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  };
})();
