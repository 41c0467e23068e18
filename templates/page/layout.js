// Where nodes go: on a circle, or by the forces of Fruchterman and Reingold. The same places for the same graph.
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
const LENGTH = 62;

export function circlePlaces(count) {
  const radius = Math.max(60, count * 13);
  return Array.from({ length: count }, (_, place) => {
    const angle = (2 * Math.PI * place) / count - Math.PI / 2;
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  });
}

// Nodes repel each other, links and a weak gravity pull them together; each round moves them less far.
export function forcePlaces(count, links) {
  const nodes = Array.from({ length: count }, (_, place) => {
    const radius = 34 * Math.sqrt(place + 0.5);
    return { x: radius * Math.cos(place * GOLDEN_ANGLE), y: radius * Math.sin(place * GOLDEN_ANGLE), dx: 0, dy: 0 };
  });
  const rounds = Math.max(40, Math.min(300, Math.round(3e7 / (count * count + 1))));
  for (let round = 0; round < rounds; round++) {
    for (const node of nodes) [node.dx, node.dy] = [-0.1 * node.x, -0.1 * node.y];
    nodes.forEach((node, place) => {
      for (const other of nodes.slice(place + 1)) pull(node, other, repulsion);
    });
    for (const [one, other] of links) pull(nodes[one], nodes[other], (distance) => distance / LENGTH);
    const longest = LENGTH * (1 - round / rounds);
    for (const node of nodes) {
      const share = Math.min(1, longest / (Math.hypot(node.dx, node.dy) || 1));
      node.x += node.dx * share;
      node.y += node.dy * share;
    }
  }
  return nodes;
}

// As in the grid variant of their paper, far nodes do not repel: else those without links leave the picture to the rest.
const repulsion = (distance) => (distance < 3 * LENGTH ? -((LENGTH / distance) ** 2) : 0);

// Add to the next move of both nodes: towards each other where the force is positive.
function pull(node, other, force) {
  const [x, y] = [other.x - node.x, other.y - node.y];
  const distance = Math.max(5, Math.hypot(x, y));
  const strength = force(distance);
  node.dx += x * strength;
  node.dy += y * strength;
  other.dx -= x * strength;
  other.dy -= y * strength;
}
