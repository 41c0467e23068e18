// Which part is shown follows from the address behind the #, so that every view can be linked to.
const VIEWS = [["results", "Results", resultsView], ["plots", "Plots", plotsView], ["episodes", "Episodes", null]];
const OTHERS = { episode: episodeView, paper: paperView };
let lastList = "";
let drawn = 0;

const stateNow = () => new URLSearchParams(location.hash.slice(1));
const quietly = (state) => history.replaceState(null, "", `#${state}`);

function go(values) {
  const before = location.hash;
  location.hash = String(new URLSearchParams(values));
  if (location.hash === before) show();
}

function problem(error) {
  replace(byId("main"), h("p", { class: "warning" }, `This cannot be shown: ${plain(error.message)}`));
}

function viewName(state) {
  if (source === "server" && !runQuery()) return "runs";
  const asked = state.get("view");
  return asked in OTHERS || VIEWS.some(([name]) => name === asked) ? asked : index.runs.some((run) => run.tables.length) ? "results" : "episodes";
}

async function show() {
  const state = stateNow();
  const name = viewName(state);
  const turn = (drawn += 1);
  if (name === "episodes") { state.set("view", "episodes"); lastList = String(state); }
  heading(name);
  const main = byId("main");
  let made;
  try {
    made = name === "runs" ? runsView() : name in OTHERS ? await OTHERS[name](state) : name === "episodes" ? listView(state) : VIEWS.find(([one]) => one === name)[2]();
  } catch (error) {
    problem(error);
    document.body.dataset.ready = String(turn);
    return;
  }
  if (turn !== drawn) return;
  document.body.dataset.view = name;
  replace(main, [made]);
  if (name === "episode") { window.scrollTo(0, 0); for (const player of players) player.to(player.place); }
  document.body.dataset.ready = String(turn);
}

function heading(name) {
  const [run] = index.runs || [];
  byId("title").textContent = plain(index.title);
  const facts = (index.runs || []).length === 1 ? [run.suite, run.experiment, clock(run.created || ""), run.planned && counted(run.planned, "episode"), run.seed !== undefined && `seed ${run.seed}`, run.version && `GraphWalk ${run.version}`] : index.listed ? [counted(index.listed.length, "run")] : [[...new Set((index.runs || []).map((one) => one.suite))].join(", "), counted(episodes.length, "episode")];
  byId("facts").textContent = facts.filter(Boolean).map(plain).join(" · ");
  const running = (index.runs || []).filter((one) => one.state === "running");
  byId("state").hidden = running.length === 0;
  byId("state").textContent = running.length ? `running: ${episodes.length} of ${running.reduce((sum, one) => sum + (one.planned || 0), 0)} episodes are done` : "";
  const shownViews = name === "runs" ? [] : VIEWS.filter(([one]) => one === "episodes" || (index.runs || []).some((each) => each.tables.length));
  replace(byId("nav"), shownViews.map(([one, title]) => h("button", { type: "button", role: "tab", id: `tab-${one}`, "aria-selected": one === name || (one === "episodes" && name === "episode"), onclick: () => go(one === "episodes" ? Object.fromEntries(new URLSearchParams(lastList || "view=episodes")) : { view: one }) }, title, one === "episodes" && h("span", { class: "tally" }, ` ${episodes.length.toLocaleString("en")}`))),
    ["results", "plots", "episodes"].includes(name) && button("Print", { class: "quiet print", title: "Tables, plots and the episodes chosen", onclick: printAll }),
    source === "server" && name !== "runs" && h("a", { href: "?", class: "all-runs" }, "All runs"));
}

document.addEventListener("keydown", (event) => {
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName) && event.target.type !== "range";
  const view = document.body.dataset.view;
  if (event.key === "Escape" && view === "episode") { event.preventDefault(); closeEpisode(); return; }
  if (event.key === "Escape" && typing) event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    if (byId("search")) byId("search").focus();
    else { closeEpisode(); requestAnimationFrame(() => byId("search") && byId("search").focus()); }
  }
  const onTab = event.target.getAttribute && event.target.getAttribute("role") === "tab";
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (onTab && by) { const tabs = [...byId("nav").querySelectorAll("[role=tab]")]; tabs[(tabs.indexOf(event.target) + by + tabs.length) % tabs.length].focus(); return; }
  if (view !== "episode" || event.target.type === "range") return;
  if (by) { event.preventDefault(); for (const player of players) player.step(by); }
  if (event.key === " " && !["BUTTON", "SUMMARY"].includes(event.target.tagName)) { event.preventDefault(); for (const player of players) player.toggle(); }
});
window.addEventListener("hashchange", show);

async function follow() {
  // A page that is served stays up to date: the list of runs, and active runs.
  const path = runQuery() ? `index?${runQuery()}&version=${version}` : `runs?version=${version}`;
  const news = await ask(path).catch(() => null);
  if (news) {
    version = news.version;
    Object.assign(index, news);
    if (runQuery()) { unfold(); if (figures) figures = null; }
    const view = document.body.dataset.view;
    if (view in OTHERS) heading(view);
    else { const top = byId("list") ? byId("list").scrollTop : 0; await show(); if (byId("list")) byId("list").scrollTop = top; }
  }
  const live = !runQuery() || (index.runs || []).some((one) => one.state === "running" || one.state === "not finished");
  if (live) setTimeout(follow, 2000);
}

function runsView() {
  const marked = new Set();
  const open = button("Compare", { class: "compare", disabled: true, onclick: () => { location.search = [...marked].map((name) => `run=${encodeURIComponent(name)}`).join("&"); } });
  const rows = (index.listed || []).map((run) => h("tr", {}, h("td", {}, h("input", { type: "checkbox", "aria-label": `Choose ${run.name}`, onchange: (event) => { if (event.target.checked) marked.add(run.name); else marked.delete(run.name); open.disabled = marked.size < 2; } })),
    h("th", { scope: "row", class: "name" }, run.state === "unreadable" ? plain(run.name) : h("a", { href: `?run=${encodeURIComponent(run.name)}` }, plain(run.name))), h("td", { class: "name" }, plain(run.models.join(", "))), h("td", { class: "name" }, plain(run.state)),
    h("td", { class: "number" }, `${run.done}/${run.episodes === null ? "?" : run.episodes}`), h("td", { class: "number" }, run.accuracy === null ? "–" : run.accuracy.toFixed(1)), h("td", { class: "number" }, money(run.cost))));
  return h("section", { class: "table" }, h("h2", {}, "Runs"), rows.length ? h("div", { class: "scroller" }, h("table", {}, h("thead", {}, h("tr", {}, ["", "run", "models", "state"].map((name) => h("th", { scope: "col", class: "name" }, name)), ["episodes", "Accuracy %", "cost"].map((name) => h("th", { scope: "col", class: "number" }, name)))), h("tbody", {}, rows))) : h("p", { class: "empty" }, "There is no run here yet."), rows.length > 1 && open);
}

if (source === "server") { index.runs = []; follow(); }
else { unfold(); show(); }
