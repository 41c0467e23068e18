// One episode, or two on the same task side by side.
let players = [];

async function episodeView(state) {
  const episode = episodes[Number(state.get("e"))];
  if (!episode) return h("p", { class: "empty" }, "There is no such episode.");
  const other = state.has("beside") ? episodes[Number(state.get("beside"))] : null;
  const both = [episode, other].filter(Boolean);
  const contents = await Promise.all(both.map((one) => contentOf(one.number)));
  players = [];
  const step = state.has("step") ? Number(state.get("step")) : null;
  const columns = both.map((one, place) => columnView(one, contents[place], step, state, both.length > 1));
  return h("article", { class: `episode${other ? " two" : ""}` }, bar(episode, state, other), h("h2", {}, words(plain(episode.kind)), " ", h("small", {}, plain(episode.taskId))),
    questionView(contents[0]), h("div", { class: "columns" }, columns));
}

function bar(episode, state, other) {
  const order = listed.length ? listed : episodes;
  const place = order.findIndex((one) => one.number === episode.number);
  const near = (by) => order[place + by];
  const open = (one) => one && go({ view: "episode", e: one.number });
  const rivals = episodes.filter((one) => one.task === episode.task && one.number !== episode.number);
  const select = rivals.length > 0 && h("label", { class: "beside" }, h("span", {}, "beside"), h("select", { id: "beside", onchange: (event) => besides(state, event.target.value) }, h("option", { value: "" }, "no other"),
    rivals.map((one) => h("option", { value: one.number, selected: other && other.number === one.number }, `${plain(one.model)} ${plain(one.setting)}${one.repeat ? ` · repeat ${one.repeat}` : ""}${index.runs.length > 1 ? ` · ${plain(index.runs[one.run].name)}` : ""} ${MARKS[outcome(one)]}`))));
  return h("div", { class: "bar" }, button("← All episodes", { class: "quiet", id: "close", onclick: closeEpisode }), h("span", { class: "steps" },
    button("‹ Previous", { class: "quiet", disabled: !near(-1), onclick: () => open(near(-1)) }), button("Next ›", { class: "quiet", id: "next", disabled: place < 0 || !near(1), onclick: () => open(near(1)) })), select);
}

function besides(state, number) {
  if (number === "") state.delete("beside");
  else state.set("beside", number);
  go(Object.fromEntries(state));
}

function questionView(content) {
  const [asked, ...rest] = content.question.split(/\n\n/);
  return h("div", { class: "question-text" }, h("p", {}, plain(asked)), rest.length > 0 && h("details", {}, h("summary", {}, "The form of the answer, and all else that was asked"), h("p", { class: "said" }, plain(rest.join("\n\n")))));
}

function columnView(episode, content, step, state, two) {
  const result = outcome(episode);
  const turns = turnsView(content, (call) => player && player.to(stepOf(content.scene, call)));
  let player = null;
  player = content.scene && walkView(content.scene, step, (now, place) => { markTurn(turns, now); if (player) quietly(withStep(state, place)); });
  if (player) players.push(player);
  const head = h("header", { class: "who" }, h("p", { class: "verdict" }, h("span", { class: `badge ${result}` }, `${MARKS[result]} ${SAID[result]}`), episode.error && !episode.failed && h("span", { class: "class" }, words(plain(episode.error))), episode.failure && episode.failure !== episode.error && h("span", { class: "class" }, words(plain(episode.failure))), episode.status !== "answered" && h("span", { class: "class" }, words(plain(episode.status)))),
    h("p", { class: "player" }, h("b", {}, plain(episode.model)), ` ${plain(episode.setting)}${episode.repeat ? ` · repeat ${episode.repeat}` : ""}${index.runs.length > 1 ? ` · ${plain(index.runs[episode.run].name)}` : ""}`), h("p", { class: "numbers" }, numbersOf(episode)));
  return h("div", { class: "column" }, head, h("div", { class: "split" },
    h("div", { class: "seen" }, player && player.view, content.missing && h("p", { class: "note" }, plain(content.missing)), failureView(content.score), h("section", {}, h("h3", {}, "Answer and target"), comparisonView(content.comparison, 40)), content.error && h("section", {}, h("h3", {}, "What went wrong"), longText(content.error, "result")), scoreView(content)),
    h("div", { class: "heard" }, promptView(content), turns, content.extractor && block("the extractor model read", content.extractor))));
}

function numbersOf(episode) {
  const reference = episode.reference ? ` (reference ${episode.reference})` : "";
  return [counted(episode.turns, "turn"), `${counted(episode.calls, "call")}${reference}`, episode.tokens !== null && `${amount(episode.tokens)} tokens`, duration(episode.seconds), episode.cost !== null && money(episode.cost)].filter(Boolean).join(" · ");
}

const withStep = (state, place) => { state.set("step", place); return state; };

function stepOf(scene, call) {
  const place = scene ? scene.steps.findIndex((step) => step.call === call) : -1;
  return place + 1;
}

function markTurn(turns, step) {
  for (const one of turns.querySelectorAll(".current")) one.classList.remove("current");
  const target = step.call ? turns.querySelector(`[data-call="${step.call}"]`) : step.turn ? turns.querySelector(`[data-turn="${step.turn}"]`) : null;
  if (!target) return;
  target.classList.add("current");
  const box = turns.parentElement;
  if (box && box.scrollHeight > box.clientHeight + 4) box.scrollTop = target.offsetTop - box.offsetTop - 40;
}

function promptView(content) {
  return h("details", { class: "prompt" }, h("summary", {}, `Prompt (${counted(content.prompt.length, "message")})`), content.prompt.map(([role, text]) => h("div", { class: "message" }, h("p", { class: "note" }, role), longText(text, "said"))));
}

function failureView(score) {
  if (score && score.missing) return h("section", { class: "failure" }, h("p", {}, plain(score.missing)));
  if (!score || !score.failure) return null;
  const lines = [score.failure_detail];
  if (score.ignored_condition) lines.push(`Ignored condition: ${score.ignored_condition}.`);
  return h("section", { class: "failure" }, h("h3", {}, "Cause of the failure: ", words(plain(score.failure))), lines.map((line) => h("p", {}, plain(line))));
}

function scoreView(content) {
  const facts = Object.entries({ ...content.score, ...content.parameters, ...content.graph }).filter(([, value]) => value !== null && typeof value !== "object");
  return facts.length > 0 && h("details", { class: "score" }, h("summary", {}, "Score, parameters and graph"), h("dl", {}, facts.map(([name, value]) => h("div", {}, h("dt", {}, plainWords(name)), h("dd", {}, cut(shown(value), 120))))));
}

function closeEpisode() {
  const kept = new URLSearchParams(lastList);
  go({ ...Object.fromEntries(kept), view: "episodes" });
}
