// Elements and numbers. All text is inserted as text: nothing from a collection is parsed as HTML.
"use strict";
const explorer = {};

// Characters that turn the direction of what follows: such a text is isolated, so that it cannot turn its neighbours.
const TURNING = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

// A text where there are no elements (title of the window, tips of charts): without the characters that only turn it.
explorer.unturned = (text) => text.replace(CONTROLS, "");

const isolated = (child) => {
  if (typeof child !== "string" || !TURNING.test(child)) return child;
  const made = document.createElement("bdi");
  made.append(child);
  return made;
};

explorer.element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined).map(isolated));
  return made;
};

explorer.number = (value, digits = 3) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? `\u2212${text}` : text;
};

explorer.signed = (value, digits = 3) => {
  const text = explorer.number(value, digits);
  return value > 0 && Number(text) !== 0 ? `+${text}` : text;
};

explorer.heading = (word) => word[0].toUpperCase() + word.slice(1);

explorer.count = (number, one, several = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : several}`;
