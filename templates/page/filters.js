// Which episodes are listed: choices by column, and words that must all occur.
import { OUTCOMES, outcome, page } from "./data.js";
import { html, plainWords } from "./dom.js";

const CHOICES = [
  { name: "suite", title: "suite", value: (episode) => page.index.runs[episode.run].suite },
  { name: "run", title: "run", value: (episode) => page.index.runs[episode.run].name },
  { name: "model", title: "model", value: (episode) => episode.model },
  { name: "setting", title: "setting", value: (episode) => episode.setting },
  { name: "group", title: "category", value: (episode) => episode.group },
  { name: "kind", title: "kind", value: (episode) => episode.kind },
  { name: "outcome", title: "outcome", value: outcome },
  { name: "cause", title: "cause", value: (episode) => episode.cause, fewest: 1 },
  { name: "proof", title: "proof", value: (episode) => episode.proof, fewest: 1 },
  { name: "status", title: "exit status", value: (episode) => episode.status },
];
const ORDERS = {
  "": "by task",
  calls: "most calls",
  tokens: "most tokens",
  cost: "highest cost",
  seconds: "longest",
  turns: "most turns",
};
const SEARCHED = ["taskId", "kind", "question", "answer", "model", "setting", "cause", "proof", "status"];

function searchText(episode) {
  episode.searchText ??= SEARCHED.map((name) => episode[name]).join("\n").toLowerCase();
  return episode.searchText;
}

export function filtered(state) {
  const needles = (state.get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
  const choices = CHOICES.filter(({ name }) => state.has(name));
  const episodes = page.episodes.filter(
    (episode) =>
      choices.every(({ name, value }) => String(value(episode)) === state.get(name)) &&
      needles.every((needle) => searchText(episode).includes(needle)),
  );
  const order = state.get("order");
  if (order in ORDERS) return episodes.sort((a, b) => (b[order] || 0) - (a[order] || 0) || a.number - b.number);
  return episodes.sort((a, b) => a.task - b.task || a.number - b.number);
}

function choiceView({ name, title, value, fewest = 2 }, state, onChange) {
  const counts = new Map();
  for (const episode of page.episodes) {
    const text = String(value(episode));
    counts.set(text, (counts.get(text) || 0) + 1);
  }
  counts.delete("");
  if (counts.size + (state.has(name) ? 1 : 0) < fewest) return null;
  const caption = (text) => (name === "outcome" ? OUTCOMES[text].title : plainWords(text));
  const options = [...counts]
    .sort((a, b) => a[0].localeCompare(b[0]))
    .map(([text, count]) => [text, `${caption(text)} (${count.toLocaleString("en")})`]);
  return selectView(name, title, [["", "all"], ...options], state, onChange);
}

function selectView(name, title, options, state, onChange) {
  const elements = options.map(([value, text]) => html("option", { value, selected: state.get(name) === value }, text));
  const onchange = (event) => onChange(name, event.target.value);
  return html("label", {}, html("span", {}, title), html("select", { id: `filter-${name}`, onchange }, elements));
}

export function filtersView(state, onChange) {
  const search = html("input", {
    type: "search",
    id: "search",
    placeholder: "Search",
    "aria-label": "Search in questions, answers, names",
    value: state.get("q") || "",
    oninput: (event) => onChange("q", event.target.value),
  });
  const choices = CHOICES.map((choice) => choiceView(choice, state, onChange));
  const order = selectView("order", "order", Object.entries(ORDERS), state, onChange);
  return html("div", { class: "filters", role: "search" }, search, choices, order);
}
