// How much of the answer is in sight: a small line with one point before the first turn and one after each.
import { html, svg } from "./dom.js";

const WIDTH = 240;
const HEIGHT = 36;
const EDGE = 5;

export function progressDrawer(values) {
  const x = (turn) => EDGE + (turn * (WIDTH - 2 * EDGE)) / Math.max(1, values.length - 1);
  const y = (value) => HEIGHT - EDGE - value * (HEIGHT - 2 * EDGE);
  const dots = values.map((value, turn) => {
    const title = svg("title", {}, `${turn === 0 ? "start" : `turn ${turn}`}: ${value.toFixed(2)}`);
    return svg("circle", { cx: x(turn), cy: y(value), r: 2 }, title);
  });
  const line = svg("polyline", { points: values.map((value, turn) => `${x(turn)},${y(value)}`).join(" ") });
  const floor = svg("path", { class: "floor", d: `M${x(0)} ${y(0)}H${WIDTH - EDGE}M${x(0)} ${y(1)}H${WIDTH - EDGE}` });
  const name = "Share of the answer in sight, turn by turn";
  const label = { role: "img", "aria-label": name, viewBox: `0 0 ${WIDTH} ${HEIGHT}` };
  const note = html("span", { class: "note" });
  const view = html("div", { class: "progress" }, svg("svg", label, floor, line, dots), note);

  // Mark the state after a turn, 0 for the start.
  function draw(turn) {
    const place = Math.min(turn, values.length - 1);
    for (const [number, dot] of dots.entries()) {
      dot.setAttribute("class", number === place ? "now" : "");
      dot.setAttribute("r", number === place ? 4 : 2);
    }
    note.textContent = `${values[place].toFixed(2)} of the answer in sight`;
  }
  return { view, draw };
}
