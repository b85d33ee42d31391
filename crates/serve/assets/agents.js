// What the hub of a fleet says of its agents: how many do what, and which are not well.

import { ask, h, trouble } from "./dom.js";

/// How often the hub is asked, in ms.
const ASK_MS = 10_000;

/// An agent that was not heard for longer is silent: three of its heartbeats, as the terminal has it, in ns.
const SILENT_NS = 3 * 30e9;

/// The section of the agents, which goes on until `leave` is called.
export function agents() {
  const body = h("div", {}, h("p", { class: "quiet" }, "Loading…"));
  const element = h("section", { class: "card", id_: "agents", "aria-labelledby": "agents-are" }, h("h2", { id: "agents-are" }, "Agents"), body);
  let over = false, timer = null, wrong = null;
  async function look() {
    if (!document.hidden) {
      try {
        draw(body, await ask("/fleet/status"));
        wrong = null;
      } catch (error) {
        // The same again need not be read out again.
        const text = JSON.stringify(error);
        if (wrong !== text) body.replaceChildren(trouble(error));
        wrong = text;
      }
    }
    if (!over) timer = setTimeout(look, ASK_MS);
  }
  look();
  return { element, leave() { over = true; clearTimeout(timer); } };
}

/// What an agent does, in a word.
function does(heard) {
  return heard.ago_ns > SILENT_NS ? "silent" : heard.said.state;
}

/// Why an agent is not well; nothing if it is.
function why(heard) {
  const seconds = Math.round(heard.ago_ns / 1e9);
  return { silent: `not heard for ${seconds} s`, closed: heard.said.trouble ?? "takes no jobs", taken: "something else is measured there" }[does(heard)];
}

function draw(body, status) {
  if (!status.agents) {
    body.replaceChildren(h("p", {}, "No coordinator answers. ", h("code", {}, "v6gap fleet hub run DIR"), " runs the hub."));
    return;
  }
  const counts = {};
  for (const heard of status.agents) counts[does(heard)] = (counts[does(heard)] ?? 0) + 1;
  const left = status.agents.reduce((all, heard) => all + heard.said.unarchived, 0);
  const told = Object.entries(counts).map(([what, count]) => `${count} ${what}`);
  const open = body.querySelector("details")?.open ?? false;
  const inside = ["summary", ".scroll"].find((part) => body.querySelector(part) === document.activeElement && document.activeElement);
  const unwell = status.agents.filter(why);
  const row = (heard) => h("tr", {}, h("th", { scope: "row" }, heard.said.from), h("td", {}, does(heard)), h("td", {}, heard.said.program), h("td", { class: "number" }, heard.said.unarchived), h("td", {}, why(heard) ?? ""));
  const heads = ["Agent", "Does", "Program", "Runs only there", "Not well"];
  body.replaceChildren(
    h("p", { id_: "agents-sum" }, `${[`${status.agents.length} agents`, ...told].join(", ")}; ${left} runs are only at agents.`),
    h("ul", { class: "told" },
      unwell.map((heard) => h("li", {}, h("b", {}, heard.said.from), `: ${why(heard)}`)),
      status.jobs.map(({ record }) => h("li", {}, `Measuring ${record.from} to ${record.to} (${record.plan})`))),
    h("p", { class: "quiet" }, status.meshes.length ? `Applied: ${status.meshes.join(", ")}.` : "No mesh plan is applied."),
    h("details", { open }, h("summary", {}, "Every agent"),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Every agent" }, h("table", {},
        h("thead", {}, h("tr", {}, heads.map((name) => h("th", { scope: "col", class: name === "Runs only there" && "number" }, name)))),
        h("tbody", {}, status.agents.map(row))))));
  if (inside) body.querySelector(inside).focus({ preventScroll: true });
}
