// A stored result: its report, and what can be done with it.

import { amount, ask, chip, h, show, trouble, when } from "./dom.js";
import { go } from "./app.js";

const FILES = [["result.json", "JSON"], ["trials.csv", "Trials, CSV"], ["table.csv", "Answers, CSV"], ["result.md", "Markdown"], ["result.tex", "LaTeX"], ["journal.jsonl", "Everything"]];

export async function result(id) {
  const found = await ask(`/runs/${id}`);
  const files = FILES.map(([file, name]) => h("a", { class: "ghost", href: `/api/v1/runs/${id}/${file}`, download: `${id}-${file}` }, name));
  const problem = h("div");
  const remove = h("button", { type: "button", class: "ghost grave", id_: "remove", onclick: ask_first }, "Delete");
  async function ask_first() {
    if (remove.dataset.sure !== "yes") {
      remove.dataset.sure = "yes";
      remove.textContent = "Delete for good?";
      return;
    }
    try {
      await ask(`/runs/${id}`, { method: "DELETE" });
      go("/history");
    } catch (error) {
      problem.replaceChildren(trouble(error));
    }
  }
  document.title = `${found.headline} – v6gap`;
  show(h("div", { class: "stack", id_: "result" },
    h("section", { class: "card" },
      h("p", { class: "quiet" }, `${found.hosts.client.name} to ${found.target}, ${when(found.started_unix_ns)}, plan “${found.plan}”, ${found.design.pairs} pairs${found.stopped ? `; ${found.stopped}` : ""}. Result ${id}.`),
      h("h1", { class: "headline", id_: "headline" }, found.headline),
      answers(found),
      h("div", { class: "row" }, files, h("span", { class: "space" }),
        h("a", { class: "ghost", href: `/api/v1/runs/${id}/report.html`, target: "_blank", rel: "noopener" }, "Report in a page of its own"), remove), problem),
    h("iframe", { class: "report", title: `Report of ${id}`, sandbox: "allow-scripts allow-popups", src: `/api/v1/runs/${id}/report.html` })));
}

function answers(found) {
  const row = (q) => h("tr", { id_: `verdict-${q.metric}` },
    h("td", {}, q.label), h("td", { class: "number" }, amount(q.v4?.estimate, q.unit)), h("td", { class: "number" }, amount(q.v6?.estimate, q.unit)),
    h("td", {}, q.text), h("td", {}, q.range_text), h("td", {}, chip(q.verdict)));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Answers" }, h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Question"), h("th", { class: "number", scope: "col" }, "IPv4"), h("th", { class: "number", scope: "col" }, "IPv6"), h("th", { scope: "col" }, "Over IPv6"), h("th", { scope: "col" }, "95 % range"), h("th", { scope: "col" }, "Verdict"))),
    h("tbody", {}, found.questions.map(row))));
}
