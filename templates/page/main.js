// The views, the heading above them, and keys.
import { go, showAgain, stateNow } from "./address.js";
import { page, unfold } from "./data.js";
import { button, byId, clock, counted, html, plain, replaceChildren, showProblem } from "./dom.js";
import { closeEpisode, episodeView, players } from "./episode.js";
import { listView } from "./list.js";
import { plotsView } from "./plots.js";
import { resultsView } from "./tables.js";

const VIEWS = {
  results: resultsView,
  plots: plotsView,
  episodes: listView,
  episode: episodeView,
};
const TABS = { results: "Results", plots: "Plots", episodes: "Episodes" };
let shows = 0;

const runs = () => page.index.runs;
const tablesExist = () => runs().some((run) => run.tables.length);

function viewName(state) {
  const name = state.get("view");
  if (name in VIEWS) return name;
  if (tablesExist()) return "results";
  return runs().every((run) => run.conversation) ? "episode" : "episodes";
}

async function show() {
  const state = stateNow();
  const name = viewName(state);
  shows += 1;
  const number = shows;
  if (name === "episodes") {
    state.set("view", "episodes");
    page.lastList = String(state);
  }
  showHeading(name);
  try {
    const view = await VIEWS[name](state);
    if (number !== shows) return;
    document.body.dataset.view = name;
    replaceChildren(byId("main"), [view]);
    if (name === "episode") {
      window.scrollTo(0, 0);
      for (const player of players) player.redraw();
    }
  } catch (error) {
    showProblem(error);
  }
  document.body.dataset.ready = String(number);
}

function facts() {
  if (runs().length === 1) {
    const [run] = runs();
    const experiment = run.experiment !== run.suite && run.experiment;
    return [
      run.suite,
      experiment,
      clock(run.created || ""),
      run.planned && counted(run.planned, run.conversation ? "question" : "episode"),
      run.seed !== null && `seed ${run.seed}`,
      run.version && `GraphWalk ${run.version}`,
    ];
  }
  const suites = [...new Set(runs().map((run) => run.suite))];
  return [suites.join(", "), counted(page.episodes.length, "episode")];
}

function showHeading(name) {
  byId("title").textContent = plain(page.index.title);
  byId("facts").textContent = facts().filter(Boolean).map(plain).join(" · ");
  const tabs = Object.keys(TABS).filter((tab) => tab === "episodes" || tablesExist());
  replaceChildren(
    byId("nav"),
    tabs.map((tab) => tabView(tab, name)),
  );
}

function tabView(tab, name) {
  const isEpisodes = tab === "episodes";
  const state = isEpisodes ? Object.fromEntries(new URLSearchParams(page.lastList || "view=episodes")) : { view: tab };
  const attributes = {
    role: "tab",
    id: `tab-${tab}`,
    "aria-selected": tab === name || (isEpisodes && name === "episode"),
    onclick: () => go(state),
  };
  const count = isEpisodes && html("span", { class: "tally" }, ` ${page.episodes.length.toLocaleString("en")}`);
  return button([TABS[tab], count], attributes);
}

function focusTab(tab, by) {
  const tabs = [...byId("nav").querySelectorAll("[role=tab]")];
  tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length].focus();
}

function onKey(event) {
  const { key, target } = event;
  const isEpisode = document.body.dataset.view === "episode";
  const isTyping = ["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName) && target.type !== "range";
  if (key === "Escape" && isEpisode) {
    event.preventDefault();
    closeEpisode();
    return;
  }
  if (key === "Escape" && isTyping) target.blur();
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const by = { ArrowLeft: -1, ArrowRight: 1 }[key];
  const isTab = target.getAttribute && target.getAttribute("role") === "tab";
  if (isTab && by) focusTab(target, by);
  else if (isEpisode && target.type !== "range") onPlayerKey(event, by);
}

function onPlayerKey(event, by) {
  const playPressed = event.key === " " && !["BUTTON", "SUMMARY"].includes(event.target.tagName);
  if (!by && !playPressed) return;
  event.preventDefault();
  for (const player of players) {
    if (by) player.step(by);
    else player.toggle();
  }
}

document.addEventListener("keydown", onKey);
window.addEventListener("hashchange", show);
// For the console of a browser, and for tests.
globalThis.graphwalk = { page, go, stateNow };
unfold();
showAgain();
