// Tables as the papers print them; intervals are drawn under the figures.
import { page } from "./data.js";
import { button, byId, columnTitle, counted, html, plain, tableOf } from "./dom.js";

export const resultsView = () => [jumpView(), page.index.runs.map(runView)];

function runView(run, number) {
  const notes = run.notes.map((note) => html("li", {}, plain(note)));
  const verdict = run.verdict.map((sentence) => html("p", {}, plain(sentence)));
  return [
    runTitle(number),
    run.incomplete && html("p", { class: "warning" }, plain(run.incomplete)),
    run.description && html("p", { class: "about" }, plain(run.description)),
    verdict.length > 0 && html("section", { class: "verdict", "aria-label": "Verdict" }, verdict),
    run.tables.map(tableView),
    notes.length > 0 && html("section", { class: "notes" }, html("h3", {}, "Notes"), html("ul", {}, notes)),
    run.tables.length === 0 && html("p", { class: "empty" }, "Nothing is measured yet."),
  ];
}

// If a page has several runs, each has its name above it, and links to all names are at the top.
export function runTitle(number) {
  const { runs } = page.index;
  if (runs.length < 2) return null;
  const run = runs[number];
  const facts = [run.suite, counted(run.planned, "episode")].map(plain).join(" · ");
  const attributes = { class: "run", id: `run-${number}`, tabindex: "-1" };
  return html("h2", attributes, plain(run.name), html("small", {}, facts));
}

export function jumpView() {
  const { runs } = page.index;
  if (runs.length < 2) return null;
  const jump = (number) => () => {
    byId(`run-${number}`).scrollIntoView();
    byId(`run-${number}`).focus({ preventScroll: true });
  };
  const links = runs.map((run, number) => button(plain(run.name), { class: "quiet", onclick: jump(number) }));
  return html("nav", { class: "jump", "aria-label": "Runs on this page" }, links);
}

function tableView(table, place) {
  const titles = table.headers.map(([title, isName]) => {
    const lines = title.split("\n").map((part, line) => [line > 0 && html("br"), plain(part)]);
    return columnTitle(lines, isName ? "name" : "number");
  });
  const rows = table.rows.map((row) => {
    const cells = row.map((cell, column) => figureCell(cell, table.headers[column]));
    return html("tr", { class: row.some((cell) => cell.dim) ? "published" : null }, cells);
  });
  return html(
    "section",
    { class: "table" },
    html(place ? "h3" : "h2", {}, plain(table.title)),
    tableOf(table.title, titles, rows),
    table.note && html("p", { class: "note" }, plain(table.note)),
  );
}

function figureCell(cell, [, isName]) {
  if (isName) return html("th", { scope: "row", class: "name" }, plain(cell.text));
  return html(
    "td",
    { class: "number" },
    html("span", { class: "figure" }, plain(cell.text)),
    cell.interval && html("span", { class: "interval" }, plain(cell.interval)),
    cell.drawn && rangeView(cell.drawn),
  );
}

// The whole scale as a rule, the interval as a bar on it, the figure as a mark.
function rangeView([low, value, high]) {
  const range = html("span", { class: "range" });
  const mark = html("span", { class: "mark" });
  range.style.left = `${low * 100}%`;
  range.style.width = `${(high - low) * 100}%`;
  mark.style.left = `${value * 100}%`;
  return html("span", { class: "scale", "aria-hidden": "true" }, high > low && range, mark);
}
