// The paths that are watched: how each does now, what changed last, and its history as a strip; as the watch goes on.

import { ask, follow, h, SIGNS, trouble, utc } from "./dom.js";
import { strip } from "./strip.js";

/// How a path does: every answer, the last visit and change, what does not answer, and how many visits were not made.
export function facts(path) {
  const answers = path.visits.flatMap((kind) => kind.answers);
  const changed = last_change(path);
  const line = (name, id, ...text) => [h("dt", {}, name), h("dd", { id_: id }, ...text)];
  const measured = Math.max(0, ...path.visits.map((kind) => kind.measured_unix_ns ?? 0));
  return h("div", { class: "facts" },
    path.visits.map((kind) => kind.trouble && h("p", { class: "down", id_: "down" }, `× ${kind.trouble}`)),
    answers.length
      ? h("ul", { class: "answers", "aria-label": "Verdicts now" }, answers.map((answer) =>
          h("li", {}, h("span", { class: `chip ${answer.verdict in SIGNS ? answer.verdict : "none"}` }, answer.answer), ` ${answer.label}${answer.text ? `: ${answer.text}` : ""}`)))
      : h("p", { class: "quiet" }, "No visit has found anything yet."),
    h("dl", {},
      line("Last visit", "last-visit", measured ? `${utc(measured)} (UTC)` : "none has measured yet"),
      line("Last change", "last-change", changed ? `${changed.label}, ${utc(changed.first_unix_ns)} (UTC). ${changed.text}` : "none"),
      line("Visits", "visits-made", counted(path))));
}

function last_change(path) {
  return [...path.changes].sort((a, b) => b.found_unix_ns - a.found_unix_ns)[0];
}

/// How many visits there were, and what became of those that did not measure.
function counted(path) {
  const sums = {};
  const add = (name, count) => { if (count) sums[name] = (sums[name] ?? 0) + count; };
  for (const kind of path.visits) {
    for (const [outcome, count] of Object.entries(kind.ended)) if (outcome !== "measured") add(outcome, count);
    for (const [why, count] of Object.entries(kind.missed)) add(`missed (${why})`, count);
  }
  return [`${ended(path)} begun`, ...Object.entries(sums).map(([name, count]) => `${count} ${name}`)].join(", ");
}

/// How many visits have ended, by which a history grows: a picture is a run of the program, and none is made because a visit begins.
export function ended(path) {
  return path.visits.reduce((all, kind) => all + kind.begun, 0);
}

export function address(name) {
  return `/p/${encodeURIComponent(name)}`;
}

/// The history of a path, as the server has it from the program.
export function history_of(name, since) {
  return ask(`/paths/${encodeURIComponent(name)}/strips${since ? `?since=${since}` : ""}`);
}

/// Tells `draw` how all paths do, now and as the watch goes on, until the function that is given back is called.
export function follow_paths(draw) {
  return follow("/paths", "/paths/events", draw);
}

/// The first section of the first screen.
export function my_paths() {
  const cards = new Map();
  const grid = h("div", { class: "paths" });
  const note = h("p", { class: "quiet", id_: "watch-hint" }, "Loading…");
  const element = h("section", { class: "card", id_: "paths", "aria-labelledby": "my-paths" }, h("h1", { id: "my-paths" }, "My paths"), note, grid);
  let close = () => {}, over = false, drawing = Promise.resolve();
  function draw(status) {
    note.hidden = status.paths.length > 0;
    if (!status.paths.length) note.replaceChildren("No path is watched: ", h("code", {}, "v6gap watch HOST"), " measures one again and again, and says here when it changes.");
    const names = status.paths.map((path) => path.name);
    for (const [name, card] of cards) if (!names.includes(name)) { card.element.remove(); cards.delete(name); }
    for (const path of status.paths) {
      if (!cards.has(path.name)) {
        cards.set(path.name, card_of(path.name));
        grid.append(cards.get(path.name).element);
      }
      const card = cards.get(path.name), seen = JSON.stringify(path);
      if (card.seen === seen) continue;
      card.seen = seen;
      card.facts.replaceChildren(facts(path));
      const drawn = ended(path);
      if (card.drawn === drawn) continue;
      card.drawn = drawn;
      // One after the other.
      drawing = drawing.then(() => over || card.drawn !== drawn ? undefined : picture(card, path)).catch(() => { card.drawn = null; });
    }
    element.dataset.seen = Number(element.dataset.seen ?? 0) + 1;
  }
  follow_paths(draw).then(
    (stop) => { close = stop; if (over) stop(); },
    (error) => note.replaceWith(trouble(error)));
  return { element, leave() { over = true; close(); } };
}

function card_of(name) {
  const now = h("div"), history = h("div");
  const heading = h("h2", {}, h("a", { href: address(name) }, name));
  return { element: h("article", { class: "path", id_: `path-${name}` }, heading, now, history), facts: now, history, seen: null, drawn: null };
}

/// The strip of the question that changed last, or else of the first.
async function picture(card, path) {
  const found = await history_of(path.name);
  const changed = last_change(path);
  const is_it = (one) => one.cell === changed?.cell && one.metric === changed?.metric;
  const one = found.strips.find(is_it) ?? found.strips[0];
  const open = card.history.querySelector("details")?.open ?? false;
  card.history.replaceChildren(...(one ? [strip(one, { open })] : []));
}
