// The list of runs in a folder that is served.
import { queryOf } from "./address.js";
import { page } from "./data.js";
import { button, columnTitle, html, money, plain, tableOf } from "./dom.js";

export function runsView() {
  const runs = page.index.listed || [];
  const chosen = new Set();
  const compare = button("Compare", { class: "compare", disabled: true, onclick: openChosen });

  function openChosen() {
    location.search = queryOf([...chosen]);
  }
  function choose(event, name) {
    if (event.target.checked) chosen.add(name);
    else chosen.delete(name);
    compare.disabled = chosen.size < 2;
  }
  const titles = [
    ["", "run", "models", "state"].map((title) => columnTitle(title, "name")),
    ["episodes", "Accuracy %", "cost"].map((title) => columnTitle(title, "number")),
  ];
  const rows = runs.map((run) => runRow(run, choose));
  const table = html("div", { class: "scroller" }, tableOf(titles, rows));
  const content = rows.length ? table : html("p", { class: "empty" }, "There is no run here yet.");
  return html("section", { class: "table" }, html("h2", {}, "Runs"), content, rows.length > 1 && compare);
}

function runRow(run, choose) {
  const onchange = (event) => choose(event, run.name);
  const box = html("input", { type: "checkbox", "aria-label": `Choose ${run.name}`, onchange });
  const link = html("a", { href: `?${queryOf([run.name])}` }, plain(run.name));
  const cell = (name, text) => html("td", { class: name }, text);
  return html(
    "tr",
    {},
    html("td", {}, box),
    html("th", { scope: "row", class: "name" }, run.state === "unreadable" ? plain(run.name) : link),
    cell("name", plain(run.models.join(", "))),
    cell("name", plain(run.state)),
    cell("number", `${run.done}/${run.episodes === null ? "?" : run.episodes}`),
    cell("number", run.accuracy === null ? "–" : run.accuracy.toFixed(1)),
    cell("number", money(run.cost)),
  );
}
