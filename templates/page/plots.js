// Plots are pictures: nothing in them can act. Their data are beside them.
import { page } from "./data.js";
import { columnTitle, html, plain, scroller, tableOf } from "./dom.js";
import { jumpView, runTitle } from "./tables.js";

const WITHOUT_MATPLOTLIB =
  "Plots are drawn with matplotlib, which was not installed when this page was made. Here are their data; for plots: ";

export const plotsView = () => [jumpView(), page.figures.map(runPlots)];

function runPlots(run, number) {
  return [
    runTitle(number),
    run.missing && html("p", { class: "about" }, WITHOUT_MATPLOTLIB, html("code", {}, run.missing)),
    run.figures.length === 0 && html("p", { class: "empty" }, "There is nothing to plot yet."),
    html("div", { class: "plots" }, run.figures.map(plotView)),
  ];
}

function dataText(value) {
  if (typeof value === "number") return String(Math.round(value * 1000) / 1000);
  return value === null ? "" : plain(value);
}

function plotView(figure) {
  const titles = figure.columns.map((name) => columnTitle(name));
  const rows = figure.rows.map((row) =>
    html(
      "tr",
      {},
      row.map((value) => html("td", {}, dataText(value))),
    ),
  );
  const source = figure.svg && `data:image/svg+xml;charset=utf-8,${encodeURIComponent(figure.svg)}`;
  return html(
    "figure",
    { class: "plot", id: `plot-${figure.name}` },
    html("figcaption", {}, html("h3", {}, plain(figure.title)), html("p", { class: "note" }, plain(figure.about))),
    source && html("img", { alt: `${figure.title}; its data are below.`, src: source }),
    html(
      "details",
      { open: figure.svg === null },
      html("summary", {}, "Data"),
      scroller(`Data of ${figure.title}`, {}, tableOf(titles, rows)),
    ),
  );
}
