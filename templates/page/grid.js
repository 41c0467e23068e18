// A maze: cells as they are found, in the order of first visits; after the last call the answer.
const CELL = 24;

function gridDrawer(scene) {
  const grid = scene.grid;
  const side = grid.size * CELL;
  const picture = s("svg", { class: "grid", role: "img", "aria-label": `Maze of ${grid.size} × ${grid.size} cells`, viewBox: `-2 -2 ${side + 4} ${side + 4}` });
  const centre = (cell) => [(cell % grid.size) * CELL + CELL / 2, Math.floor(cell / grid.size) * CELL + CELL / 2];
  const cellOf = (step) => step.cell ?? null;

  function looks(place) {
    const kind = Array(grid.size ** 2).fill("open");
    const order = new Map();
    for (const cell of grid.walls) kind[cell] = "wall";
    for (const step of scene.steps.slice(0, place)) {
      const cell = cellOf(step);
      if (step.sort === "wall") kind[cell] = "hit";
      if (step.sort === "visit" || step.sort === "jump") { kind[cell] = step.sort === "jump" ? "jump" : "visited"; order.set(cell, order.size); }
      if (step.sort === "answer") for (const one of grid.path) if (kind[one] === "wall") kind[one] = "hit";
    }
    kind[grid.start] = "start";
    kind[grid.goal] = "goal";
    return [kind, order];
  }
  function path() {
    const made = [];
    for (let place = 1; place < grid.path.length; place++) {
      const [one, other] = [grid.path[place - 1], grid.path[place]];
      if (one < 0 || other < 0) continue;
      const [[x1, y1], [x2, y2]] = [centre(one), centre(other)];
      const leap = Math.abs(x1 - x2) + Math.abs(y1 - y2) !== CELL;
      made.push(s("path", { class: leap ? "answer leap" : "answer", d: `M${x1} ${y1}L${x2} ${y2}` }));
    }
    return made;
  }
  function draw(place) {
    const [kind, order] = looks(place);
    const step = scene.steps[place - 1];
    const now = step ? cellOf(step) : null;
    const cells = kind.map((name, cell) => s("rect", { class: `cell ${name}`, x: (cell % grid.size) * CELL, y: Math.floor(cell / grid.size) * CELL, width: CELL, height: CELL }, s("title", {}, String(cell))));
    const numbers = [...order].map(([cell, number]) => s("text", { x: centre(cell)[0], y: centre(cell)[1] + 3.5 }, String(number)));
    const names = [[grid.start, "S"], [grid.goal, "G"]].map(([cell, name]) => s("text", { class: "name", x: centre(cell)[0], y: centre(cell)[1] + 4.5 }, name));
    const mark = now !== null && s("rect", { class: "now", x: (now % grid.size) * CELL + 1, y: Math.floor(now / grid.size) * CELL + 1, width: CELL - 2, height: CELL - 2 });
    const plainNumbers = numbers.filter((_, at) => ![grid.start, grid.goal].includes([...order][at][0]));
    replace(picture, cells, step && step.sort === "answer" ? path() : [], plainNumbers, names, mark, s("rect", { class: "frame", width: side, height: side }));
    picture.dataset.seen = order.size;
  }
  return { view: h("div", { class: "canvas" }, picture), draw };
}
