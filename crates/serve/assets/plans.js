// Plans: a list, an editor that says at once what a plan does or what is wrong with it.

import { ask, h, show, trouble } from "./dom.js";

const STEADY_MS = 400;

export async function plans() {
  const all = await ask("/presets");
  const text = h("textarea", { class: "mono", spellcheck: "false", id: "plan", id_: "plan-editor", oninput: later });
  const said = h("div", { id_: "plan-problems", "aria-live": "polite" });
  const choose = h("select", { id: "preset", onchange: take }, all.map((plan) => h("option", { value: plan.name }, `${plan.name}: ${plan.title}`)));
  let timer;
  function later() {
    clearTimeout(timer);
    timer = setTimeout(check, STEADY_MS);
  }
  async function check() {
    try {
      const told = await ask("/plans/validate", { method: "POST", body: { toml: text.value } });
      said.replaceChildren(h("pre", { class: "said", id_: "estimate" }, told.words));
    } catch (error) {
      said.replaceChildren(trouble(error));
    }
  }
  async function take() {
    text.value = await ask(`/presets/${choose.value}`, { text: true });
    check();
  }
  show(h("div", { class: "columns" },
    h("section", { class: "card stack" }, h("h1", {}, "Plans"),
      h("div", {}, h("label", { class: "f", for: "preset" }, "Begin with"), choose),
      h("p", { class: "quiet" }, "Everything a plan does stands beside it as you type. A plan that is saved to a file runs in the terminal: v6gap plan run FILE HOST.")),
    h("section", { class: "card stack" }, h("div", {}, h("label", { class: "f", for: "plan" }, "The plan"), text), said)));
  await take();
  return () => clearTimeout(timer);
}
