// One episode, or two on the same task side by side.
import { OUTCOMES, addressOf, contentOf, outcome, page, replaceState } from "./data.js";
import { amount, counted, cut, duration, html, money, plain, plainWords, valueText } from "./dom.js";
import { aside, comparisonView, longText, turnsView } from "./turns.js";
import { walkView } from "./walk.js";

export async function episodeView(state) {
  const episode = page.episodes[Number(state.get("e"))];
  if (!episode) return html("p", { class: "empty" }, "There is no such episode.");
  const both = [episode];
  if (state.has("beside")) both.push(page.episodes[Number(state.get("beside"))]);
  const contents = await Promise.all(both.map((one) => contentOf(one.number)));
  const columns = both.map((one, number) => columnView(one, contents[number], state));
  return html(
    "article",
    { class: both.length > 1 ? "episode two" : "episode" },
    barView(episode, state),
    !page.index.runs[episode.run].conversation &&
      html("h2", {}, plainWords(episode.kind), " ", html("small", {}, plain(episode.taskId))),
    questionView(contents[0].question),
    html("div", { class: "columns" }, columns),
  );
}

function contestantName(episode) {
  const repeat = episode.repeat ? ` · repeat ${episode.repeat}` : "";
  const run = page.index.runs.length > 1 ? ` · ${plain(page.index.runs[episode.run].name)}` : "";
  return ` ${plain(episode.setting)}${repeat}${run}`;
}

function barView(episode, state) {
  const place = page.listed.indexOf(episode);
  const link = (text, other) => other && html("a", { href: addressOf({ view: "episode", e: other.number }) }, text);
  return html(
    "div",
    { class: "bar" },
    html("a", { href: page.lastList }, "← All episodes"),
    link("‹ Previous", page.listed[place - 1]),
    place >= 0 && link("Next ›", page.listed[place + 1]),
    besideView(episode, state),
  );
}

function besideView(episode, state) {
  const rivals = page.episodes.filter((one) => one.task === episode.task && one.number !== episode.number);
  if (!rivals.length) return null;
  const options = rivals.map((one) => {
    const text = `${plain(one.model)}${contestantName(one)} ${OUTCOMES[outcome(one)].sign}`;
    return html("option", { value: one.number, selected: state.get("beside") === String(one.number) }, text);
  });
  const onchange = (event) => {
    if (event.target.value) state.set("beside", event.target.value);
    else state.delete("beside");
    location.hash = addressOf(state);
  };
  const select = html("select", { onchange }, html("option", { value: "" }, "no other"), options);
  return html("label", { class: "beside" }, html("span", {}, "beside"), select);
}

const details = (name, title, ...children) => html("details", { class: name }, html("summary", {}, title), children);

function questionView(text) {
  const [question, ...rest] = text.split(/\n\n/);
  const title = "The form of the answer, and all else that was asked";
  const more = rest.length > 0 && details(null, title, html("p", { class: "said" }, plain(rest.join("\n\n"))));
  return html("div", { class: "question-text" }, html("p", {}, plain(question)), more);
}

function columnView(episode, content, state) {
  const hasPicture = Boolean(content.grid || content.nodes.length);
  const placeOf = (call) => content.steps.findIndex((step) => step.call === call) + 1;
  const turns = turnsView(content.turns, hasPicture && ((call) => walk.to(placeOf(call))));
  const onStep = (step, place) => {
    markTurn(turns, step);
    state.set("step", place);
    replaceState(state);
  };
  const firstPlace = state.has("step") ? Number(state.get("step")) : null;
  const walk = hasPicture && walkView(content, firstPlace, onStep);
  const isConversation = page.index.runs[episode.run].conversation;
  const target = html("section", {}, html("h3", {}, "Answer and target"), comparisonView(content.answer));
  const seen = html(
    "div",
    { class: "seen" },
    isConversation && longText(content.answer.rows[0][1] ?? "No answer.", "said"),
    walk && walk.view,
    content.score?.missing && html("p", { class: "warning" }, plain(content.score.missing)),
    !isConversation && target,
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
    (badge || status) && html("p", { class: "verdict" }, badge, cause, status, episode.proof && classOf(episode.proof)),
    episode.unproven && html("p", { class: "numbers" }, plain(episode.unproven)),
    html("p", { class: "contestant" }, html("b", {}, plain(episode.model)), contestantName(episode)),
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

function markTurn(turns, step) {
  for (const element of turns.querySelectorAll(".current")) element.classList.remove("current");
  const target = turns.querySelector(step.call ? `[data-call="${step.call}"]` : `[data-turn="${step.turn}"]`);
  if (!target) return;
  target.classList.add("current");
  const box = turns.parentElement;
  if (box.scrollHeight > box.clientHeight + 4) box.scrollTop = target.offsetTop - box.offsetTop - 40;
}

function promptView(prompt) {
  const messages = prompt.map(([role, text]) =>
    html("div", { class: "message" }, html("p", { class: "note" }, role), longText(text, "said")),
  );
  return details("prompt", `Prompt (${counted(prompt.length, "message")})`, messages);
}

function scoreView(content) {
  const fields = Object.entries({ ...content.score, ...content.parameters, ...content.graph });
  const facts = fields.filter(([, value]) => value !== null && typeof value !== "object");
  const items = facts.map(([name, value]) =>
    html("div", {}, html("dt", {}, plainWords(name)), html("dd", {}, cut(valueText(value), 120))),
  );
  return facts.length > 0 && details("score", "Score, parameters and graph", html("dl", {}, items));
}
