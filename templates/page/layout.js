// Where nodes go: forces that keep nodes apart and pull neighbours together, the same places for the same graph.
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

export function circlePlaces(count) {
  const radius = Math.max(60, count * 13);
  return Array.from({ length: count }, (_, place) => {
    const angle = (2 * Math.PI * place) / count - Math.PI / 2;
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  });
}

export function forcePlaces(count, links) {
  const nodes = Array.from({ length: count }, (_, place) => {
    const radius = 34 * Math.sqrt(place + 0.5);
    const angle = place * GOLDEN_ANGLE;
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle), dx: 0, dy: 0 };
  });
  const degree = new Array(count).fill(0);
  for (const place of links.flat()) degree[place] += 1;
  const rounds = Math.max(40, Math.min(300, Math.round(3e7 / (count * count + 1))));
  let heat = 1;
  for (let round = 0; round < rounds; round++) {
    repel(nodes, heat);
    attract(nodes, links, degree, heat);
    nodes.forEach((node) => move(node, heat));
    heat *= 1 - Math.min(0.03, 4 / rounds);
  }
  for (let round = 0; round < 30; round++) separate(nodes, 26);
  return nodes;
}

function move(node, heat) {
  node.dx = (node.dx - node.x * 0.018 * heat) * 0.6;
  node.dy = (node.dy - node.y * 0.018 * heat) * 0.6;
  node.x += node.dx;
  node.y += node.dy;
}

function push(node, x, y) {
  node.dx += x;
  node.dy += y;
}

function repel(nodes, heat) {
  for (let i = 0; i < nodes.length; i++) {
    for (let j = i + 1; j < nodes.length; j++) {
      const x = nodes[j].x - nodes[i].x;
      const y = nodes[j].y - nodes[i].y;
      const square = Math.max(40, x * x + y * y);
      if (square > 360000) continue;
      const force = (900 * heat) / square;
      push(nodes[i], -x * force, -y * force);
      push(nodes[j], x * force, y * force);
    }
  }
}

function attract(nodes, links, degree, heat) {
  for (const [a, b] of links) {
    const x = nodes[b].x - nodes[a].x;
    const y = nodes[b].y - nodes[a].y;
    const distance = Math.hypot(x, y) || 1;
    const force = (((distance - 62) / distance) * heat * 0.9) / Math.min(degree[a], degree[b]);
    const share = degree[a] / (degree[a] + degree[b]);
    push(nodes[a], x * force * (1 - share), y * force * (1 - share));
    push(nodes[b], -x * force * share, -y * force * share);
  }
}

function separate(nodes, room) {
  for (let i = 0; i < nodes.length; i++) {
    for (let j = i + 1; j < nodes.length; j++) {
      const x = nodes[j].x - nodes[i].x;
      const y = nodes[j].y - nodes[i].y;
      const distance = Math.hypot(x, y) || 0.01;
      if (distance >= room) continue;
      const step = (room - distance) / distance / 2;
      nodes[i].x -= x * step;
      nodes[i].y -= y * step;
      nodes[j].x += x * step;
      nodes[j].y += y * step;
    }
  }
}
