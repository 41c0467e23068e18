// A scene with a slider over its steps. `onStep` gets the current step and its place.
import { button, html, plain } from "./dom.js";
import { graphDrawer } from "./graph.js";
import { gridDrawer } from "./grid.js";

function legendView(scene) {
  const items = Object.entries(scene.legend).map(([name, text]) => {
    const state = scene.grid ? `cell ${name}` : `fate-${name || "idle"}`;
    return html("li", {}, html("span", { class: `swatch ${state}` }), plain(text));
  });
  return items.length > 0 && html("ul", { class: "legend" }, items);
}

export function walkView(scene, firstPlace, onStep) {
  const drawer = scene.grid ? gridDrawer(scene) : graphDrawer(scene);
  const last = scene.steps.length;
  const caption = html("p", { class: "caption", role: "status" });
  const slider = html("input", {
    type: "range",
    class: "slider",
    min: 0,
    max: last,
    "aria-label": "Step",
    oninput: () => to(Number(slider.value)),
  });
  const move = (by) => () => to(Number(slider.value) + by);
  const back = button("‹", { "aria-label": "One step back", onclick: move(-1) });
  const on = button("›", { "aria-label": "One step on", onclick: move(1) });
  const controls = html("div", { class: "controls" }, back, on, slider);

  function to(place) {
    slider.value = place; // which keeps it within its ends
    const current = Number(slider.value);
    const step = current > 0 ? scene.steps[current - 1] : { caption: "before the first call" };
    const position = current > 0 ? `${current} of ${last}` : "start";
    drawer.draw(current);
    caption.replaceChildren(html("b", {}, position), ` ${plain(step.caption)}`);
    onStep(step, current);
  }
  requestAnimationFrame(() => to(firstPlace ?? last)); // when it is in the page
  return { view: html("div", { class: "walk" }, drawer.view, controls, caption, legendView(scene)), to };
}
