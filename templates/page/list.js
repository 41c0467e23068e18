// The list of episodes. Each row is a link.
import { OUTCOMES, addressOf, outcome, page, replaceState } from "./data.js";
import { amount, counted, cut, duration, html, money, plain, plainWords, replaceChildren, showFirst } from "./dom.js";
import { filtered, filtersView } from "./filters.js";

const FIRST_ROWS = 500;
const COLUMNS = ["", "task", "model", "calls", "tokens", "time", "cost", ""];

export function listView(state) {
  const count = html("p", { class: "count", role: "status" });
  const rows = html("div", { class: "list", id: "list" });
  const more = html("p", {});
  const titles = COLUMNS.map((name, column) => html("span", { class: `c${column}` }, name));
  const head = html("div", { class: "row head", "aria-hidden": "true" }, titles);

  function choose(name, value) {
    if (value) state.set(name, value);
    else state.delete(name);
    replaceState(state);
    page.lastList = addressOf(state);
    draw();
  }

  function draw() {
    page.listed = filtered(state);
    count.textContent = countText(page.listed);
    replaceChildren(more, showFirst(rows, page.listed, FIRST_ROWS, rowView));
  }

  draw();
  return [filtersView(state, choose), count, head, rows, more];
}

function countText(listed) {
  const right = listed.filter((episode) => episode.right === true).length;
  const judged = listed.filter((episode) => episode.right !== null && !episode.failed).length;
  const whole = listed.length < page.episodes.length ? ` of ${page.episodes.length.toLocaleString("en")}` : "";
  const share = judged ? ` · ${right.toLocaleString("en")} correct (${((100 * right) / judged).toFixed(1)} %)` : "";
  return `${counted(listed.length, "episode")}${whole}${share}`;
}

function rowView(episode) {
  const { sign, title } = OUTCOMES[outcome(episode)];
  const cells = [
    html("b", { title }, sign),
    [html("b", {}, plainWords(episode.kind)), " ", html("span", { class: "question" }, cut(episode.question, 160))],
    [plain(episode.model), html("i", {}, ` ${plain(episode.setting)}`)],
    amount(episode.calls),
    amount(episode.tokens),
    duration(episode.seconds),
    money(episode.cost),
    plainWords(episode.failed ? episode.status : episode.cause || episode.proof),
  ];
  return html(
    "a",
    { class: `row ${outcome(episode)}`, href: addressOf({ view: "episode", e: episode.number }) },
    cells.map((cell, column) => html("span", { class: `c${column}` }, cell)),
  );
}
