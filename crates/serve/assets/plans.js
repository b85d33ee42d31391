// Plans: a list, an editor that says at once what a plan does or what is wrong with it.

import { ask, h, show, trouble } from "./dom.js";
import { go } from "./app.js";
import { size, span, sure } from "./measure.js";

const STEADY_MS = 400;

export async function plans(visit) {
  const [all, info] = await Promise.all([ask("/presets"), ask("/info")]);
  if (visit.over) return undefined;
  const text = h("textarea", { class: "mono", spellcheck: "false", id: "plan", id_: "plan-editor", oninput: later });
  const said = h("div", { id_: "plan-problems", "aria-live": "polite" });
  const choose = h("select", { id: "preset", onchange: take }, all.map((plan) => h("option", { value: plan.name }, `${plan.name}: ${plan.title}`)));
  const host = h("input", { type: "text", id: "plan-host", oninput: later, autocomplete: "off", spellcheck: "false", placeholder: "host; empty for the lab of the plan" });
  const start = h("button", { class: "halt", type: "button", id_: "plan-start", onclick: () => begin(asked()), disabled: info.read_only }, "Run this plan");
  const problem = h("div");
  let timer, checking = 0, taking = 0;
  function asked() {
    const name = host.value.trim();
    return { place: name ? { host: name } : { lab: "" }, toml: text.value, confirm: false };
  }
  // What is confirmed is what was asked about, whatever stands in the editor by then.
  async function begin(body) {
    problem.replaceChildren();
    try {
      await ask("/runs", { method: "POST", body });
      if (!visit.over) go("/");
    } catch (error) {
      const again = () => begin({ ...body, confirm: true });
      problem.replaceChildren(error.code === "E306" ? sure(error, again) : trouble(error));
    }
  }
  function later() {
    problem.replaceChildren();
    clearTimeout(timer);
    timer = setTimeout(check, STEADY_MS);
  }
  async function check() {
    const number = ++checking;
    try {
      const told = await ask("/plans/validate", { method: "POST", body: { toml: text.value } });
      const { takes } = await ask("/estimate", { method: "POST", body: asked() });
      if (number !== checking) return;
      said.replaceChildren(h("p", {}, h("b", {}, `At most ${span(takes.time_ns / 1e9)}, about ${size(takes.bytes)}.`)), h("pre", { class: "said", id_: "estimate" }, told.words));
    } catch (error) {
      if (number === checking) said.replaceChildren(trouble(error));
    }
  }
  async function take() {
    const number = ++taking;
    try {
      const plan = await ask(`/presets/${choose.value}`, { text: true });
      if (number !== taking) return;
      text.value = plan;
      check();
    } catch (error) {
      if (number === taking) said.replaceChildren(trouble(error));
    }
  }
  show(h("div", { class: "columns" },
    h("section", { class: "card stack" }, h("h1", {}, "Plans"),
      h("div", {}, h("label", { class: "f", for: "preset" }, "Begin with"), choose),
      h("p", { class: "quiet" }, "Everything a plan does stands beside it as you type. A plan that is saved to a file runs in the terminal: v6gap plan run FILE HOST."),
      h("div", {}, h("label", { class: "f", for: "plan-host" }, "Against which host?"), host), h("div", {}, start), problem),
    h("section", { class: "card stack" }, h("div", {}, h("label", { class: "f", for: "plan" }, "The plan"), text), said)));
  await take();
  return () => clearTimeout(timer);
}
