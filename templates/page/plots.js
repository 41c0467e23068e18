// Plots are pictures: nothing in them can act.
import { page } from "./data.js";
import { html, plain } from "./dom.js";
import { jumpView, runTitle } from "./tables.js";

export const plotsView = () => [jumpView(), page.figures.map(runPlots)];

function runPlots(figures, number) {
  const empty = html("p", { class: "empty" }, "There are no plots.");
  return [runTitle(number), figures.length ? html("div", { class: "plots" }, figures.map(plotView)) : empty];
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
