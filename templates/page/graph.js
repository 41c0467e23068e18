// The observed graph: each step adds its results; the evidence of the answer is highlighted, the rest is pale.
import { button, counted, cut, html, plain, svg, valueText } from "./dom.js";
import { circlePlaces, forcePlaces } from "./layout.js";

const PALETTE = 8;

export function graphDrawer(scene) {
  const { nodes, links } = scene;
  const isCircle = scene.layout === "circle";
  const ends = links.filter((link) => link.source !== link.target).map((link) => [link.source, link.target]);
  const points = isCircle ? circlePlaces(nodes.length) : forcePlaces(nodes.length, ends);
  if (!isCircle) for (const point of points) point.x *= 1.3; // the picture is wider than it is tall
  const bounds = boundsOf(points, isCircle ? 30 : 46);
  const unit = Math.max(0.55, bounds[2] / 640, bounds[3] / 480);
  const kinds = [...new Set(nodes.map((node) => node.kind))];
  const used = nodes.filter((node) => node.fate).length;
  const shrink = Math.max(0.6, Math.min(1, Math.sqrt(50 / (used + 1))));
  const reserve = isCircle ? () => true : captionRoom(points, nodes, unit);
  const details = html("p", { class: "details", role: "status" });
  const drawnNodes = nodes.map(drawNode);
  const drawnLinks = links.map(drawLink);
  const label = `Graph with ${counted(nodes.length, "node")}`;
  const picture = svg(
    "svg",
    { class: `graph${isCircle ? " circle" : ""}`, role: "img", "aria-label": label, viewBox: bounds.join(" ") },
    svg("defs", {}, arrowHead()),
    svg("g", {}, drawnLinks),
    svg("g", {}, drawnNodes),
  );
  picture.style.setProperty("--unit", unit);

  function drawLink(link) {
    const { path, middle } = linkPath(link);
    const about = Object.keys(link.about).length ? `${link.name}: ${valueText(link.about)}` : link.name;
    const [x, y] = [middle[0], middle[1] - 2 * unit];
    const caption = cut(link.name, 18);
    const isNamed = (link.fate || isCircle) && link.name && reserve(x, y, caption);
    const arrow = { d: path, "marker-end": link.directed ? "url(#head)" : null };
    const text = isNamed && svg("text", { x, y, class: "type" }, caption);
    return svg("g", { class: "link" }, svg("path", arrow, svg("title", {}, plain(about))), text);
  }

  function linkPath(link) {
    const a = points[link.source];
    const b = points[link.target];
    const middle = [(a.x + b.x) / 2, (a.y + b.y) / 2];
    if (link.source === link.target) {
      const path = `M${a.x - 4} ${a.y - 8}C${a.x - 22} ${a.y - 34} ${a.x + 22} ${a.y - 34} ${a.x + 4} ${a.y - 8}`;
      return { path, middle };
    }
    const distance = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const [x, y] = [(b.x - a.x) / distance, (b.y - a.y) / distance];
    const rim = (isCircle ? 14 : 9 * shrink) * unit;
    const bend = isCircle || !link.directed ? 0 : 6 * unit;
    const [mx, my] = [middle[0] - y * bend, middle[1] + x * bend];
    const path = `M${a.x + x * rim} ${a.y + y * rim}Q${mx} ${my} ${b.x - x * rim} ${b.y - y * rim}`;
    return { path, middle: [mx, my] };
  }

  function nodeSize(node) {
    if (isCircle) return 13 * unit;
    return (node.fate ? 8 : 5) * shrink * unit;
  }

  function drawNode(node, number) {
    const { x, y } = points[number];
    const size = nodeSize(node);
    const caption = cut(node.name, 20);
    const wantsName = isCircle || node.fate || nodes.length <= 30;
    const isNamed = wantsName && reserve(x, y - size - 4 * unit, caption);
    const kind = isCircle ? null : `kind-${kinds.indexOf(node.kind) % PALETTE}`;
    const about = `${plain(node.kind)}  ${valueText(node.about)}`;
    const showDetails = () => {
      details.textContent = about;
    };
    return svg(
      "g",
      { class: "node", transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, onclick: showDetails },
      svg("circle", { r: size, class: kind }, svg("title", {}, about)),
      isNamed && svg("text", { y: isCircle ? 4 * unit : -size - 4 * unit }, caption),
    );
  }

  function draw(place) {
    nodes.forEach((node, number) => setState(drawnNodes[number], "node", node, place));
    links.forEach((link, number) => setState(drawnLinks[number], "link", link, place));
  }

  const legend = isCircle ? null : kindsLegend(kinds);
  return { view: html("div", {}, zoomable(picture), details, legend), draw };
}

function setState(element, name, { since, fate }, place) {
  const classes = [name, since > place && "unseen", fate ? `fate-${fate}` : "idle", since === place && place > 0 && "new"];
  element.setAttribute("class", classes.filter(Boolean).join(" "));
}

function arrowHead() {
  const size = { viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto" };
  return svg("marker", { id: "head", ...size }, svg("path", { class: "head", d: "M0 1 7 4 0 7z" }));
}

function boundsOf(points, margin) {
  const span = (values, least) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const size = Math.max(least, high - low + 2 * margin);
    return [(low + high - size) / 2, size];
  };
  const [left, width] = span(points.map((point) => point.x), 320); // fewer would magnify a few nodes
  const [top, height] = span(points.map((point) => point.y), 240);
  return [left, top, width, height];
}

function kindsLegend(kinds) {
  if (kinds.length < 2 || kinds.length > PALETTE) return null;
  const swatch = (number) => html("span", { class: `swatch kind-${number}` });
  const items = kinds.map((kind, number) => html("li", {}, swatch(number), plain(kind) || "no label"));
  return html("ul", { class: "legend kinds" }, items);
}

// Return a function that reserves room for a caption, and returns false if it would cover captions or used nodes.
function captionRoom(points, nodes, unit) {
  const used = points.filter((point, number) => nodes[number].fate);
  const boxes = used.map(({ x, y }) => [x - 5 * unit, y - 5 * unit, 10 * unit, 10 * unit]);
  const overlaps = ([x, y, width, height], [left, top, w, h]) =>
    left < x + width && x < left + w && top < y + height && y < top + h;
  return (x, y, text) => {
    const width = text.length * 6.2 * unit;
    const box = [x - width / 2, y - 9 * unit, width, 11 * unit];
    if (boxes.some((other) => overlaps(box, other))) return false;
    boxes.push(box);
    return true;
  };
}

// Buttons change the scale; a larger picture scrolls.
function zoomable(picture) {
  let scale = 1;
  const zoom = (factor) => () => {
    scale = Math.max(1, scale * factor);
    picture.style.setProperty("--zoom", scale);
  };
  const closer = button("+", { "aria-label": "Closer", onclick: zoom(1.5) });
  const farther = button("−", { "aria-label": "Farther", onclick: zoom(1 / 1.5) });
  const tools = html("div", { class: "zoom" }, closer, farther);
  return html("div", { class: "canvas" }, html("div", { class: "scroller" }, picture), tools);
}
