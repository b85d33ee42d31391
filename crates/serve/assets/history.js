// What is stored, the latest first; two results can be compared.

import { ask, h, show, utc } from "./dom.js";
import { go } from "./app.js";

export async function history_screen(visit) {
  const all = await ask("/runs");
  if (visit.over) return;
  const chosen = new Set();
  const both = h("button", { type: "button", class: "halt", disabled: true, id_: "compare-chosen", onclick: compare }, "Compare the two chosen");
  const filter = h("input", { type: "text", id: "filter", placeholder: "host, plan or title", oninput: draw });
  const rows = h("tbody");
  function compare() {
    const [a, b] = all.filter((run) => chosen.has(run.id)).sort((x, y) => x.started_unix_ns - y.started_unix_ns);
    go(`/c/${a.id}/${b.id}`);
  }
  function choose(event, id) {
    if (event.target.checked) chosen.add(id);
    else chosen.delete(id);
    both.disabled = chosen.size !== 2;
  }
  function draw() {
    const text = filter.value.trim().toLowerCase();
    const wanted = all.filter((run) => `${run.target} ${run.plan} ${run.id} ${run.title} ${run.note}`.toLowerCase().includes(text));
    rows.replaceChildren(...wanted.map((run) => h("tr", {},
      h("td", {}, h("input", { type: "checkbox", "aria-label": `Choose ${run.id}`, checked: chosen.has(run.id), onchange: (event) => choose(event, run.id) })),
      h("td", {}, h("a", { href: `/r/${run.id}` }, utc(run.started_unix_ns))), h("td", { class: "about" }, run.title && h("b", {}, run.title), run.note && h("small", {}, run.note)), h("td", {}, run.target), h("td", {}, run.plan), h("td", {}, run.ending), h("td", { class: "mono" }, run.id))));
  }
  draw();
  show(h("section", { class: "card", id_: "history" },
    h("div", { class: "row" }, h("h1", {}, "History"), h("span", { class: "space" }),
      h("label", { class: "f", for: "filter" }, "Show only"), h("div", {}, filter), both),
    all.length
      ? h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Stored results" }, h("table", {},
          h("thead", {}, h("tr", {}, ["", "When (UTC)", "Title and note", "Against", "Plan", "Ended", "Result"].map((name) => h("th", { scope: "col" }, name || h("span", { class: "unseen" }, "Choose"))))), rows))
      : h("p", { class: "quiet" }, "Nothing is stored yet.")));
}
