// One path that is watched: how it does, the history of each question, what changed and what else did then, and the runs.

import { h, show, trouble } from "./dom.js";
import { ended, facts, follow_paths, history_of } from "./paths.js";
import { changes, strip } from "./strip.js";

const BACK = [["2d", "2 days"], ["14d", "14 days"], ["56d", "8 weeks"]];

export async function path_screen(_, name) {
  document.title = `${name} – v6gap`;
  const since = h("select", { id: "since", onchange: draw }, BACK.map(([value, label]) => h("option", { value, selected: value === "14d" }, label)));
  const command = h("code"), now = h("div"), strips = h("div", { class: "stack" }), beside = h("div", { class: "stack" }), problem = h("div");
  let seen = null, drawn = null, drawing = 0;
  async function draw() {
    const number = ++drawing;
    command.textContent = `v6gap watch history ${name} --since ${since.value}`;
    try {
      const found = await history_of(name, since.value);
      if (number !== drawing) return;
      problem.replaceChildren();
      const open = [...strips.querySelectorAll("details")].map((one) => one.open);
      strips.replaceChildren(...(found.strips.length
        ? found.strips.map((one, at) => h("section", { class: "card" }, strip(one, { open: open[at] ?? false })))
        : [h("p", { class: "card quiet" }, "No visit has measured anything in that time.")]));
      beside.replaceChildren(...lists(found));
    } catch (error) {
      if (number === drawing) problem.replaceChildren(trouble(error));
    }
  }
  function tell(status) {
    const path = status.paths.find((path) => path.name === name);
    const text = JSON.stringify(path ?? null);
    if (text === seen) return;
    seen = text;
    now.replaceChildren(path ? facts(path) : h("p", { class: "quiet" }, "It is not watched any more; what was found is below."));
    const count = path && ended(path);
    if (count === drawn) return;
    drawn = count;
    draw();
  }
  show(h("div", { class: "stack", id_: "path" },
    h("section", { class: "card" },
      h("div", { class: "row" }, h("h1", {}, name), h("span", { class: "space" }), h("label", { class: "f", for: "since" }, "How far back"), h("div", {}, since)),
      now, problem,
      h("p", { class: "quiet" }, "The same on the command line: ", command)),
    strips, beside));
  return follow_paths(tell);
}

/// Changes with what else was another then, outages, and the runs of the visits.
function lists(found) {
  const changed = found.strips.flatMap(changes);
  const list = (heading, id, items) => items.length ? h("section", { class: "card", id_: id }, h("h2", {}, heading), h("ul", { class: "told" }, items)) : null;
  return [
    list("Changes", "changes", changed),
    list("Outages", "outages", found.outages.map((text) => h("li", {}, text))),
    list("Runs of these visits", "runs", found.runs.map((one) => h("li", {}, h("a", { href: `/r/${one.run}` }, one.run), ` from ${one.began} (UTC), ${one.visits === 1 ? "1 visit" : `${one.visits} visits`}`))),
  ].filter(Boolean);
}
