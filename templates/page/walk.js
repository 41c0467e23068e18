// The player: a scene, a slider, and buttons. A callback gets the current step.
function walkView(scene, begin, told) {
  const drawer = scene.grid ? gridDrawer(scene) : scene.nodes.length ? graphDrawer(scene) : null;
  const last = scene.steps.length;
  let place = Math.max(0, Math.min(last, begin === null ? last : begin));
  let timer = null;
  const caption = h("p", { class: "caption", role: "status" });
  const states = h("div", { class: "states" });
  const slider = h("input", { type: "range", class: "slider", min: 0, max: last, step: 1, "aria-label": "Step", oninput: () => { pause(); to(Number(slider.value)); } });
  const play = button("Play", { class: "play", onclick: toggle });
  const view = h("div", { class: "walk" }, drawer && drawer.view, h("div", { class: "controls" },
    button("‹", { class: "back", "aria-label": "One step back", onclick: () => { pause(); to(place - 1); } }), play,
    button("›", { class: "on", "aria-label": "One step on", onclick: () => { pause(); to(place + 1); } }), slider), caption, states, legend());

  function legend() {
    const said = Object.entries(scene.legend);
    return said.length > 0 && h("ul", { class: "legend" }, said.map(([name, text]) => h("li", {}, h("span", { class: `swatch ${scene.grid ? `cell ${name}` : `fate-${name || "idle"}`}` }), plain(text))));
  }
  function to(next) {
    place = Math.max(0, Math.min(last, next));
    const step = scene.steps[place - 1];
    if (drawer) drawer.draw(place);
    slider.value = place;
    view.dataset.step = place;
    caption.replaceChildren(h("b", {}, place === 0 ? "start" : `${place} of ${last}`), ` ${place === 0 ? "before the first call" : plain(step.caption)}`);
    replace(states, step && step.table ? comparisonView(step.table, 60) : null);
    if (place === last) pause();
    if (told) told(step || {}, place);
  }
  function pause() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  }
  function toggle() {
    if (timer) { pause(); return; }
    if (place === last) to(0);
    timer = setInterval(() => { if (view.isConnected) to(place + 1); else pause(); }, last > 40 ? 250 : 700);
    play.textContent = "Pause";
  }
  to(place);
  return { view, to, toggle, step: (by) => { pause(); to(place + by); }, get place() { return place; } };
}
