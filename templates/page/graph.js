// The observed graph: each step adds its results; the evidence of the answer is highlighted, the rest is pale.
const PALETTE = 8;

function graphDrawer(scene) {
  const whole = scene.nodes.length;
  const kept = scene.nodes.map((node, place) => place);
  if (whole > MOST_NODES) kept.sort((a, b) => (scene.nodes[a].fate ? 0 : 1) - (scene.nodes[b].fate ? 0 : 1) || a - b).splice(MOST_NODES);
  const place = new Map(kept.map((node, now) => [node, now]));
  const nodes = kept.map((node) => scene.nodes[node]);
  const links = scene.links.map((link, number) => ({ ...link, number })).filter((link) => place.has(link.source) && place.has(link.target))
    .map((link) => ({ ...link, from: place.get(link.source), to: place.get(link.target) }));
  const pairs = links.filter((link) => link.from !== link.to).map((link) => [link.from, link.to]);
  const circle = scene.layout === "circle";
  const at = circle ? circlePlaces(nodes.length) : forcePlaces(nodes.length, pairs);
  if (!circle) for (const one of at) one.x *= 1.3;  // the picture is wider than it is tall
  const home = bounds(circle ? 30 : 46);
  const unit = Math.max(0.55, home[2] / 640, home[3] / 480);
  const kinds = [...new Set(nodes.map((node) => node.kind))];
  const used = nodes.filter((node) => node.fate).length;
  const crowd = Math.max(0.6, Math.min(1, Math.sqrt(50 / (used + 1))));
  const free = circle ? () => true : roomFor(at, nodes, unit);
  const picture = s("svg", { class: `graph${circle ? " circle" : ""}`, role: "img", tabindex: "0", "aria-label": `Graph with ${counted(whole, "node")}` });
  const marks = s("g");
  picture.append(s("defs", {}, s("marker", { id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto" }, s("path", { class: "head", d: "M0 1 7 4 0 7z" }))), marks);
  const details = h("p", { class: "details", role: "status" });
  const drawnNodes = nodes.map(nodeMark);
  const drawnLinks = links.map(linkMark);
  marks.append(s("g", {}, drawnLinks.map((one) => one.mark)), s("g", {}, drawnNodes.map((one) => one.mark)));

  picture.style.setProperty("--unit", unit);
  const view = zoomed(picture, home);

  function bounds(room) {
    const xs = at.map((one) => one.x);
    const ys = at.map((one) => one.y);
    const [left, top] = [Math.min(...xs) - room, Math.min(...ys) - room];
    return [left, top, Math.max(...xs) + room - left, Math.max(...ys) + room - top];
  }
  function linkMark(link) {
    const a = at[link.from];
    const b = at[link.to];
    const r = (circle ? 14 : 9 * crowd) * unit;
    const far = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const [x, y] = [((b.x - a.x) / far) * r, ((b.y - a.y) / far) * r];
    const bend = circle || !link.directed ? 0 : 6 * unit;
    const [mx, my] = [(a.x + b.x) / 2 - (y / r) * bend, (a.y + b.y) / 2 + (x / r) * bend];
    const d = link.from === link.to ? `M${a.x - 4} ${a.y - 8}C${a.x - 22} ${a.y - 34} ${a.x + 22} ${a.y - 34} ${a.x + 4} ${a.y - 8}`
      : `M${a.x + x} ${a.y + y}Q${mx} ${my} ${b.x - x} ${b.y - y}`;
    const said = Object.keys(link.about).length ? `${link.name}: ${shown(link.about)}` : link.name;
    const named = (link.fate || circle) && link.name && free(mx, my - 2 * unit, cut(link.name, 18)) && s("text", { x: mx, y: my - 2 * unit, class: "type" }, cut(link.name, 18));
    return { mark: s("g", { class: "link" }, s("path", { d, "marker-end": link.directed ? "url(#head)" : null }, s("title", {}, plain(said))), named), link };
  }
  function nodeMark(node, number) {
    const big = (circle ? 13 : node.fate ? 8 * crowd : 5 * crowd) * unit;
    const named = (circle || node.fate || nodes.length <= 30) && free(at[number].x, at[number].y - big - 4 * unit, cut(node.name, 20));
    const mark = s("g", { class: "node", transform: `translate(${at[number].x.toFixed(1)} ${at[number].y.toFixed(1)})`, onclick: () => tell(node) },
      s("circle", { r: big, class: circle ? null : `kind-${kinds.indexOf(node.kind) % PALETTE}` }, s("title", {}, `${plain(node.kind)} ${shown(node.about)}`)),
      named && s("text", { y: circle ? 4 * unit : -big - 4 * unit }, cut(node.name, 20)), circle && s("text", { class: "label", y: 26 * unit }));
    return { mark, node };
  }
  function tell(node) {
    details.textContent = `${plain(node.kind)}  ${shown(node.about)}`;
  }
  function draw(place) {
    const step = scene.steps[place - 1] || {};
    const last = place >= scene.steps.length;
    const [focus, news] = [new Set(step.focus || []), new Set(step.shown || [])];
    drawnNodes.forEach(({ mark, node }, number) => {
      const original = kept[number];
      const fate = circle ? (step.nodes || {})[original] || node.fate : node.fate;
      mark.setAttribute("class", ["node", node.since > place && "unseen", fate ? `fate-${fate}` : "idle", focus.has(original) && "focus", news.has(original) && "new"].filter(Boolean).join(" "));
      if (circle) mark.querySelector(".label").textContent = (step.labels || {})[original] || "";
    });
    drawnLinks.forEach(({ mark, link }) => {
      const fate = circle ? (step.links || {})[link.number] || link.fate : link.fate;
      mark.setAttribute("class", ["link", link.since > place && "unseen", fate ? `fate-${fate}` : "idle", link.since === place && place > 0 && "new"].filter(Boolean).join(" "));
    });
    picture.dataset.seen = nodes.filter((node) => node.since <= place).length;
    if (last) picture.dataset.end = "";
    else delete picture.dataset.end;
  }
  const colours = circle || kinds.length > PALETTE || kinds.length < 2 ? [] : kinds.map((kind, number) => h("li", {}, h("span", { class: `swatch kind-${number}` }), plain(kind) || "no label"));
  const left = whole > nodes.length && h("p", { class: "note" }, `${whole - nodes.length} nodes that were never used are not drawn.`);
  return { view: h("div", {}, view, details, colours.length ? h("ul", { class: "legend kinds" }, colours) : null, left), draw };
}

// Return true and reserve the place if a caption fits without covering captions or highlighted nodes.
function roomFor(at, nodes, unit) {
  const taken = nodes.flatMap((node, number) => (node.fate ? [[at[number].x - 5 * unit, at[number].y - 5 * unit, 10 * unit, 10 * unit]] : []));
  return (x, y, text) => {
    const wide = text.length * 6.2 * unit;
    const box = [x - wide / 2, y - 9 * unit, wide, 11 * unit];
    if (taken.some(([left, top, width, height]) => left < box[0] + box[2] && box[0] < left + width && top < box[1] + box[3] && box[1] < top + height)) return false;
    taken.push(box);
    return true;
  };
}

function zoomed(picture, home) {
  // The wheel with Ctrl, and buttons, change the scale; a drag moves the picture.
  let box = [...home];
  const set = () => picture.setAttribute("viewBox", box.map((value) => value.toFixed(1)).join(" "));
  const zoom = (by) => {
    const [x, y, wide, tall] = box;
    box = [x + (wide * (1 - by)) / 2, y + (tall * (1 - by)) / 2, wide * by, tall * by];
    set();
  };
  let held = null;
  picture.addEventListener("wheel", (event) => { if (event.ctrlKey) { event.preventDefault(); zoom(event.deltaY > 0 ? 1.1 : 0.9); } }, { passive: false });
  picture.addEventListener("pointerdown", (event) => { held = [event.clientX, event.clientY]; });
  picture.addEventListener("pointermove", (event) => {
    if (!held || !event.buttons) { held = null; return; }
    const scale = Math.max(box[2] / picture.clientWidth, box[3] / picture.clientHeight);
    box[0] -= (event.clientX - held[0]) * scale;
    box[1] -= (event.clientY - held[1]) * scale;
    held = [event.clientX, event.clientY];
    set();
  });
  set();
  const tools = h("div", { class: "zoom" }, button("+", { "aria-label": "Closer", onclick: () => zoom(0.75) }), button("−", { "aria-label": "Farther", onclick: () => zoom(1.33) }), button("⤢", { "aria-label": "All of it", onclick: () => { box = [...home]; set(); } }));
  return h("div", { class: "canvas" }, picture, tools);
}
