// Which episodes are listed: choices by column, and words that must all occur.
const CHOICES = [
  ["suite", "suite", (episode) => index.runs[episode.run].suite],
  ["run", "run", (episode) => index.runs[episode.run].name],
  ["model", "model", (episode) => episode.model],
  ["setting", "setting", (episode) => episode.setting],
  ["group", "category", (episode) => episode.group],
  ["kind", "kind", (episode) => episode.kind],
  ["outcome", "outcome", outcome],
  ["error", "error class", (episode) => episode.error],
  ["failure", "cause of failure", (episode) => episode.failure],
  ["ignored", "ignored condition", (episode) => episode.ignored],
  ["status", "exit status", (episode) => episode.status],
];
const ORDERS = { task: "by task", calls: "most calls", tokens: "most tokens", cost: "highest cost", seconds: "longest", turns: "most turns" };

function haystack(episode) {
  if (!episode.hay) {
    const parts = [episode.taskId, episode.kind, episode.question, episode.answer, episode.model, episode.setting, episode.error, episode.failure, episode.ignored, episode.status];
    episode.hay = parts.map((part) => (part === null || part === undefined ? "" : String(part))).join("\n").toLowerCase();
  }
  return episode.hay;
}

function chosen(state) {
  const needles = (state.get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = CHOICES.filter(([name]) => state.has(name)).map(([name, , value]) => [state.get(name), value]);
  const found = episodes.filter((episode) =>
    wanted.every(([text, value]) => String(value(episode)) === text) && needles.every((needle) => haystack(episode).includes(needle)));
  const order = state.get("order");
  if (order in ORDERS && order !== "task") found.sort((a, b) => (b[order] || 0) - (a[order] || 0) || a.number - b.number);
  else found.sort((a, b) => a.task - b.task || a.number - b.number);
  return found;
}

function filtersView(state, changed) {
  const search = h("input", { type: "search", id: "search", placeholder: "Search   /", "aria-label": "Search in questions, answers, names", value: state.get("q") || "", oninput: (event) => changed("q", event.target.value) });
  const selects = CHOICES.map(([name, title, value]) => {
    const counts = new Map();
    for (const episode of episodes) counts.set(String(value(episode)), (counts.get(String(value(episode))) || 0) + 1);
    counts.delete("");
    if (counts.size + (state.has(name) ? 1 : 0) < (["error", "failure", "ignored"].includes(name) ? 1 : 2)) return null;
    const options = [...counts].sort((a, b) => a[0].localeCompare(b[0])).map(([text, count]) => h("option", { value: text, selected: state.get(name) === text }, `${plain(words(name === "outcome" ? SAID[text] : text))} (${count.toLocaleString("en")})`));
    return h("label", { class: state.has(name) ? "set" : null }, h("span", {}, title), h("select", { id: `filter-${name}`, onchange: (event) => changed(name, event.target.value) }, h("option", { value: "" }, "all"), options));
  });
  const orders = h("label", { class: state.has("order") ? "set" : null }, h("span", {}, "order"), h("select", { id: "filter-order", onchange: (event) => changed("order", event.target.value === "task" ? "" : event.target.value) },
    Object.entries(ORDERS).map(([name, said]) => h("option", { value: name, selected: state.get("order") === name }, said))));
  return h("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() }, search, selects, orders);
}
