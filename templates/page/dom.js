// Elements are made here and nowhere else. Texts of models reach the page as text only, never as markup.
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);

function dress(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined) continue;
    if (name.startsWith("aria-")) made.setAttribute(name, String(value));
    else if (value === false) continue;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") made[name] = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined && child !== false) made.append(child);
  return made;
}

const h = (tag, attributes, ...children) => dress(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => dress(document.createElementNS(SVG, tag), attributes, children);
const button = (text, attributes) => h("button", { type: "button", ...attributes }, text);
const words = (name) => String(name).replaceAll("_", " ");
const counted = (number, thing) => `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;

// Characters that hide or reorder text are spelled out.
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]/gu;
const plain = (text) => String(text).replace(HIDDEN, (c) => `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`);

function cut(text, longest) {
  const shown = plain(text);
  return shown.length > longest ? `${shown.slice(0, longest - 1)}…` : shown;
}

function shown(value) {
  // A value of a result on one line.
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`;
  if (typeof value === "object") return Object.entries(value).map(([name, one]) => `${plain(name)}: ${shown(one)}`).join(", ");
  return plain(value);
}

const amount = (value) =>
  value === null || value === undefined ? "–" : value >= 10000 ? `${(value / 1000).toFixed(1)}k` : String(value);
const money = (value) => (value === null || value === undefined ? "–" : `$${value.toFixed(value && value < 1 ? 4 : 2)}`);
const duration = (value) =>
  value === null || value === undefined ? "–" : value < 0.1 ? `${Math.round(value * 1000)} ms` : value < 100 ? `${value.toFixed(1)} s` : `${Math.round(value / 60)} min`;
const clock = (text) => plain(text).replace("T", " ").slice(0, 16);

function replace(place, ...children) {
  place.replaceChildren(...children.flat(Infinity).filter((child) => child));
  return place;
}

// A box that scrolls sideways; its edge fades where more is to be seen.
function scroller(name, attributes, ...children) {
  const box = h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": name, onscroll: () => fadeEdges(box), ...attributes }, children);
  new ResizeObserver(() => fadeEdges(box)).observe(box);
  return box;
}

function fadeEdges(box) {
  box.classList.toggle("cut-left", box.scrollLeft > 1);
  box.classList.toggle("cut-right", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
}
