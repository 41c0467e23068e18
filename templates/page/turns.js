// What was said and called, turn by turn; and rows with their states.
import {
  amount,
  button,
  columnTitle,
  counted,
  cut,
  duration,
  html,
  money,
  plain,
  plainWords,
  showFirst,
  tableOf,
  valueText,
} from "./dom.js";

const FEW_ROWS = 12;
const MOST_COMPARED = 40;
const LONG_TEXT = 1500;
const SHORT_TEXT = 1200;
const LONGEST_CELL = 400;
const FATES = {
  right: { sign: "✓", title: "correct" },
  wrong: { sign: "✗", title: "incorrect" },
  missed: { sign: "–", title: "missing" },
  "": { sign: "", title: "" },
};

export function turnsView(turns, onCall) {
  let calls = 0;
  const views = turns.map((turn, number) => {
    const first = calls + 1;
    calls += turn.calls.length;
    return turnView(turn, number + 1, first, onCall);
  });
  return html("ol", { class: "turns" }, views);
}

function turnView(turn, number, firstCall, onCall) {
  const head = html("p", { class: "turn-head" }, html("b", {}, `Turn ${number}`), html("span", {}, turnFacts(turn)));
  return html(
    "li",
    { class: "turn", "data-turn": number },
    head,
    turn.thought && html("p", { class: "thought" }, plain(turn.thought)),
    turn.text && longText(turn.text, "said"),
    turn.calls.map((call, place) => callView(call, firstCall + place, onCall)),
    turn.next && aside("then it was asked", turn.next),
  );
}

function turnFacts({ usage, seconds, forced, finish }) {
  const hasTokens = usage.input_tokens || usage.output_tokens;
  const facts = [
    hasTokens && `${amount(usage.input_tokens)} in, ${amount(usage.output_tokens)} out`,
    usage.cost && money(usage.cost),
    seconds && duration(seconds),
    forced && "forced by the turn limit",
    finish === "length" && "cut off by the length limit",
  ];
  return facts.filter(Boolean).join(" · ");
}

export const aside = (title, text) =>
  html("div", { class: "aside" }, html("p", { class: "note" }, title), longText(text, "said"));

export function longText(text, name) {
  const whole = plain(text);
  if (whole.length < LONG_TEXT) return html("p", { class: name }, whole);
  const short = html("p", { class: name }, `${whole.slice(0, SHORT_TEXT)}…`);
  const more = button(`Show all ${whole.length.toLocaleString("en")} characters`, { class: "quiet", onclick: showAll });
  function showAll() {
    short.textContent = whole;
    more.remove();
  }
  return html("div", {}, short, more);
}

function argumentsView(values) {
  if (values === null || typeof values !== "object" || Array.isArray(values)) return valueText(values);
  return Object.entries(values).map(([name, value]) =>
    html("span", { class: "argument" }, html("i", {}, plain(name)), ` ${valueText(value)}`),
  );
}

function callView(call, number, onCall) {
  const label = { class: `call${call.error ? " failed" : ""}`, "data-call": number, "aria-label": `Call ${number}` };
  const head = html(
    "p",
    { class: "call-head" },
    onCall
      ? button(String(number), { class: "number", title: "See this step", onclick: () => onCall(number) })
      : html("span", { class: "number" }, number),
    html("code", {}, plain(call.call)),
    argumentsView(call.arguments),
    call.error && html("span", { class: "error" }, plainWords(call.error)),
    call.rows !== null && html("span", { class: "found" }, counted(call.rows, "row")),
    call.seconds >= 0.01 && html("span", { class: "found" }, duration(call.seconds)),
  );
  const notes = call.notes.map((note) => html("p", { class: "note" }, plain(note)));
  return html("section", label, head, notes, call.table.length ? rowsView(call) : longText(call.result, "result"));
}

function rowsView(call) {
  const columns = [...new Set(call.table.flatMap(Object.keys))];
  const titles = columns.map((name) => columnTitle(plainWords(name)));
  const view = (row) => html("tr", {}, columns.map((name) => cellView(row[name])));
  return html("div", { class: "rows-table" }, longTable(`Rows of ${call.call}`, titles, call.table, FEW_ROWS, view));
}

// A table whose first rows are shown, with a button for the others.
function longTable(name, titles, rows, most, view) {
  const box = tableOf(name, titles, []);
  return [box, showFirst(box.querySelector("tbody"), rows, most, view)];
}

function cellView(value) {
  const text = cut(valueText(value), LONGEST_CELL);
  return html("td", { class: text.length > 36 ? "long" : null }, text);
}

export function comparisonView({ columns, rows, note }) {
  if (!rows.length) return html("p", { class: "note" }, "Nothing was answered, and nothing is the target.");
  const titles = [columnTitle(""), columns.map((name) => columnTitle(plainWords(name)))];
  const view = ([fate, ...cells]) => {
    const { sign, title } = FATES[fate];
    const mark = html("td", { class: "fate", title }, html("span", { "aria-label": title }, sign));
    return html("tr", { class: `fate-${fate}` }, mark, cells.map(cellView));
  };
  const table = longTable("Answer and target", titles, rows, MOST_COMPARED, view);
  return html("div", { class: "comparison" }, table, note && html("p", { class: "note" }, plain(note)));
}
