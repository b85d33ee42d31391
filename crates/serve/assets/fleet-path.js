// One path of a fleet: the history of each question with its ranges and changes, and the report of each run.

import { ask, framed, h, show, trouble } from "./dom.js";
import { changes, strip } from "./strip.js";

const BACK = [["2d", "2 days"], ["14d", "14 days"], ["56d", "8 weeks"], ["400d", "13 months"]];

/// The path in addresses.
function place(ends) {
  return ends.map(encodeURIComponent).join("/");
}

function named([site, host, far_site, far_host]) {
  return [`${site}/${host}`, `${far_site}/${far_host}`];
}

function back_to_all() {
  return h("a", { href: "/fleet", id_: "to-fleet" }, "All paths");
}

export async function fleet_path_screen(_, ...ends) {
  const [near, far] = named(ends), name = `${near} to ${far}`;
  document.title = `${name} – v6gap`;
  const since = h("select", { id: "since", onchange: draw }, BACK.map(([value, label]) => h("option", { value, selected: value === "14d" }, label)));
  const strips = h("div", { class: "stack" }), runs = h("div", { class: "stack" }), problem = h("div"), command = h("code");
  let drawing = 0;
  async function draw() {
    const number = ++drawing;
    command.textContent = `v6gap fleet history ${near} ${far} --runs FOLDER --since ${since.value}`;
    try {
      const found = await ask(`/fleet/paths/${place(ends)}/strips?since=${since.value}`);
      if (number !== drawing) return;
      problem.replaceChildren();
      strips.replaceChildren(...(found.strips.length
        ? found.strips.map((one) => h("section", { class: "card" }, strip(one)))
        : [h("p", { class: "card quiet" }, "No run has an answer with a verdict in that time.")]));
      runs.replaceChildren(...lists(found, ends));
    } catch (error) {
      if (number === drawing) problem.replaceChildren(trouble(error));
    }
  }
  show(h("div", { class: "stack", id_: "fleet-path" },
    h("section", { class: "card" },
      h("p", {}, back_to_all()),
      h("div", { class: "row" }, h("h1", {}, name), h("span", { class: "space" }), h("label", { class: "f", for: "since" }, "How far back"), h("div", {}, since)),
      problem,
      h("p", { class: "quiet" }, "The same on the command line: ", command)),
    strips, runs));
  await draw();
}

/// Changes, and every run with its report.
function lists(found, ends) {
  const changed = found.strips.flatMap(changes);
  const list = (heading, id, items) => items.length ? h("section", { class: "card", id_: id }, h("h2", {}, heading), h("ul", { class: "told" }, items)) : null;
  const run = (one) => h("li", {}, h("a", { href: `/fleet/${place(ends)}/${one.run}` }, one.run), ` from ${one.began} (UTC), measured at ${one.from}${one.headline ? `: ${one.headline}` : ""}`);
  return [
    list("Changes", "fleet-changes", changed),
    list("Runs", "fleet-runs", found.runs.map(run)),
  ].filter(Boolean);
}

export async function fleet_report_screen(_, ...asked) {
  const ends = asked.slice(0, 4), run = asked[4];
  const [near, far] = named(ends);
  document.title = `${near} to ${far}, ${run} – v6gap`;
  show(h("div", { class: "stack", id_: "fleet-report" },
    h("section", { class: "card" },
      h("p", {}, back_to_all(), " · ", h("a", { href: `/fleet/${place(ends)}` }, "History")),
      h("h1", {}, `${near} to ${far}, run ${run}`),
      h("p", { class: "quiet" }, "The same on the command line: ", h("code", {}, `v6gap fleet report ${near} ${far} --runs FOLDER --run ${run}`))),
    framed(`/fleet/paths/${place(ends)}/${encodeURIComponent(run)}/report.html`, `Report of ${run}`)));
}
