// One episode, or two on the same task side by side.
import { go, replaceState } from "./address.js";
import { OUTCOMES, contentOf, outcome, page } from "./data.js";
import { amount, button, counted, cut, duration, html, money, plain, plainWords, valueText, words } from "./dom.js";
import { aside, comparisonView, longText, turnsView } from "./turns.js";
import { walkView } from "./walk.js";

const MOST_COMPARED = 40;
export const players = [];

export async function episodeView(state) {
  const episode = page.episodes[Number(state.get("e"))];
  if (!episode) return html("p", { class: "empty" }, "There is no such episode.");
  const other = state.has("beside") ? page.episodes[Number(state.get("beside"))] : null;
  const both = [episode, other].filter(Boolean);
  const contents = await Promise.all(both.map((one) => contentOf(one.number)));
  players.length = 0;
  const columns = both.map((one, number) => columnView(one, contents[number], state));
  return html(
    "article",
    { class: `episode${other ? " two" : ""}` },
    barView(episode, state, other),
    page.index.runs[episode.run].conversation ||
      html("h2", {}, plainWords(episode.kind), " ", html("small", {}, plain(episode.taskId))),
    questionView(contents[0].question),
    html("div", { class: "columns" }, columns),
  );
}

function playerName(episode) {
  const repeat = episode.repeat ? ` · repeat ${episode.repeat}` : "";
  const run = page.index.runs.length > 1 ? ` · ${plain(page.index.runs[episode.run].name)}` : "";
  return ` ${plain(episode.setting)}${repeat}${run}`;
}

function barView(episode, state, other) {
  const order = page.listed.length ? page.listed : page.episodes;
  const place = order.findIndex((one) => one.number === episode.number);
  const openButton = (text, neighbour, id) => {
    const onclick = () => go({ view: "episode", e: neighbour.number });
    return button(text, { class: "quiet", id, disabled: place < 0 || !neighbour, onclick });
  };
  return html(
    "div",
    { class: "bar" },
    button("← All episodes", { class: "quiet", id: "close", onclick: closeEpisode }),
    html(
      "span",
      { class: "steps" },
      openButton("‹ Previous", order[place - 1]),
      openButton("Next ›", order[place + 1], "next"),
    ),
    besideView(episode, state, other),
  );
}

function besideView(episode, state, other) {
  const rivals = page.episodes.filter((one) => one.task === episode.task && one.number !== episode.number);
  if (!rivals.length) return null;
  const options = rivals.map((one) => {
    const text = `${plain(one.model)}${playerName(one)} ${OUTCOMES[outcome(one)].sign}`;
    return html("option", { value: one.number, selected: other && other.number === one.number }, text);
  });
  const onchange = (event) => showBeside(state, event.target.value);
  const select = html("select", { id: "beside", onchange }, html("option", { value: "" }, "no other"), options);
  return html("label", { class: "beside" }, html("span", {}, "beside"), select);
}

function showBeside(state, number) {
  if (number === "") state.delete("beside");
  else state.set("beside", number);
  go(Object.fromEntries(state));
}

function questionView(text) {
  const [question, ...rest] = text.split(/\n\n/);
  const title = "The form of the answer, and all else that was asked";
  const details = () =>
    html("details", {}, html("summary", {}, title), html("p", { class: "said" }, plain(rest.join("\n\n"))));
  return html("div", { class: "question-text" }, html("p", {}, plain(question)), rest.length > 0 && details());
}

function columnView(episode, content, state) {
  let player = null;
  const isAsked = page.index.runs[episode.run].conversation;
  const hasPicture = Boolean(content.grid || content.nodes.length);
  const turns = turnsView(content.turns, hasPicture && ((call) => player.to(placeOf(content, call))));
  const onStep = (step, place) => {
    markTurn(turns, step);
    if (!player) return;
    state.set("step", place);
    replaceState(state);
  };
  if (hasPicture && content.steps.length) {
    player = walkView(content, state.has("step") ? Number(state.get("step")) : null, onStep);
    players.push(player);
  }
  const seen = html(
    "div",
    { class: "seen" },
    isAsked && askedAnswerView(content.answer),
    player && player.view,
    missingView(content.score),
    isAsked ||
      html("section", {}, html("h3", {}, "Answer and target"), comparisonView(content.answer, MOST_COMPARED)),
    content.error && html("section", {}, html("h3", {}, "What went wrong"), longText(content.error, "result")),
    scoreView(content),
  );
  const heard = html(
    "div",
    { class: "heard" },
    promptView(content.prompt),
    turns,
    content.extractor && aside("the extractor model read", content.extractor),
  );
  return html("div", { class: "column" }, headView(episode), html("div", { class: "split" }, seen, heard));
}

function askedAnswerView({ rows: [[, answer]] }) {
  return html("section", { class: "asked-answer" }, longText(answer ?? "No answer.", "said"));
}

function headView(episode) {
  const result = outcome(episode);
  const { sign, title } = OUTCOMES[result];
  const badge = result !== "unjudged" && html("span", { class: `badge ${result}` }, `${sign} ${title}`);
  const classOf = (text) => html("span", { class: "class" }, plainWords(text));
  const cause = episode.cause && !episode.failed && classOf(episode.cause);
  const status = episode.status !== "answered" && classOf(episode.status);
  return html(
    "header",
    { class: "who" },
    (badge || status) && html("p", { class: "verdict" }, badge, cause, status),
    html("p", { class: "player" }, html("b", {}, plain(episode.model)), playerName(episode)),
    html("p", { class: "numbers" }, numbersOf(episode)),
  );
}

function numbersOf(episode) {
  const reference = episode.reference ? ` (reference ${episode.reference})` : "";
  const numbers = [
    counted(episode.turns, "turn"),
    `${counted(episode.calls, "call")}${reference}`,
    episode.tokens !== null && `${amount(episode.tokens)} tokens`,
    duration(episode.seconds),
    episode.cost !== null && money(episode.cost),
  ];
  return numbers.filter(Boolean).join(" · ");
}

const placeOf = (content, call) => content.steps.findIndex((step) => step.call === call) + 1;

function markTurn(turns, step) {
  for (const element of turns.querySelectorAll(".current")) element.classList.remove("current");
  const selector = step.call ? `[data-call="${step.call}"]` : `[data-turn="${step.turn}"]`;
  const target = (step.call || step.turn) && turns.querySelector(selector);
  if (!target) return;
  target.classList.add("current");
  const box = turns.parentElement;
  if (box && box.scrollHeight > box.clientHeight + 4) box.scrollTop = target.offsetTop - box.offsetTop - 40;
}

function promptView(prompt) {
  const messages = prompt.map(([role, text]) =>
    html("div", { class: "message" }, html("p", { class: "note" }, role), longText(text, "said")),
  );
  const title = `Prompt (${counted(prompt.length, "message")})`;
  return html("details", { class: "prompt" }, html("summary", {}, title), messages);
}

function missingView(score) {
  return score && score.missing ? html("section", { class: "failure" }, html("p", {}, plain(score.missing))) : null;
}

function scoreView(content) {
  const fields = Object.entries({ ...content.score, ...content.parameters, ...content.graph });
  const facts = fields.filter(([, value]) => value !== null && typeof value !== "object");
  if (!facts.length) return null;
  const items = facts.map(([name, value]) =>
    html("div", {}, html("dt", {}, plainWords(name)), html("dd", {}, cut(valueText(value), 120))),
  );
  return html(
    "details",
    { class: "score" },
    html("summary", {}, words("Score, parameters and graph")),
    html("dl", {}, items),
  );
}

export function closeEpisode() {
  go({ ...Object.fromEntries(new URLSearchParams(page.lastList)), view: "episodes" });
}
