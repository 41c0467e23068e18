// Where nodes go: forces that keep nodes apart and pull neighbours together, the same places for the same graph.
const MOST_NODES = 1200;

function circlePlaces(count) {
  const radius = Math.max(60, count * 13);
  return Array.from({ length: count }, (_, place) => {
    const angle = (2 * Math.PI * place) / count - Math.PI / 2;
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  });
}

function forcePlaces(count, links) {
  const golden = Math.PI * (3 - Math.sqrt(5));
  const at = Array.from({ length: count }, (_, place) => {
    const radius = 34 * Math.sqrt(place + 0.5);
    return { x: radius * Math.cos(place * golden), y: radius * Math.sin(place * golden), dx: 0, dy: 0 };
  });
  const degree = new Array(count).fill(0);
  for (const [a, b] of links) { degree[a]++; degree[b]++; }
  const rounds = Math.max(40, Math.min(300, Math.round(3e7 / (count * count + 1))));
  let heat = 1;
  for (let round = 0; round < rounds; round++) {
    repel(at, heat);
    attract(at, links, degree, heat);
    for (const node of at) {
      node.dx -= node.x * 0.018 * heat;
      node.dy -= node.y * 0.018 * heat;
      node.x += node.dx *= 0.6;
      node.y += node.dy *= 0.6;
    }
    heat *= 1 - Math.min(0.03, 4 / rounds);
  }
  for (let round = 0; round < 30; round++) apart(at, 26);
  return at;
}

function repel(at, heat) {
  for (let i = 0; i < at.length; i++) {
    const one = at[i];
    for (let j = i + 1; j < at.length; j++) {
      const other = at[j];
      const x = other.x - one.x;
      const y = other.y - one.y;
      const square = Math.max(40, x * x + y * y);
      if (square > 360000) continue;
      const push = (900 * heat) / square;
      one.dx -= x * push; one.dy -= y * push;
      other.dx += x * push; other.dy += y * push;
    }
  }
}

function attract(at, links, degree, heat) {
  for (const [a, b] of links) {
    const one = at[a];
    const other = at[b];
    const x = other.x - one.x;
    const y = other.y - one.y;
    const far = Math.hypot(x, y) || 1;
    const pull = ((far - 62) / far) * heat * 0.9 / Math.min(degree[a], degree[b]);
    const share = degree[a] / (degree[a] + degree[b]);
    one.dx += x * pull * (1 - share); one.dy += y * pull * (1 - share);
    other.dx -= x * pull * share; other.dy -= y * pull * share;
  }
}

function apart(at, room) {
  for (let i = 0; i < at.length; i++) {
    for (let j = i + 1; j < at.length; j++) {
      const x = at[j].x - at[i].x;
      const y = at[j].y - at[i].y;
      const far = Math.hypot(x, y) || 0.01;
      if (far >= room) continue;
      const step = (room - far) / far / 2;
      at[i].x -= x * step; at[i].y -= y * step;
      at[j].x += x * step; at[j].y += y * step;
    }
  }
}
