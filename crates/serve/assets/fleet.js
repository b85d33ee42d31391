// The paths between the hosts of a fleet: how all do, as runs are added, and what a hub says of its agents.

import { ask, follow, h, show, trouble, utc } from "./dom.js";
import { agents } from "./agents.js";
import { go } from "./app.js";
import { rove } from "./rove.js";

export async function fleet_screen(visit) {
  const asked = new URLSearchParams(location.search), kept = new URLSearchParams();
  for (const name of ["measure", "sites"]) if (asked.get(name)) kept.set(name, asked.get(name));
  const query = kept.toString() ? `?${kept}` : "";
  const { fleet } = await ask("/info");
  if (visit.over) return undefined;
  if (!fleet) {
    show(h("section", { class: "card", id_: "no-fleet" }, h("h1", {}, "Fleet"),
      h("p", { class: "quiet" }, "No fleet is shown here: ", h("code", {}, "v6gap web --fleet FOLDER"), " shows the runs in a folder.")));
    return undefined;
  }
  const title = h("h1", { id_: "fleet-headline" }, "Fleet"), choice = h("div", { class: "row" }), now = h("p", { class: "quiet", id_: "fleet-now" });
  const matrix = h("div", { class: "fleet", id_: "fleet-matrix" });
  const hub = fleet.hub ? agents() : null;
  show(h("div", { class: "stack", id_: "fleet" },
    h("section", { class: "card" }, title, choice, now, matrix), hub?.element));
  let drawn = null, chosen = null, seen = 0;
  function draw(page) {
    if (visit.over) return;
    title.textContent = page.headline;
    document.title = `${page.name}: ${page.headline} – v6gap`;
    const text = `${page.html}${page.measures}`;
    now.textContent = `As of ${utc(page.at_unix_ns)} (UTC).`;
    matrix.dataset.seen = ++seen;
    if (drawn === text) return;
    drawn = text;
    // A list that is open, or in which somebody is, stays as long as there is nothing else to choose.
    const offered = JSON.stringify([page.measures, page.measure]);
    if (chosen !== offered) choice.replaceChildren(...choices(page, kept));
    chosen = offered;
    replace(matrix, page, kept.get("measure"));
  }
  // Another plan's run, which may come next, answers other questions: what is shown stays what was asked first.
  function events(page) {
    const same = new URLSearchParams(kept);
    if (page.measure) same.set("measure", page.measure);
    return same.toString() ? `/fleet/events?${same}` : "/fleet/events";
  }
  try {
    const stop = await follow(`/fleet${query}`, events, draw);
    return () => { stop(); hub?.leave(); };
  } catch (error) {
    matrix.replaceChildren(trouble(error));
    return () => hub?.leave();
  }
}

/// What may be asked for in place of what is shown.
function choices(page, kept) {
  function to(name, value) {
    const next = new URLSearchParams(kept);
    if (value) next.set(name, value);
    else next.delete(name);
    return next.toString() ? `/fleet?${next}` : "/fleet";
  }
  const asked = kept.get("measure") ?? page.measure;
  const known = page.measures.includes(asked) ? page.measures : [asked, ...page.measures];
  const measure = h("select", { id: "measure", onchange: (event) => go(to("measure", event.target.value)) },
    known.map((value) => h("option", { value, selected: value === asked }, value)));
  const sites = kept.get("sites");
  return [
    page.measures.length ? [h("label", { class: "f", for: "measure" }, "Measured"), h("div", {}, measure)] : [],
    sites ? [h("span", {}, `Only ${sites.split(",").join(" and ")}.`), h("a", { href: to("sites", null), id_: "all-sites" }, "All sites")] : [],
  ].flat();
}

/// Draws the matrix anew: whoever is in it stays where they are.
function replace(matrix, page, measure) {
  if (!page.paths) {
    matrix.replaceChildren(h("p", { class: "quiet" }, "No run between hosts of a fleet answers this. ",
      h("code", {}, "v6gap fleet matrix --runs FOLDER"), " looks at the same folder."));
    return;
  }
  const at = matrix.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const inside = matrix.contains(document.activeElement) && at === null;
  const before = matrix.querySelector(".card.matrix");
  const place = before ? [before.scrollLeft, before.scrollTop] : [0, 0];
  // The program's own markup, whose texts it has escaped. A page of this server runs no script that stands in it.
  const body = new DOMParser().parseFromString(page.html, "text/html").body;
  matrix.replaceChildren(...[...body.childNodes].map((node) => document.importNode(node, true)));
  for (const link of measure ? matrix.querySelectorAll('a[href^="/fleet?sites="]') : []) {
    link.setAttribute("href", `${link.getAttribute("href")}&measure=${encodeURIComponent(measure)}`);
  }
  const box = matrix.querySelector(".card.matrix");
  [box.scrollLeft, box.scrollTop] = place;
  rove(box, at);
  if (inside) box.focus({ preventScroll: true });
  matrix.querySelector(".legend")?.after(h("p", { class: "quiet" }, page.by_sites
    ? "A pair of sites leads to its hosts."
    : "A cell leads to the history of its path. Arrow keys go from cell to cell."));
}
