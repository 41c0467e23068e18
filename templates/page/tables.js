// Tables as the papers print them; intervals are drawn under the figures.
function resultsView() {
  return [jumpView(), index.runs.map((run, number) => [
    runTitle(number),
    run.incomplete && h("p", { class: "warning" }, plain(run.incomplete)),
    run.description && h("p", { class: "about" }, plain(run.description)),
    run.verdict.length > 0 && h("section", { class: "verdict", "aria-label": "Verdict" }, run.verdict.map((sentence) => h("p", {}, plain(sentence)))),
    run.tables.map((table, place) => tableView(table, place)),
    run.notes.length > 0 && h("section", { class: "notes" }, h("h3", {}, "Notes"), h("ul", {}, run.notes.map((note) => h("li", {}, plain(note))))),
    run.tables.length === 0 && h("p", { class: "empty" }, "Nothing is measured yet."),
  ])];
}

// If a page has several runs, each has its name above it, and links to all names are at the top.
const runFacts = (run) => [run.suite, run.planned && counted(run.planned, "episode")].filter(Boolean).map(plain).join(" · ");

function runTitle(number) {
  const run = index.runs[number];
  return index.runs.length > 1 && h("h2", { class: "run", id: `run-${number}`, tabindex: "-1" }, plain(run.name), h("small", {}, runFacts(run)));
}

function jumpView() {
  const there = (number) => () => { byId(`run-${number}`).scrollIntoView(); byId(`run-${number}`).focus({ preventScroll: true }); };
  return index.runs.length > 1 && h("nav", { class: "jump", "aria-label": "Runs on this page" }, index.runs.map((run, number) => button(plain(run.name), { class: "quiet", onclick: there(number) })));
}

function tableView(table, place) {
  const body = h("tbody", {}, table.rows.map((row) =>
    h("tr", { class: row.some((cell) => cell.dim) ? "published" : null },
      row.map((cell, column) => cellView(cell, table.headers[column])))));
  const head = h("tr", {}, table.headers.map(([title, name]) =>
    h("th", { scope: "col", class: name ? "name" : "number" }, title.split("\n").map((part, line) => [line > 0 && h("br"), plain(part)]))));
  const [holder, columns] = wideTable(table.title, h("table", {}, h("thead", {}, head), body), table.headers.map(([, , optional]) => optional));
  return h("section", { class: "table" }, h(place ? "h3" : "h2", {}, plain(table.title)), holder, columns, table.note && h("p", { class: "note" }, plain(table.note)));
}

function cellView(cell, [, name]) {
  if (name) return h("th", { scope: "row", class: "name" }, plain(cell.text ?? ""));
  return h("td", { class: "number" }, h("span", { class: "figure" }, plain(cell.text ?? "")),
    cell.interval && h("span", { class: "interval" }, plain(cell.interval)), cell.drawn && rangeView(cell.drawn));
}

// A table that is too wide first folds its columns, those of the highest number first, as a terminal does; then it scrolls, and its edge fades.
function wideTable(name, table, optional) {
  const box = scroller(name, { onfit: fit }, table);
  const more = button("Show more columns", { class: "quiet columns-toggle", hidden: true, onclick: () => { opened = !opened; fit(); } });
  let opened = false;
  function fit() {
    const folded = opened ? [] : tooMany();
    for (const row of table.rows) [...row.cells].forEach((cell, column) => { cell.hidden = folded.includes(column); });
    more.hidden = !opened && folded.length === 0;
    more.textContent = opened ? "Fewer columns" : `Show ${counted(folded.length, "more column")}`;
    more.setAttribute("aria-expanded", opened);
    fadeEdges(box);
  }
  function tooMany() {
    for (const cell of table.querySelectorAll("[hidden]")) cell.hidden = false;
    const wide = [...table.rows[0].cells].map((cell) => cell.offsetWidth);
    const order = optional.map((level, column) => [level, column]).filter(([level]) => level).sort(([a, one], [b, other]) => b - a || other - one);
    const folded = [];
    let left = table.offsetWidth;
    while (left > box.clientWidth && order.length > 0) {
      const [, column] = order.shift();
      folded.push(column);
      left -= wide[column];
    }
    return folded;
  }
  let before = -1;
  new ResizeObserver(() => { if (box.clientWidth !== before) { before = box.clientWidth; fit(); } }).observe(box);
  return [box, more];
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
