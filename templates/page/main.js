// The views, and the heading above them.
import { addressOf, page, stateNow } from "./data.js";
import { byId, counted, html, plain, replaceChildren } from "./dom.js";
import { episodeView } from "./episode.js";
import { listView } from "./list.js";
import { plotsView } from "./plots.js";
import { resultsView } from "./tables.js";

const VIEWS = { results: resultsView, plots: plotsView, episodes: listView, episode: episodeView };
const TABS = { results: "Results", plots: "Plots", episodes: "Episodes" };
const { runs } = page.index;
const tablesExist = runs.some((run) => run.tables.length);
let shows = 0;

function viewName(state) {
  const name = state.get("view");
  if (name in VIEWS) return name;
  if (tablesExist) return "results";
  return runs.every((run) => run.conversation) ? "episode" : "episodes";
}

async function show() {
  const state = stateNow();
  const name = viewName(state);
  shows += 1;
  const number = shows;
  if (name === "episodes") page.lastList = addressOf({ view: "episodes", ...Object.fromEntries(state) });
  showHeading(name);
  try {
    const view = await VIEWS[name](state);
    if (number !== shows) return;
    replaceChildren(byId("main"), view);
  } catch (error) {
    replaceChildren(byId("main"), html("p", { class: "warning" }, `This cannot be shown: ${plain(error.message)}`));
  }
  document.body.dataset.view = name;
  document.body.dataset.ready = String(number);
  if (name === "episode") window.scrollTo(0, 0);
}

function facts() {
  if (runs.length > 1) {
    const suites = [...new Set(runs.map((run) => run.suite))];
    return [suites.join(", "), counted(page.episodes.length, "episode")];
  }
  const [run] = runs;
  return [
    run.suite,
    run.experiment !== run.suite && run.experiment,
    run.created.replace("T", " ").slice(0, 16),
    counted(run.planned, run.conversation ? "question" : "episode"),
    run.seed !== null && `seed ${run.seed}`,
    `GraphWalk ${run.version}`,
  ];
}

function showHeading(name) {
  byId("title").textContent = plain(page.index.title);
  byId("facts").textContent = facts().filter(Boolean).map(plain).join(" · ");
  const tabs = Object.keys(TABS).filter((tab) => tab === "episodes" || tablesExist);
  replaceChildren(byId("nav"), tabs.map((tab) => tabView(tab, name)));
}

function tabView(tab, name) {
  const isEpisodes = tab === "episodes";
  const isCurrent = tab === name || (isEpisodes && name === "episode");
  const href = isEpisodes ? page.lastList : addressOf({ view: tab });
  const count = isEpisodes && html("span", { class: "tally" }, ` ${page.episodes.length.toLocaleString("en")}`);
  return html("a", { href, "aria-current": isCurrent ? "page" : null }, TABS[tab], count);
}

window.addEventListener("hashchange", show);
// For the console of a browser, and for tests.
globalThis.graphwalk = { page, stateNow };
show();
