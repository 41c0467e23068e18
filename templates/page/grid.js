// A maze: cells as they are found, in the order of first visits; after the last call the answer.
import { html, replaceChildren, svg } from "./dom.js";

const CELL = 24;

export function gridDrawer(scene) {
  const { size, walls, start, goal, path } = scene.grid;
  const side = size * CELL;
  const picture = svg("svg", {
    class: "grid",
    role: "img",
    "aria-label": `Maze of ${size} × ${size} cells`,
    viewBox: `-2 -2 ${side + 4} ${side + 4}`,
  });
  const corner = (cell) => [(cell % size) * CELL, Math.floor(cell / size) * CELL];
  const centre = (cell) => corner(cell).map((value) => value + CELL / 2);

  // The kind of each cell after some steps, and the order in which cells were visited.
  function stateAfter(place) {
    const kinds = Array(size ** 2).fill("open");
    const order = new Map();
    for (const cell of walls) kinds[cell] = "wall";
    for (const step of scene.steps.slice(0, place)) {
      if (step.sort === "wall") kinds[step.cell] = "hit";
      if (step.sort === "visit") {
        kinds[step.cell] = "visited";
        order.set(step.cell, order.size);
      }
      if (step.sort === "answer") for (const cell of path) if (kinds[cell] === "wall") kinds[cell] = "hit";
    }
    kinds[start] = "start";
    kinds[goal] = "goal";
    return { kinds, order };
  }

  function pathSteps() {
    const pairs = path.slice(1).map((cell, place) => [path[place], cell]);
    return pairs.filter(([cell, next]) => cell >= 0 && next >= 0).map(pathStep);
  }

  function pathStep([cell, next]) {
    const [[x1, y1], [x2, y2]] = [centre(cell), centre(next)];
    const isLeap = Math.abs(x1 - x2) + Math.abs(y1 - y2) !== CELL;
    return svg("path", { class: isLeap ? "answer leap" : "answer", d: `M${x1} ${y1}L${x2} ${y2}` });
  }

  function square(cell, name, margin = 0, ...children) {
    const [x, y] = corner(cell);
    const width = CELL - 2 * margin;
    return svg("rect", { class: name, x: x + margin, y: y + margin, width, height: width }, children);
  }

  function caption(cell, text, name, drop) {
    const [x, y] = centre(cell);
    return svg("text", { class: name, x, y: y + drop }, text);
  }

  function draw(place) {
    const { kinds, order } = stateAfter(place);
    const step = scene.steps[place - 1] ?? { cell: null };
    const cells = kinds.map((kind, cell) => square(cell, `cell ${kind}`, 0, svg("title", {}, String(cell))));
    const visits = [...order].filter(([cell]) => cell !== start && cell !== goal);
    const numbers = visits.map(([cell, number]) => caption(cell, String(number), null, 3.5));
    const names = [caption(start, "S", "name", 4.5), caption(goal, "G", "name", 4.5)];
    const current = step.cell !== null && square(step.cell, "now", 1);
    const answer = step.sort === "answer" ? pathSteps() : [];
    const frame = svg("rect", { class: "frame", width: side, height: side });
    replaceChildren(picture, cells, answer, numbers, names, current, frame);
  }
  return { view: html("div", { class: "canvas" }, picture), draw };
}
