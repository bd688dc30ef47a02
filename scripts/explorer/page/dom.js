// Elements and numbers. All text is inserted as text: nothing from a collection is parsed as HTML.
"use strict";
const explorer = {};

explorer.element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
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
