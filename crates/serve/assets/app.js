// Which screen an address shows, and the way in.

import { ask, h, keep, say, show, trouble, utc } from "./dom.js";
import { compare } from "./compare.js";
import { fleet_path_screen, fleet_report_screen } from "./fleet-path.js";
import { fleet_screen } from "./fleet.js";
import { history_screen } from "./history.js";
import { measure } from "./measure.js";
import { path_screen } from "./path.js";
import { plans } from "./plans.js";
import { result } from "./result.js";

const TITLES = { measure: "My paths", path: "Path", result: "Result", compare: "Compare", plans: "Plans", history: "History", fleet: "Fleet" };
const SCREENS = [
  [/^\/$/, "measure", measure],
  [/^\/p\/([^/]+)$/, "path", path_screen],
  [/^\/r\/([^/]+)$/, "result", result],
  [/^\/c\/([^/]+)\/([^/]+)$/, "compare", compare],
  [/^\/plans$/, "plans", plans],
  [/^\/history$/, "history", history_screen],
  [/^\/fleet$/, "fleet", fleet_screen],
  [/^\/fleet\/([^/]+)\/([^/]+)\/([^/]+)\/([^/]+)$/, "fleet", fleet_path_screen],
  [/^\/fleet\/([^/]+)\/([^/]+)\/([^/]+)\/([^/]+)\/([^/]+)$/, "fleet", fleet_report_screen],
];

let leave = () => {};
let asked = 0;

/// The address whose screen is shown.
let shown = null;

/// Shows what the address says.
export async function route() {
  leave();
  leave = () => {};
  const number = ++asked;
  // Who has gone elsewhere meanwhile is not to be shown what comes late, nor told any more.
  const visit = { get over() { return number !== asked; } };
  const path = location.pathname;
  shown = location.pathname + location.search;
  const [pattern, name, screen] = SCREENS.find(([pattern]) => pattern.test(path)) ?? SCREENS[0];
  document.title = `${TITLES[name]} – v6gap`;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.screen === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  try {
    const left = (await screen(visit, ...(path.match(pattern) ?? []).slice(1).map(decodeURIComponent))) ?? (() => {});
    if (visit.over) left();
    else leave = left;
  } catch (error) {
    if (!visit.over) show(trouble(error));
  }
}

export function go(path) {
  history.pushState(null, "", path);
  route();
  document.getElementById("main").focus();
}

/// The key in the address is exchanged for a token and goes from the address bar.
async function enter() {
  const key = new URLSearchParams(location.hash.slice(1)).get("k");
  if (key) {
    history.replaceState(null, "", location.pathname);
    try {
      keep((await ask("/session", { method: "POST", body: { key } })).token);
    } catch (error) {
      // A link that was used before shuts nobody out who is known.
      await ask("/info").catch(() => { throw error; });
    }
  }
}

/// Pages that show a recording say so wherever one looks, and those that show a fleet lead to it.
async function about() {
  const { demo, fleet } = await ask("/info");
  document.querySelector("nav a[data-screen=fleet]").hidden = !fleet;
  if (!demo) return;
  const note = document.getElementById("recording");
  const speed = demo.speed === 1 ? "" : `, ${demo.speed} times as fast`;
  note.textContent = `A recording: what was measured from ${demo.client} to ${demo.target} on ${utc(demo.started_unix_ns)} (UTC)${speed}. Nothing is measured here.`;
  note.hidden = false;
}

function theme(chosen) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const name = chosen ?? localStorage.getItem("theme") ?? (dark ? "dark" : "light");
  document.documentElement.dataset.theme = name;
  if (chosen) localStorage.setItem("theme", chosen);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='/']");
  if (!link || link.hasAttribute("download") || link.target || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (link.getAttribute("href").startsWith("/api/")) return;
  event.preventDefault();
  go(link.getAttribute("href"));
});
document.getElementById("theme").addEventListener("click", () => {
  theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
});
// A link within the page leaves its screen as it is, but for one that brings a new key.
addEventListener("popstate", async () => {
  if (location.hash.startsWith("#k=")) {
    try {
      await enter();
      await about();
    } catch (error) {
      return show(trouble(error));
    }
  } else if (location.pathname + location.search === shown) {
    return;
  }
  route();
});

theme();
try {
  await enter();
  await about();
  await route();
} catch (error) {
  show(h("div", { class: "stack", id_: "closed" }, trouble(error)));
  say("This page cannot be used.");
}
