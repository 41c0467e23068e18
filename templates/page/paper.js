// For paper: tables, plots and the episodes that were chosen, one after the other; an episode is printed as it is seen.
import { go, stateNow } from "./address.js";
import { OUTCOMES, outcome, page } from "./data.js";
import { amount, byId, columnTitle, counted, cut, html, plain, plainWords, tableOf } from "./dom.js";
import { choicesInWords, filtered } from "./filters.js";
import { loadFigures, plotsView } from "./plots.js";
import { resultsView } from "./tables.js";

const MOST_PRINTED = 1000;
const LIST_TITLES = ["", "task", "model", "calls", "tokens", "cause"];

export async function paperView() {
  await loadFigures();
  const hasTables = page.index.runs.some((run) => run.tables.length);
  const results = hasTables && [resultsView(), html("h2", {}, "Plots"), plotsView()];
  const list = paperList(new URLSearchParams(page.lastList));
  return html("div", { class: "paper" }, results, html("h2", {}, "Episodes"), list);
}

function paperList(state) {
  const episodes = filtered(state);
  const limit = episodes.length > MOST_PRINTED && `, of which the first ${MOST_PRINTED.toLocaleString("en")}`;
  const count = html("p", { class: "count" }, choicesInWords(state), counted(episodes.length, "episode"), limit);
  const titles = LIST_TITLES.map((name) => columnTitle(name));
  return html("div", { class: "paper-list" }, count, tableOf(titles, episodes.slice(0, MOST_PRINTED).map(paperRow)));
}

function paperRow(episode) {
  const [firstLine] = episode.question.split("\n");
  const cells = [
    OUTCOMES[outcome(episode)].sign,
    [html("b", {}, plainWords(episode.kind)), ` ${cut(firstLine, 90)}`],
    `${plain(episode.model)} ${plain(episode.setting)}`,
    amount(episode.calls),
    amount(episode.tokens),
    plainWords(episode.failed ? episode.status : episode.cause),
  ];
  return html(
    "tr",
    {},
    cells.map((value) => html("td", {}, value)),
  );
}

export async function printAll() {
  // A picture that has not been read yet would be missing on paper.
  const before = Object.fromEntries(stateNow());
  go({ view: "paper" });
  while (document.body.dataset.view !== "paper") await new Promise((resolve) => setTimeout(resolve, 20));
  await Promise.all([...document.images].map((image) => image.decode().catch(() => null)));
  window.print();
  go(before);
}

// However printing begins: tables fold for the width of a sheet, what can be opened is open, and the list is whole.
function prepareForPaper() {
  byId("main").style.width = "56rem";
  for (const box of document.querySelectorAll(".scroller")) box.dispatchEvent(new Event("fit"));
  for (const details of document.querySelectorAll("details.score, .table details")) details.open = true;
  if (document.body.dataset.view === "episodes") byId("main").append(paperList(stateNow()));
}

function returnToScreen() {
  byId("main").style.width = "";
  if (document.body.dataset.view !== "episodes") return;
  for (const list of document.querySelectorAll(".paper-list")) list.remove();
}

export function followPrinting() {
  window.addEventListener("beforeprint", prepareForPaper);
  window.addEventListener("afterprint", returnToScreen);
}
