// Elements are made here and nowhere else. Texts of models reach the page as text only, never as markup.
const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

function setAttribute(element, name, value) {
  if (value === null || value === undefined) return;
  if (name.startsWith("aria-")) element.setAttribute(name, String(value));
  else if (value === false) return;
  else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name === "value") element.value = value;
  else element.setAttribute(name, value === true ? "" : String(value));
}

const shown = (children) => children.flat(Infinity).filter((child) => child || child === 0);

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) setAttribute(element, name, value);
  element.append(...shown(children));
  return element;
}

// A line may end after / and _, where names of models and kinds are joined.
function withBreaks(child) {
  if (typeof child !== "string") return child;
  return child.split(/(?<=[/_])(?=\w)/).flatMap((part, place) => (place ? [document.createElement("wbr"), part] : part));
}

export const html = (tag, attributes, ...children) =>
  build(document.createElement(tag), attributes, tag === "option" ? children : children.flat(Infinity).map(withBreaks));
export const svg = (tag, attributes, ...children) => build(document.createElementNS(SVG, tag), attributes, children);
export const button = (text, attributes) => html("button", { type: "button", ...attributes }, text);
export const replaceChildren = (parent, ...children) => parent.replaceChildren(...shown(children));
export const words = (name) => String(name).replaceAll("_", " ");
export const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

// Characters that hide or reorder text are spelled out.
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]/gu;
const spelledOut = (character) => `\\u${character.codePointAt(0).toString(16).padStart(4, "0")}`;
export const plain = (text) => String(text).replace(HIDDEN, spelledOut);
export const plainWords = (text) => plain(words(text));

export function cut(text, longest) {
  const whole = plain(text);
  return whole.length > longest ? `${whole.slice(0, longest - 1)}…` : whole;
}

// A value of a result on one line.
export function valueText(value) {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return `[${value.map(valueText).join(", ")}]`;
  if (typeof value !== "object") return plain(value);
  const fields = Object.entries(value);
  return fields.map(([name, item]) => `${plain(name)}: ${valueText(item)}`).join(", ");
}

const known = (format) => (value) => (value === null || value === undefined ? "–" : format(value));
export const amount = known((value) => (value >= 10000 ? `${(value / 1000).toFixed(1)}k` : String(value)));
export const money = known((value) => `$${value.toFixed(value && value < 1 ? 4 : 2)}`);
export const duration = known((value) => {
  if (value < 0.1) return `${Math.round(value * 1000)} ms`;
  return value < 100 ? `${value.toFixed(1)} s` : `${Math.round(value / 60)} min`;
});

export const columnTitle = (title, name) => html("th", { scope: "col", class: name }, title);

// A table with a row of titles, in a box that scrolls sideways.
export function tableOf(name, titles, rows) {
  const head = html("thead", {}, html("tr", {}, titles));
  const table = html("table", {}, head, html("tbody", {}, rows));
  return html("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": name }, table);
}

// Put the views of the first items into an element. Return a button that adds those of the others.
export function showFirst(parent, items, most, view) {
  parent.replaceChildren(...items.slice(0, most).map(view));
  const showRest = () => {
    parent.append(...items.slice(most).map(view));
    more.remove();
  };
  const more = button(`Show ${(items.length - most).toLocaleString("en")} more`, { class: "quiet", onclick: showRest });
  return items.length > most && more;
}
