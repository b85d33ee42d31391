// Two results: did the difference between the families change, and did each family?

import { OWN, ask, chip, framed, h, show } from "./dom.js";

function size(change) {
  if (!change.effect) return change.why_none ?? "";
  return `${change.text} (${change.range_text})`;
}

export async function compare(visit, a, b) {
  const found = await ask(`/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`);
  if (visit.over) return;
  document.title = `${a} and ${b} – v6gap`;
  const rows = found.questions.flatMap((q) => q.against.map((changes) => h("tr", { id_: `changed-${q.metric}` }, h("td", {}, q.label),
    changes.changes.map((change) => h("td", {}, chip(change.verdict, change.of === "difference" ? undefined : OWN), ` ${size(change)}`)))));
  show(h("div", { class: "stack", id_: "compare" },
    h("section", { class: "card" }, h("h1", { class: "headline", id_: "headline" }, found.headline ?? `${a} and ${b}`),
      h("p", { class: "quiet" }, "Question one: did the difference between IPv4 and IPv6 change? Question two: did each family change?"),
      h("div", { class: "row" }, h("a", { class: "ghost", href: `/r/${a}` }, `A: result ${a}`), h("a", { class: "ghost", href: `/r/${b}` }, `B: result ${b}`))),
    h("section", { class: "card scroll", tabindex: "0", role: "region", "aria-label": "Changes" }, h("table", {},
      h("thead", {}, h("tr", {}, ["Question", "The difference", ...Object.values(found.arm_names)].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, rows))),
    framed(`/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`, `${a} against ${b}`)));
}
