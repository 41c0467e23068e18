// For paper: tables, plots and the episodes that were chosen, one after the other; an episode is printed as it is seen.
const MOST_PRINTED = 1000;

async function paperView() {
  if (figures === null) figures = await ask(`figures?${runQuery()}`);
  return h("div", { class: "paper" }, index.runs.some((run) => run.tables.length) && [resultsView(), h("h2", {}, "Plots"), plotsView()], h("h2", {}, "Episodes"), paperList(new URLSearchParams(lastList)));
}

function paperList(state) {
  const some = chosen(state);
  const heads = ["", "task", "model", "calls", "tokens", "error"].map((name) => h("th", { scope: "col" }, name));
  return h("div", { class: "paper-list" }, h("p", { class: "count" }, saidOf(state), counted(some.length, "episode"), some.length > MOST_PRINTED && `, of which the first ${MOST_PRINTED.toLocaleString("en")}`),
    h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, some.slice(0, MOST_PRINTED).map(paperRow))));
}

const saidOf = (state) => CHOICES.filter(([name]) => state.has(name)).map(([name, title]) => `${title}: ${plain(state.get(name))}; `).join("");

function paperRow(episode) {
  return h("tr", {}, [MARKS[outcome(episode)], [h("b", {}, words(plain(episode.kind))), ` ${cut(episode.question.split("\n")[0], 90)}`], `${plain(episode.model)} ${plain(episode.setting)}`,
    amount(episode.calls), amount(episode.tokens), words(plain(episode.failed ? episode.status : episode.error || ""))].map((value) => h("td", {}, value)));
}

async function printAll() {
  // A picture that has not been read yet would be missing on paper.
  const before = Object.fromEntries(stateNow());
  go({ view: "paper" });
  while (document.body.dataset.view !== "paper") await new Promise((done) => setTimeout(done, 20));
  await Promise.all([...document.images].map((one) => one.decode().catch(() => null)));
  window.print();
  go(before);
}

// However printing begins: tables fold for the width of a sheet, what can be opened is open, and the list is whole.
window.addEventListener("beforeprint", () => {
  byId("main").style.width = "56rem";
  for (const box of document.querySelectorAll(".scroller")) box.dispatchEvent(new Event("fit"));
  for (const one of document.querySelectorAll("details.score, .table details")) one.open = true;
  if (document.body.dataset.view === "episodes") byId("main").append(paperList(stateNow()));
});
window.addEventListener("afterprint", () => {
  byId("main").style.width = "";
  if (document.body.dataset.view === "episodes") for (const one of document.querySelectorAll(".paper-list")) one.remove();
});
