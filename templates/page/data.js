// What the page is about: an index that is there at once, and a block per episode that is inflated when it is opened.
import { byId } from "./dom.js";

const read = (id) => JSON.parse(byId(id).textContent);

// The data and what the reader has chosen. `listed`: the episodes in the list; `lastList`: the address of the list.
export const page = {
  index: read("index"),
  figures: read("figures"),
  episodes: [],
  listed: [],
  lastList: "",
};

export const OUTCOMES = {
  right: { sign: "✓", title: "correct" },
  wrong: { sign: "✗", title: "incorrect" },
  failed: { sign: "!", title: "failed" },
  unjudged: { sign: "·", title: "not scored" },
};

export function outcome(episode) {
  if (episode.failed) return "failed";
  if (episode.right === true) return "right";
  return episode.right === false ? "wrong" : "unjudged";
}

// Lines of the index become objects; what is shared stays shared.
export function unfold() {
  const { index } = page;
  page.episodes = (index.episodes || []).map((line, number) => {
    const fields = Object.fromEntries(index.fields.map((name, place) => [name, line[place]]));
    const [run, model, setting] = index.players[fields.player];
    const [taskId, , kind, group, question, reference] = index.tasks[fields.task];
    return { number, ...fields, run, model, setting, taskId, kind, group, question, reference };
  });
}

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

const parsed = new Promise((resolve) => {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", resolve);
  else resolve();
});

const EMPTY = { prompt: [], turns: [], steps: [], nodes: [], links: [], legend: {} };

export async function contentOf(number) {
  if (!byId(`block-${number}`)?.nextSibling) await parsed; // else its text may be incomplete
  return { ...EMPTY, ...(await inflate(byId(`block-${number}`).textContent)) };
}
