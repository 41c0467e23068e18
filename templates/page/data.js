// What the page is about: an index that is there at once, and a block per episode that is inflated when it is opened.
const read = (id) => JSON.parse(byId(id).textContent);
let index = read("index");
const source = index.source;
let episodes = [];
let figures = read("figures");
let version = null;

function unfold() {
  // Lines of the index become objects; what is shared stays shared.
  episodes = (index.episodes || []).map((line, number) => {
    const one = { number };
    index.fields.forEach((name, place) => { one[name] = line[place]; });
    const [run, model, setting] = index.players[one.player];
    const [taskId, , kind, group, question, reference] = index.tasks[one.task];
    return Object.assign(one, { run, model, setting, taskId, kind, group, question, reference });
  });
}

const outcome = (episode) =>
  episode.failed ? "failed" : episode.right === true ? "right" : episode.right === false ? "wrong" : "unjudged";

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

const parsed = new Promise((done) => {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", done);
  else done();
});

async function contentOf(number) {
  if (source === "server") return ask(`episode?${runQuery()}&number=${number}&version=${version}`);
  if (!byId(`block-${number}`)) await parsed;
  return inflate(byId(`block-${number}`).textContent);
}

const runQuery = () => new URLSearchParams(location.search).getAll("run").map((name) => `run=${encodeURIComponent(name)}`).join("&");

async function ask(path) {
  const response = await fetch(path, { cache: "no-store" });
  if (response.status === 204) return null;
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response.json();
}
