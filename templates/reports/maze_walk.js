"use strict";
// Plays episodes in mazes. Texts of models reach the page as text only, never as markup.
const CELL = 24;
const episodes = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const says = {
  visit: (cell) => `visits cell ${cell}`,
  jump: (cell) => `jumps to cell ${cell}`,
  revisit: (cell) => `visits cell ${cell} once more`,
  wall: (cell) => `asks for cell ${cell}, a wall`,
  refused: (cell) => (cell === null ? "makes a call that is refused" : `asks for cell ${cell} and is refused`),
  other: () => "calls a tool that is not the maze's own",
  path: () => "asks for the path that joins the visited cells",
};
let episode, place, timer = null;

function element(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function draw(...what) {
  const made = element(...what);
  at("maze").append(made);
  return made;
}

const centre = (cell) => [(cell % episode.size) * CELL + CELL / 2, Math.floor(cell / episode.size) * CELL + CELL / 2];

function kinds() {
  // What every cell looks like after the first `place` steps; the frame after the last one shows the answer.
  const kind = Array(episode.size ** 2).fill("open");
  for (const cell of episode.walls) kind[cell] = "wall";
  const order = new Map();
  for (const [what, cell] of episode.steps.slice(0, place)) {
    if (what === "wall") kind[cell] = "hit";
    if (what === "visit" || what === "jump") {
      kind[cell] = what === "jump" ? "jump" : "visited";
      order.set(cell, order.size);
    }
  }
  if (place > episode.steps.length) for (const cell of episode.path) if (kind[cell] === "wall") kind[cell] = "hit";
  kind[episode.start] = "start";
  kind[episode.goal] = "goal";
  return [kind, order];
}

function drawAnswer() {
  for (let i = 1; i < episode.path.length; i++) {
    const [one, other] = [episode.path[i - 1], episode.path[i]];
    if (one < 0 || other < 0) continue;
    const [[x1, y1], [x2, y2]] = [centre(one), centre(other)];
    const leap = Math.abs(x1 - x2) + Math.abs(y1 - y2) !== CELL;
    draw("path", { class: leap ? "answer leap" : "answer", d: `M${x1} ${y1}L${x2} ${y2}` });
  }
}

function render() {
  const side = episode.size * CELL;
  const answered = place > episode.steps.length;
  const current = answered || place === 0 ? null : episode.steps[place - 1];
  const [kind, order] = kinds();
  at("maze").replaceChildren();
  at("maze").setAttribute("viewBox", `-2 -2 ${side + 4} ${side + 4}`);
  kind.forEach((name, cell) => {
    const [x, y] = centre(cell);
    const square = { class: name, x: x - CELL / 2, y: y - CELL / 2, width: CELL, height: CELL };
    draw("rect", square).append(element("title", {}, `cell ${cell}`));
  });
  if (answered) drawAnswer();
  if (current && current[1] !== null) {
    const [x, y] = centre(current[1]);
    draw("rect", { class: "current", fill: "none", x: x - CELL / 2, y: y - CELL / 2, width: CELL, height: CELL });
  }
  for (const [cell, number] of order) draw("text", { x: centre(cell)[0] + 4, y: centre(cell)[1] + 10 }, number);
  for (const [cell, name] of [[episode.start, "S"], [episode.goal, "G"]])
    draw("text", { class: "name", x: centre(cell)[0] - 3, y: centre(cell)[1] + 1 }, name);
  at("caption").textContent = answered ? `Answer: ${episode.verdict}`
    : place === 0 ? "Before the first call" : `Call ${place} of ${episode.steps.length}: ${says[current[0]](current[1])}`;
  at("place").value = place;
  at("maze").dataset.step = place;
  at("maze").dataset.state = timer ? "playing" : answered ? "finished" : "paused";
  at("play").textContent = timer ? "pause" : "play";
}

function go(to) {
  place = Math.max(0, Math.min(episode.steps.length + 1, to));
  if (place > episode.steps.length) pause();
  render();
}

function pause() {
  clearTimeout(timer);
  timer = null;
}

function tick() {
  timer = setTimeout(() => { tick(); go(place + 1); }, 1500 / at("speed").value);
}

function toggle() {
  if (timer) { pause(); render(); return; }
  if (place > episode.steps.length) place = 0;
  tick();
  render();
}

function choose(number) {
  pause();
  episode = episodes[number];
  at("verdict").textContent = episode.verdict;
  at("place").max = episode.steps.length + 1;
  go(0);
}

episodes.forEach((one, number) => at("episode").append(new Option(one.title, number)));
at("episode").addEventListener("change", (event) => choose(Number(event.target.value)));
at("play").addEventListener("click", toggle);
at("back").addEventListener("click", () => { pause(); go(place - 1); });
at("forward").addEventListener("click", () => { pause(); go(place + 1); });
at("place").addEventListener("input", (event) => { pause(); go(Number(event.target.value)); });
document.addEventListener("keydown", (event) => {
  if (["SELECT", "INPUT", "BUTTON"].includes(event.target.tagName)) return;
  if (event.key === " ") { event.preventDefault(); toggle(); }
  if (event.key === "ArrowLeft") { pause(); go(place - 1); }
  if (event.key === "ArrowRight") { pause(); go(place + 1); }
});
choose(0);
if (location.hash === "#play") toggle();
