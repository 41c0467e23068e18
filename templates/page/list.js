// The list of episodes: only the rows that can be seen are in the document, however many there are.
const MARKS = { right: "✓", wrong: "✗", failed: "!", unjudged: "·" };
const SAID = { right: "correct", wrong: "incorrect", failed: "failed", unjudged: "not scored" };
const SPARE = 8;
let listed = [];
let active = 0;

function listView(state) {
  const count = h("p", { class: "count", id: "count", role: "status" });
  const rows = h("div", { class: "rows" });
  const box = h("div", { class: "list", id: "list", role: "listbox", tabindex: "0", "aria-label": "Episodes", onscroll: draw, onkeydown: keys, onclick: click }, rows);
  const room = h("div", { class: "listed" }, count, header(), box);
  const view = h("div", {}, filtersView(state, changed), room);

  function header() {
    return h("div", { class: "row head", "aria-hidden": "true" }, ["", "task", "model", "calls", "tokens", "time", "cost", ""].map((name, place) => h("span", { class: `c${place}` }, name)));
  }
  function changed(name, value) {
    if (value) state.set(name, value);
    else state.delete(name);
    active = 0;
    quietly(state);
    for (const label of view.querySelectorAll("label")) {
      const select = label.querySelector("select");
      label.classList.toggle("set", state.has(select.id.replace("filter-", "")));
    }
    refresh();
    box.scrollTop = 0;
  }
  function refresh() {
    listed = chosen(state);
    const right = listed.filter((episode) => episode.right === true).length;
    const judged = listed.filter((episode) => episode.right !== null && !episode.failed).length;
    count.textContent = `${counted(listed.length, "episode")}${listed.length < episodes.length ? ` of ${episodes.length.toLocaleString("en")}` : ""}${judged ? ` · ${right.toLocaleString("en")} correct (${((100 * right) / judged).toFixed(1)} %)` : ""}`;
    rows.style.height = `${listed.length * high()}px`;
    draw();
  }
  function high() {
    return matchMedia("(max-width: 44rem)").matches ? 64 : 40;
  }
  function draw() {
    const each = high();
    const first = Math.max(0, Math.floor(box.scrollTop / each) - SPARE);
    const last = Math.min(listed.length, Math.ceil((box.scrollTop + (box.clientHeight || 700)) / each) + SPARE);
    const made = [];
    for (let place = first; place < last; place++) made.push(rowView(listed[place], place, each));
    rows.replaceChildren(...made);
    box.setAttribute("aria-activedescendant", `row-${active}`);
  }
  function rowView(episode, place, each) {
    const result = outcome(episode);
    const row = h("div", { class: `row ${result}${place === active ? " active" : ""}`, id: `row-${place}`, role: "option", "data-place": place, "aria-selected": place === active, "aria-setsize": listed.length, "aria-posinset": place + 1 },
      h("span", { class: "c0", title: SAID[result] }, MARKS[result]),
      h("span", { class: "c1" }, h("b", {}, words(plain(episode.kind))), " ", h("span", { class: "question" }, cut(episode.question, 160))),
      h("span", { class: "c2" }, h("span", {}, plain(episode.model)), episode.setting ? h("i", {}, plain(episode.setting)) : null),
      h("span", { class: "c3" }, amount(episode.calls)), h("span", { class: "c4" }, amount(episode.tokens)), h("span", { class: "c5" }, duration(episode.seconds)), h("span", { class: "c6" }, money(episode.cost)),
      h("span", { class: "c7" }, episode.failed ? words(episode.status) : words(plain(episode.failure || episode.error || ""))));
    row.style.transform = `translateY(${place * each}px)`;
    row.style.height = `${each}px`;
    return row;
  }
  function keys(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -listed.length, End: listed.length }[event.key];
    if (step) {
      event.preventDefault();
      active = Math.max(0, Math.min(listed.length - 1, active + step));
      const top = active * high();
      if (top < box.scrollTop) box.scrollTop = top;
      if (top + high() > box.scrollTop + box.clientHeight) box.scrollTop = top + high() - box.clientHeight;
      draw();
    }
    if (event.key === "Enter" && listed[active]) go({ view: "episode", e: listed[active].number });
  }
  function click(event) {
    const row = event.target.closest("[data-place]");
    if (!row) return;
    active = Number(row.dataset.place);
    go({ view: "episode", e: listed[active].number });
  }
  refresh();
  requestAnimationFrame(() => {
    box.scrollTop = Math.max(0, active * high() - box.clientHeight / 2);
    draw();
  });
  return view;
}
