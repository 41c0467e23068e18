// The list of episodes: only the rows that can be seen are in the document, however many there are.
import { go, replaceState } from "./address.js";
import { OUTCOMES, outcome, page } from "./data.js";
import { amount, counted, cut, duration, html, money, plain, plainWords, words } from "./dom.js";
import { filtered, filtersView } from "./filters.js";

const SPARE_ROWS = 8;
const PAGE_ROWS = 12;
const COLUMNS = ["", "task", "model", "calls", "tokens", "time", "cost", ""];
let active = 0;

const rowHeight = () => (matchMedia("(max-width: 44rem)").matches ? 64 : 40);

export function listView(state) {
  const count = html("p", { class: "count", id: "count", role: "status" });
  const rows = html("div", { class: "rows" });
  const box = html(
    "div",
    {
      class: "list",
      id: "list",
      role: "listbox",
      tabindex: "0",
      "aria-label": "Episodes",
      onscroll: draw,
      onkeydown: moveByKey,
      onclick: openClicked,
    },
    rows,
  );
  const titles = COLUMNS.map((name, column) => html("span", { class: `c${column}` }, name));
  const head = html("div", { class: "row head", "aria-hidden": "true" }, titles);
  const view = html("div", {}, filtersView(state, choose), html("div", { class: "listed" }, count, head, box));

  function choose(name, value) {
    if (value) state.set(name, value);
    else state.delete(name);
    active = 0;
    replaceState(state);
    for (const label of view.querySelectorAll("label")) {
      const select = label.querySelector("select");
      label.classList.toggle("set", state.has(select.id.replace("filter-", "")));
    }
    refresh();
    box.scrollTop = 0;
  }

  function refresh() {
    page.listed = filtered(state);
    count.textContent = countText(page.listed);
    rows.style.height = `${page.listed.length * rowHeight()}px`;
    draw();
  }

  function draw() {
    const height = rowHeight();
    const first = Math.max(0, Math.floor(box.scrollTop / height) - SPARE_ROWS);
    const last = Math.ceil((box.scrollTop + (box.clientHeight || 700)) / height) + SPARE_ROWS;
    const shown = page.listed.slice(first, last);
    rows.replaceChildren(...shown.map((episode, number) => rowView(episode, first + number, height)));
    box.setAttribute("aria-activedescendant", `row-${active}`);
  }

  function moveByKey(event) {
    const { length } = page.listed;
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE_ROWS, PageUp: -PAGE_ROWS, Home: -length, End: length };
    const step = steps[event.key];
    if (step) {
      event.preventDefault();
      active = Math.max(0, Math.min(length - 1, active + step));
      scrollToActive();
      draw();
    }
    if (event.key === "Enter" && page.listed[active]) go({ view: "episode", e: page.listed[active].number });
  }

  function scrollToActive() {
    const height = rowHeight();
    const top = active * height;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
  }

  function openClicked(event) {
    const row = event.target.closest("[data-place]");
    if (!row) return;
    active = Number(row.dataset.place);
    go({ view: "episode", e: page.listed[active].number });
  }

  refresh();
  requestAnimationFrame(() => {
    box.scrollTop = Math.max(0, active * rowHeight() - box.clientHeight / 2);
    draw();
  });
  return view;
}

function countText(listed) {
  const right = listed.filter((episode) => episode.right === true).length;
  const judged = listed.filter((episode) => episode.right !== null && !episode.failed).length;
  const whole = listed.length < page.episodes.length ? ` of ${page.episodes.length.toLocaleString("en")}` : "";
  const share = judged ? ` · ${right.toLocaleString("en")} correct (${((100 * right) / judged).toFixed(1)} %)` : "";
  return `${counted(listed.length, "episode")}${whole}${share}`;
}

function rowView(episode, place, height) {
  const result = outcome(episode);
  const cell = (column, ...children) => html("span", { class: `c${column}` }, children);
  const row = html(
    "div",
    {
      class: `row ${result}${place === active ? " active" : ""}`,
      id: `row-${place}`,
      role: "option",
      "data-place": place,
      "aria-selected": place === active,
      "aria-setsize": page.listed.length,
      "aria-posinset": place + 1,
    },
    html("span", { class: "c0", title: OUTCOMES[result].title }, OUTCOMES[result].sign),
    cell(
      1,
      html("b", {}, plainWords(episode.kind)),
      " ",
      html("span", { class: "question" }, cut(episode.question, 160)),
    ),
    cell(2, html("span", {}, plain(episode.model)), episode.setting && html("i", {}, plain(episode.setting))),
    cell(3, amount(episode.calls)),
    cell(4, amount(episode.tokens)),
    cell(5, duration(episode.seconds)),
    cell(6, money(episode.cost)),
    cell(7, episode.failed ? words(episode.status) : plainWords(episode.cause)),
  );
  row.style.transform = `translateY(${place * height}px)`;
  row.style.height = `${height}px`;
  return row;
}
