// The player: a scene, a slider, and buttons. `onStep` gets the current step and its place.
import { button, html, plain } from "./dom.js";
import { graphDrawer } from "./graph.js";
import { gridDrawer } from "./grid.js";

function drawerOf(scene) {
  if (scene.grid) return gridDrawer(scene);
  return scene.nodes.length ? graphDrawer(scene) : null;
}

function legendView(scene) {
  const items = Object.entries(scene.legend).map(([name, text]) => {
    const state = scene.grid ? `cell ${name}` : `fate-${name || "idle"}`;
    return html("li", {}, html("span", { class: `swatch ${state}` }), plain(text));
  });
  return items.length > 0 && html("ul", { class: "legend" }, items);
}

export function walkView(scene, firstPlace, onStep) {
  const drawer = drawerOf(scene);
  const last = scene.steps.length;
  const within = (place) => Math.max(0, Math.min(last, place));
  let place = within(firstPlace ?? last);
  let timer = null;
  const caption = html("p", { class: "caption", role: "status" });
  const slider = html("input", {
    type: "range",
    class: "slider",
    min: 0,
    max: last,
    step: 1,
    "aria-label": "Step",
    oninput: () => pauseAt(Number(slider.value)),
  });
  const play = button("Play", { class: "play", onclick: toggle });
  const back = button("‹", { class: "back", "aria-label": "One step back", onclick: () => pauseAt(place - 1) });
  const on = button("›", { class: "on", "aria-label": "One step on", onclick: () => pauseAt(place + 1) });
  const controls = html("div", { class: "controls" }, back, play, on, slider);
  const view = html("div", { class: "walk" }, drawer && drawer.view, controls, caption, legendView(scene));

  function to(next) {
    place = within(next);
    const step = scene.steps[place - 1] || {};
    if (drawer) drawer.draw(place);
    slider.value = place;
    view.dataset.step = place;
    const position = place === 0 ? "start" : `${place} of ${last}`;
    const text = place === 0 ? "before the first call" : plain(step.caption);
    caption.replaceChildren(html("b", {}, position), ` ${text}`);
    if (place === last) pause();
    onStep(step, place);
  }
  function pause() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  }
  function pauseAt(next) {
    pause();
    to(next);
  }
  function playOn() {
    if (view.isConnected) to(place + 1);
    else pause();
  }
  function toggle() {
    if (timer) {
      pause();
      return;
    }
    if (place === last) to(0);
    timer = setInterval(playOn, last > 40 ? 250 : 700);
    play.textContent = "Pause";
  }
  to(place);
  return { view, to, toggle, step: (by) => pauseAt(place + by), redraw: () => to(place) };
}
