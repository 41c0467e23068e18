// Plots are pictures: nothing in them can act.
import { page } from "./data.js";
import { html, plain } from "./dom.js";
import { jumpView, runTitle } from "./tables.js";

const WITHOUT_MATPLOTLIB =
  "Plots are drawn with matplotlib, which was not installed when this page was made. To install it: ";

export const plotsView = () => [jumpView(), page.figures.map(runPlots)];

function runPlots(run, number) {
  const empty = run.figures.length === 0 && !run.missing;
  return [
    runTitle(number),
    run.missing && html("p", { class: "about" }, WITHOUT_MATPLOTLIB, html("code", {}, run.missing)),
    empty && html("p", { class: "empty" }, "There is nothing to plot yet."),
    html("div", { class: "plots" }, run.figures.map(plotView)),
  ];
}

function plotView(figure) {
  return html(
    "figure",
    { class: "plot", id: `plot-${figure.name}` },
    html("figcaption", {}, html("h3", {}, plain(figure.title)), html("p", { class: "note" }, plain(figure.about))),
    html("img", {
      alt: figure.title,
      src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(figure.svg)}`,
    }),
  );
}
