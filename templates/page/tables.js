// Tables as the papers print them; intervals are drawn under the figures.
function resultsView() {
  const several = index.runs.length > 1;
  return index.runs.map((run) => [
    several && h("h2", { class: "run" }, plain(run.name)),
    run.incomplete && h("p", { class: "warning" }, plain(run.incomplete)),
    run.description && h("p", { class: "about" }, plain(run.description)),
    run.tables.map((table, place) => tableView(table, place)),
    run.notes.length > 0 && h("section", { class: "notes" }, h("h3", {}, "Notes"), h("ul", {}, run.notes.map((note) => h("li", {}, plain(note))))),
    run.tables.length === 0 && h("p", { class: "empty" }, "Nothing is measured yet."),
  ]);
}

function tableView(table, place) {
  const more = new Set(table.more);
  const body = h("tbody", {}, table.rows.map((row, number) =>
    h("tr", { class: [row.some((cell) => cell.dim) && "published", more.has(number) && "more"].filter(Boolean).join(" ") || null },
      row.map((cell, column) => cellView(cell, table.headers[column])))));
  const holder = h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": table.title }, h("table", {},
    h("thead", {}, h("tr", {}, table.headers.map(([title, name]) => h("th", { scope: "col", class: name ? "name" : "number" }, title.split("\n").map((part, line) => [line > 0 && h("br"), plain(part)]))))), body));
  const toggle = more.size > 0 && button(`Show ${more.size} more published rows`, { class: "quiet", onclick: (event) => { holder.classList.add("whole"); event.target.remove(); } });
  return h("section", { class: "table" }, h(place ? "h3" : "h2", {}, plain(table.title)), holder, toggle, table.note && h("p", { class: "note" }, plain(table.note)));
}

function cellView(cell, [, name]) {
  if (name) return h("th", { scope: "row", class: "name" }, plain(cell.text ?? ""));
  return h("td", { class: "number" }, h("span", { class: "figure" }, plain(cell.text ?? "")),
    cell.interval && h("span", { class: "interval" }, plain(cell.interval)), cell.drawn && rangeView(cell.drawn));
}

function rangeView([low, value, high]) {
  // The whole scale as a rule, the interval as a bar on it, the figure as a mark.
  const range = h("span", { class: "range" });
  const mark = h("span", { class: "mark" });
  range.style.left = `${low * 100}%`;
  range.style.width = `${Math.max(0, high - low) * 100}%`;
  mark.style.left = `${value * 100}%`;
  return h("span", { class: "scale", "aria-hidden": "true" }, high > low && range, mark);
}
