// What the page is about: an index that is read at once, and a block per episode that is inflated when it is opened.
// What is shown follows from the address behind the #, so that every view can be linked to.
import { byId } from "./dom.js";

const read = (id) => JSON.parse(byId(id).textContent);

// `listed`: the episodes in the list; `lastList`: its address.
export const page = { index: read("index"), figures: read("figures"), listed: [], lastList: "#view=episodes" };
page.episodes = page.index.episodes.map((episode, number) => ({ number, ...episode }));
page.listed = page.episodes;

export const stateNow = () => new URLSearchParams(location.hash.slice(1));
export const addressOf = (state) => `#${new URLSearchParams(state)}`;

// Change the address without showing the view again.
export const replaceState = (state) => history.replaceState(null, "", addressOf(state));

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

export async function contentOf(number) {
  const bytes = Uint8Array.from(atob(byId(`block-${number}`).textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}
