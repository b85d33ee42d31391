// A stored result: its report, and what can be done with it.

import { OWN, amount, answer_chip, ask, coded, framed, h, saved, say, show, tab_title, ticketed, trouble, utc } from "./dom.js";
import { go } from "./app.js";

const FILES = [["result.json", "JSON"], ["trials.csv", "Trials, CSV"], ["table.csv", "Answers, CSV"], ["result.md", "Markdown"], ["result.tex", "LaTeX"], ["journal.jsonl", "Everything"]];

export async function result(visit, id) {
  const [found, written, figures] = await Promise.all([ask(`/runs/${id}`), ask(`/runs/${id}/note`), ask(`/runs/${id}/figures`)]);
  if (visit.over) return;
  const files = FILES.map(([file, name]) => saved(`/runs/${id}/${file}`, `${id}-${file}`, { class: "ghost" }, name));
  const problem = h("div");
  const remove = h("button", { type: "button", class: "ghost grave", id_: "remove", onclick: ask_first, onblur: () => sure(false) }, "Delete");
  function sure(is_asked) {
    remove.dataset.sure = is_asked ? "yes" : "no";
    remove.textContent = is_asked ? "Delete for good?" : "Delete";
  }
  async function ask_first(event) {
    // The second half of a double click answers nothing that was read.
    if (event.detail > 1) return;
    if (remove.dataset.sure !== "yes") return sure(true);
    remove.disabled = true;
    try {
      const { left } = await ask(`/runs/${id}`, { method: "DELETE" });
      if (left) show(h("section", { class: "card" }, h("h1", {}, "Deleted"), h("p", {}, left)));
      else go("/history");
    } catch (error) {
      remove.disabled = false;
      problem.replaceChildren(trouble(error));
    }
  }
  async function open_report(event) {
    event.preventDefault();
    try {
      window.open(await ticketed(`/runs/${id}/report.html`), "_blank", "noopener");
    } catch (error) {
      problem.replaceChildren(trouble(error));
    }
  }
  tab_title(found.questions.map((q) => q.verdict), found.target, is_null(found) ? OWN : undefined);
  const own = (figure) => h("li", {}, `${figure.number}. ${figure.title} `,
    ["svg", "pdf"].map((ending) => [" ", saved(`/runs/${id}/figures/${figure.number}.${ending}`, `${id}-${figure.name}.${ending}`, { "aria-label": `Figure ${figure.number} as ${ending.toUpperCase()}` }, ending.toUpperCase())]));
  show(h("div", { class: "stack", id_: "result" },
    h("section", { class: "card" },
      h("p", { class: "quiet" }, `${found.hosts.client.name} to ${found.target}, ${utc(found.started_unix_ns)} (UTC), plan “${found.plan}”, ${found.design.pairs} pairs${found.stopped ? `; ${found.stopped}` : ""}. Result ${id}.`),
      h("h1", { class: "headline", id_: "headline" }, found.headline), coded(found.code),
      notes(id, written),
      answers(found),
      h("div", { class: "row" }, files, h("span", { class: "space" }),
        h("a", { class: "ghost", href: `/api/v1/runs/${id}/report.html`, target: "_blank", rel: "noopener", onclick: open_report }, "Report in a page of its own"), remove), problem,
      figures.length ? h("details", { class: "figures" }, h("summary", {}, `Figures for papers (${figures.length})`), h("ol", { class: "plainly" }, figures.map(own))) : null),
    framed(`/runs/${id}/report.html`, `Report of ${id}`)));
}

/// Title and note, and a form to write them; text nodes only, whoever wrote them.
function notes(id, written) {
  const title = h("input", { type: "text", id: "title", maxlength: 80, value: written.title });
  const text = h("textarea", { id: "note", maxlength: 2000, rows: 3 });
  text.value = written.note;
  const shown = h("div", { id_: "note" });
  const problem = h("div");
  const open = h("details", { class: "write" });
  const summary = h("summary", {});
  function draw() {
    shown.replaceChildren(...[
      written.title && h("p", { class: "title" }, written.title),
      written.note && h("p", { class: "noted" }, written.note)].filter(Boolean));
    summary.replaceChildren(written.title || written.note ? "Change title or note" : "Add a title or note");
  }
  async function save(event) {
    event.preventDefault();
    // What was not changed here may have been changed elsewhere, and stays.
    const typed = { title: title.value.trim(), note: text.value.trim() };
    const body = Object.fromEntries(Object.entries(typed).filter(([name, value]) => value !== written[name]));
    try {
      written = await ask(`/runs/${id}`, { method: "PATCH", body });
      [title.value, text.value] = [written.title, written.note];
      problem.replaceChildren();
      open.open = false;
      draw();
      say("Saved.");
    } catch (error) {
      problem.replaceChildren(trouble(error));
    }
  }
  open.append(summary, h("form", { class: "written", onsubmit: save, id_: "write" },
    h("div", {}, h("label", { class: "f", for: "title" }, "Title"), title),
    h("div", {}, h("label", { class: "f", for: "note" }, "Note"), text),
    h("div", {}, h("button", { class: "halt", type: "submit", id_: "save-note" }, "Save")), problem));
  draw();
  return h("div", { class: "notes" }, shown, open);
}

/// Whether a family was compared with itself.
function is_null({ design }) {
  return design.arms.a === design.arms.b;
}

function answers(found) {
  const { arms, arm_names } = found.design, sides = ["a", "b"];
  const value = (q, side) => h("td", { class: "number" }, amount(q[is_null(found) ? arm_names[side] : arms[side]]?.estimate, q.unit));
  const row = (q) => h("tr", { id_: `verdict-${q.metric}` },
    h("td", {}, q.label), sides.map((side) => value(q, side)),
    h("td", {}, q.text), h("td", {}, q.range_text), h("td", {}, answer_chip(q, is_null(found) ? OWN : undefined)));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Answers" }, h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Question"), sides.map((side) => h("th", { class: "number", scope: "col" }, arm_names[side])), h("th", { scope: "col" }, is_null(found) ? "The second" : "Over IPv6"), h("th", { scope: "col" }, "95 % range"), h("th", { scope: "col" }, "Verdict"))),
    h("tbody", {}, found.questions.map(row))));
}
