// What was said and called, turn by turn.
const FEW_ROWS = 12;
const FATES = { right: ["✓", "correct"], wrong: ["✗", "incorrect"], missed: ["–", "missing"], given: ["·", "given"], "": ["", ""] };

function turnsView(content, onCall) {
  let call = 0;
  return h("ol", { class: "turns" }, content.turns.map((turn, number) => h("li", { class: "turn", "data-turn": number + 1 },
    h("p", { class: "turn-head" }, h("b", {}, `Turn ${number + 1}`), h("span", {}, turnFacts(turn))),
    turn.summary && block("earlier turns were summed up as", turn.summary),
    turn.thought && h("p", { class: "thought" }, plain(turn.thought)),
    turn.text && longText(turn.text, "said"),
    (turn.calls || []).map((one) => callView(one, (call += 1), onCall)),
    turn.next && block("then it was asked", turn.next))));
}

function turnFacts(turn) {
  const usage = turn.usage || {};
  const tokens = usage.input_tokens || usage.output_tokens ? `${amount(usage.input_tokens)} in, ${amount(usage.output_tokens)} out` : null;
  return [tokens, usage.cost && money(usage.cost), turn.seconds && duration(turn.seconds), turn.forced && "forced by the turn limit", turn.finish === "length" && "cut off by the length limit"].filter(Boolean).join(" · ");
}

const block = (title, text) => h("div", { class: "aside" }, h("p", { class: "note" }, title), longText(text, "said"));

function longText(text, name) {
  const whole = plain(text);
  if (whole.length < 1500) return h("p", { class: name }, whole);
  const short = h("p", { class: name }, `${whole.slice(0, 1200)}…`);
  const more = button(`Show all ${whole.length.toLocaleString("en")} characters`, { class: "quiet", onclick: () => { short.textContent = whole; more.remove(); } });
  return h("div", {}, short, more);
}

function callView(call, number, onCall) {
  const words = typeof call.arguments === "string" ? plain(call.arguments) : Object.entries(call.arguments).map(([name, value]) => h("span", { class: "argument" }, h("i", {}, plain(name)), ` ${shown(value)}`));
  const found = call.error ? h("span", { class: "error" }, plainWords(call.error)) : call.found === undefined ? null : h("span", { class: "found" }, counted(call.found, "row"));
  return h("section", { class: `call${call.error ? " failed" : ""}`, "data-call": number, "aria-label": `Call ${number}` },
    h("p", { class: "call-head" }, button(String(number), { class: "number", title: "See this step", onclick: () => onCall && onCall(number) }), h("code", {}, plain(call.name)), words, found, call.seconds >= 0.01 && h("span", { class: "found" }, duration(call.seconds))),
    (call.notes || []).map((note) => h("p", { class: "note" }, plain(note))), call.rows ? rowsView(call) : call.text && longText(call.text, "result"));
}

const wide = (value) => { const text = cut(shown(value), 400); return h("td", { class: text.length > 36 ? "long" : null }, text); };
const plainWords = (text) => plain(words(text));

function rowsView(call) {
  const body = h("tbody");
  const add = (rows) => body.append(...rows.map((row) => h("tr", {}, row.map(wide))));
  add(call.rows.slice(0, FEW_ROWS));
  const rest = call.rows.length - FEW_ROWS;
  const more = rest > 0 && button(`Show ${rest} more rows`, { class: "quiet", onclick: () => { add(call.rows.slice(FEW_ROWS)); more.remove(); } });
  return h("div", {}, scroller(`Rows of ${call.name}`, {}, h("table", { class: "rows-table" }, h("thead", {}, h("tr", {}, call.columns.map((name) => h("th", { scope: "col" }, plainWords(name))))), body)),
    more, call.more > 0 && h("p", { class: "note" }, `and ${call.more} more rows, which the run folder has`));
}

function comparisonView(table, most) {
  if (!table.rows.length) return h("p", { class: "note" }, "Nothing was answered, and nothing is the target.");
  const body = h("tbody");
  const add = (rows) => body.append(...rows.map(([fate, ...cells]) => h("tr", { class: `fate-${fate}` }, h("td", { class: "fate", title: FATES[fate][1] }, h("span", { "aria-label": FATES[fate][1] }, FATES[fate][0])), cells.map((value) => h("td", {}, cut(shown(value), 400))))));
  add(table.rows.slice(0, most));
  const rest = table.rows.length - most;
  const more = rest > 0 && button(`Show ${rest} more rows`, { class: "quiet", onclick: () => { add(table.rows.slice(most)); more.remove(); } });
  return h("div", { class: "comparison" }, scroller("Answer and target", {}, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, ""), table.columns.map((name) => h("th", { scope: "col" }, plainWords(name))))), body)), more, table.note && h("p", { class: "note" }, plain(table.note)));
}
