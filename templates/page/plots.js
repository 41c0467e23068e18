// Plots are pictures: nothing in them can act. Their data are beside them.
function plotsView() {
  if (figures === null) {
    ask(`figures?${runQuery()}`).then((found) => { figures = found; show(); }, problem);
    return h("p", { class: "empty" }, "Drawing …");
  }
  return [jumpView(), figures.map((drawn, number) => [
    runTitle(number),
    drawn.missing && h("p", { class: "about" }, "Plots are drawn with matplotlib, which was not installed when this page was made; here are their data. To get them: ", h("code", {}, drawn.missing)),
    drawn.notes.map((note) => h("p", { class: "about" }, plain(note))),
    drawn.figures.length === 0 && h("p", { class: "empty" }, "There is nothing to plot yet."),
    h("div", { class: "plots" }, drawn.figures.map(plotView)),
  ])];
}

function plotView(figure) {
  const table = h("table", {}, h("thead", {}, h("tr", {}, figure.columns.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, figure.rows.map((row) => h("tr", {}, row.map((value) => h("td", {}, typeof value === "number" ? String(Math.round(value * 1000) / 1000) : value === null ? "" : plain(value)))))));
  return h("figure", { class: "plot", id: `plot-${figure.name}` }, h("figcaption", {}, h("h3", {}, plain(figure.title)), h("p", { class: "note" }, plain(figure.about))),
    figure.svg && h("img", { alt: `${figure.title}; its data are below.`, src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(figure.svg)}` }),
    h("details", { open: figure.svg === null }, h("summary", {}, "Data"), h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": `Data of ${figure.title}` }, table)));
}
