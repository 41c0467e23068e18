// The views, the heading above them, keys, and updates from the server.
import { go, runQuery, showAgain, stateNow } from "./address.js";
import { ask, isServed, page, unfold } from "./data.js";
import { button, byId, clock, counted, html, plain, replaceChildren, showProblem } from "./dom.js";
import { closeEpisode, episodeView, players } from "./episode.js";
import { listView } from "./list.js";
import { followPrinting, paperView, printAll } from "./paper.js";
import { plotsView } from "./plots.js";
import { runsView } from "./runs.js";
import { resultsView } from "./tables.js";

const SECONDS_BETWEEN_UPDATES = 2;
const VIEWS = {
  runs: runsView,
  results: resultsView,
  plots: plotsView,
  episodes: listView,
  episode: episodeView,
  paper: paperView,
};
const TABS = { results: "Results", plots: "Plots", episodes: "Episodes" };
let shows = 0;

const runs = () => page.index.runs || [];
const hasTables = () => runs().some((run) => run.tables.length);

function viewName(state) {
  if (isServed && !runQuery()) return "runs";
  const name = state.get("view");
  if (name in VIEWS && name !== "runs") return name;
  return hasTables() ? "results" : "episodes";
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
    return [
      run.suite,
      run.experiment,
      clock(run.created || ""),
      run.planned && counted(run.planned, "episode"),
      run.seed !== undefined && `seed ${run.seed}`,
      run.version && `GraphWalk ${run.version}`,
    ];
  }
  if (page.index.listed) return [counted(page.index.listed.length, "run")];
  const suites = [...new Set(runs().map((run) => run.suite))];
  return [suites.join(", "), counted(page.episodes.length, "episode")];
}

function showHeading(name) {
  byId("title").textContent = plain(page.index.title);
  byId("facts").textContent = facts().filter(Boolean).map(plain).join(" · ");
  const running = runs().filter((run) => run.state === "running");
  const planned = running.reduce((sum, run) => sum + (run.planned || 0), 0);
  byId("state").hidden = running.length === 0;
  byId("state").textContent = `running: ${page.episodes.length} of ${planned} episodes are done`;
  const tabs = Object.keys(TABS).filter((tab) => name !== "runs" && (tab === "episodes" || hasTables()));
  const print = { class: "quiet print", title: "Tables, plots and the episodes chosen", onclick: printAll };
  replaceChildren(
    byId("nav"),
    tabs.map((tab) => tabView(tab, name)),
    name in TABS && button("Print", print),
    isServed && name !== "runs" && html("a", { href: "?", class: "all-runs" }, "All runs"),
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

function focusSearch() {
  if (byId("search")) {
    byId("search").focus();
    return;
  }
  closeEpisode();
  requestAnimationFrame(() => byId("search") && byId("search").focus());
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
  if (key === "/") {
    event.preventDefault();
    focusSearch();
  }
  const by = { ArrowLeft: -1, ArrowRight: 1 }[key];
  const isTab = target.getAttribute && target.getAttribute("role") === "tab";
  if (isTab && by) focusTab(target, by);
  else if (isEpisode && target.type !== "range") onPlayerKey(event, by);
}

function onPlayerKey(event, by) {
  const isPlay = event.key === " " && !["BUTTON", "SUMMARY"].includes(event.target.tagName);
  if (!by && !isPlay) return;
  event.preventDefault();
  for (const player of players) {
    if (by) player.step(by);
    else player.toggle();
  }
}

// A page that is served stays up to date: the list of runs, and active runs.
async function follow() {
  const path = runQuery() ? `index?${runQuery()}` : "runs?";
  const news = await ask(`${path}&version=${page.version}`).catch(() => null);
  if (news) await update(news);
  const isActive = (run) => run.state === "running" || run.state === "not finished";
  if (!runQuery() || runs().some(isActive)) setTimeout(follow, 1000 * SECONDS_BETWEEN_UPDATES);
}

async function update(news) {
  page.version = news.version;
  Object.assign(page.index, news);
  if (runQuery()) {
    unfold();
    page.figures = null;
  }
  const { view } = document.body.dataset;
  if (view === "episode" || view === "paper") {
    showHeading(view);
    return;
  }
  const top = byId("list") ? byId("list").scrollTop : 0;
  await show();
  if (byId("list")) byId("list").scrollTop = top;
}

document.addEventListener("keydown", onKey);
window.addEventListener("hashchange", show);
followPrinting();
// For the console of a browser, and for tests.
globalThis.graphwalk = { page, go, stateNow };
if (isServed) {
  page.index.runs = [];
  follow();
} else {
  unfold();
  showAgain();
}
