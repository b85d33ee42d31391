// The first screen: the paths that are watched; below them what to measure on the left, what happens on the right.

import { amount, ask, h, say, sentence, show, trouble } from "./dom.js";
import { follow } from "./live.js";
import { my_paths } from "./paths.js";
import { go } from "./app.js";

const LONG = [
  ["quick", "20 s", "a first impression"],
  ["", "75 s", "the usual"],
  ["thorough", "10 min", "narrow ranges"],
];
const WHAT = [["throughput", "Throughput"], ["rtt", "Round trip"], ["connect", "Connecting"], ["loss", "Loss"]];
const MORE = [
  ["parallel", "Parallel streams", "-P", "4"],
  ["window", "TCP window", "-w", "64K"],
  ["length", "Size of a write or datagram", "-l", "128K"],
  ["bitrate", "Rate of UDP", "-b", "10M"],
  ["fq-rate", "Rate of TCP, all streams", "--fq-rate", "50M"],
  ["time", "Time of a trial", "-t", "2s"],
  ["congestion", "Congestion control", "-C", "cubic"],
  ["dscp", "DSCP", "--dscp", "EF"],
  ["port", "Port of the server", "-p", "4466"],
  ["v4", "IPv4 address of the host", "--v4", "192.0.2.7"],
  ["v6", "IPv6 address of the host", "--v6", "fd00::7"],
  ["pairs", "Pairs, in place of a time", "--pairs", "20"],
];
const VISITS = [
  ["pairs", "Pairs of visits", "--pairs", "24"],
  ["http", "Versions of HTTP", "--http", "1.1,2,3"],
  ["v4", "IPv4 address of the host", "--v4", "192.0.2.7"],
  ["v6", "IPv6 address of the host", "--v6", "2001:db8::7"],
];
const STEADY_MS = 300;

export async function measure(visit) {
  const info = await ask("/info");
  if (visit.over) return undefined;
  const state = { host: "", plan: null, options: {}, lab: null };
  const right = h("div", { class: "stack" });
  const form = build(state, info, right);
  const paths = my_paths();
  show(h("div", { class: "stack" }, paths.element, h("div", { class: "columns" }, form.element, right)));
  let stop_following = () => {};
  const watch = () => {
    if (!visit.over) stop_following = follow(right, "live", () => { form.idle(); form.changed(); });
  };
  form.watch = watch;
  if (info.live && !info.live.over) {
    form.busy();
    watch();
  } else {
    form.focus();
    right.append(welcome(info));
    const cards = await presets(form).catch(trouble);
    // Who was quicker than the list of plans is measuring already.
    if (!right.querySelector("[data-testid=live]")) right.append(cards);
  }
  return () => { stop_following(); paths.leave(); };
}

function welcome(info) {
  return h("section", { class: "card" },
    h("h2", {}, "How does IPv6 perform against IPv4?"),
    h("p", { class: "quiet" }, info.read_only
      ? "Only stored results can be looked at here."
      : "Name a host that runs v6gap serve and press Enter, or measure in a network made on this computer. A website or another service is visited as it is. Both families are measured in turns over the same path."));
}

function build(state, info, right) {
  const host = h("input", { class: "host", type: "text", id: "host", id_: "host", autocomplete: "off", spellcheck: "false", placeholder: "lab-b, 192.0.2.7 or fd00::7" });
  const site = h("input", { class: "host", type: "text", id: "site", id_: "site", autocomplete: "off", spellcheck: "false", placeholder: "example.org, a URL or HOST:PORT", oninput: changed });
  const found = h("ul", { class: "lines", id_: "probe", "aria-live": "polite" });
  const command = h("code", { id_: "command" });
  const takes = h("p", { class: "quiet", id_: "takes" });
  const doubt = h("div"), problem = h("div");
  const start = h("button", { class: "start", type: "submit", id_: "start", disabled: info.read_only }, "Start");
  const where = picks("where", [["host", "Another host"], ["demo", "This computer", "no other host needed"], ["site", "A website or service", "v6gap need not run there"]], "radio", "host", changed);
  const what = picks("what", WHAT, "checkbox", ["throughput", "rtt", "connect", "loss"], changed);
  const way = picks("way", [["", "Send"], ["reverse", "Receive"], ["bidir", "Both at once"]], "radio", "", changed);
  const long = picks("long", LONG, "radio", "", changed);
  const fields = (all, before) => h("div", { class: "more" }, all.map(([name, label, option, example]) => h("div", {},
    h("label", { class: "f", for: `${before}-${name}`, title: `command line: ${option}` }, label),
    h("input", { type: "text", id: `${before}-${name}`, name, placeholder: example, title: `command line: ${option}`, oninput: changed }))));
  const typed_in = (part) => Object.fromEntries([...part.querySelectorAll("input")].map((input) => [input.name, input.value.trim()]).filter(([, text]) => text));
  const more = fields(MORE, "more"), of_visits = fields(VISITS, "visits");
  const chosen = h("p", { class: "quiet", hidden: true });
  let timer, probing = 0, reaching = 0, telling = 0;

  function asked() {
    const options = {};
    if (kind() === "site") return { place: place(), options: typed_in(of_visits) };
    if (state.plan) {
      // Where the host is, which was looked at with it; how it is measured the plan says.
      const typed = kind() === "host" ? Object.entries(typed_in(more)) : [];
      const where_it_is = Object.fromEntries(typed.filter(([name]) => ["port", "v4", "v6"].includes(name)));
      return { place: place(), plan: state.plan, options: { ...where_it_is, ...(state.scale ? { scale: state.scale } : {}) } };
    }
    const wanted = what.values();
    if (wanted.length && wanted.length < WHAT.length) options.measure = wanted.join(",");
    for (const value of [way.values()[0], long.values()[0]]) if (value) options[value] = "true";
    return { place: place(), options: { ...options, ...typed_in(more) } };
  }
  function kind() {
    return where.values()[0];
  }
  function place() {
    if (kind() === "site") return { site: site.value.trim() };
    if (kind() === "demo") return state.plan ? { lab: "" } : "demo";
    return { host: host.value.trim() };
  }
  async function changed() {
    if (kind() === "site" && state.plan) return form.forget();
    problem.replaceChildren();
    host_part.hidden = kind() !== "host";
    for (const part of site_parts) part.hidden = kind() !== "site";
    for (const part of element.querySelectorAll(".quick")) part.hidden = kind() === "site" || state.plan !== null;
    ready();
    clearTimeout(timer);
    timer = setTimeout(tell, 120);
  }
  function ready() {
    start.disabled = info.read_only || start.dataset.busy === "yes" || (kind() === "site" && !info.probe);
  }
  async function tell() {
    const number = ++telling;
    if (kind() !== "demo" && !(kind() === "host" ? host : site).value.trim()) doubt.replaceChildren();
    if (kind() === "host" && !host.value.trim()) {
      takes.replaceChildren();
      return command.replaceChildren("v6gap run HOST");
    }
    if (kind() === "site" && !site.value.trim()) {
      takes.replaceChildren();
      return command.replaceChildren("v6gap probe HOST|URL");
    }
    try {
      const told = await ask("/estimate", { method: "POST", body: asked() });
      if (number !== telling) return;
      command.replaceChildren(told.command);
      reach(told.takes);
      takes.replaceChildren(`At most ${span(told.takes.time_ns / 1e9)}, about ${size(told.takes.bytes)}, if the path carries ${amount(told.takes.taken_for_granted.rate_bps, "bit/s")}.`,
        told.takes.finds ? ` By the noise of the last result there, it finds a difference in ${told.takes.finds.metric} of ${told.takes.finds.text} in four of five times.` : "");
      doubt.replaceChildren();
    } catch (error) {
      if (number !== telling) return;
      takes.replaceChildren();
      doubt.replaceChildren(trouble(error));
    }
  }
  // What each length would find, by the noise of the last result there.
  async function reach(chosen) {
    const number = ++reaching;
    const body = asked();
    if (body.plan || kind() === "site") return;
    const others = LONG.map(async ([value]) => {
      if (value === long.values()[0]) return chosen;
      const options = Object.fromEntries(Object.entries(body.options).filter(([name]) => !LONG.some(([other]) => other === name)));
      if (value) options[value] = "true";
      return (await ask("/estimate", { method: "POST", body: { ...body, options } })).takes;
    });
    const found = await Promise.all(others.map((one) => one.catch(() => null)));
    if (number !== reaching) return;
    const usual = (value, about) => !value && kind() === "demo" ? "150 s on this computer" : about;
    LONG.forEach(([value, , about], at) => long.about(at, found[at]?.finds ? `finds ${found[at].finds.text}` : usual(value, about)));
  }
  let soon;
  host.addEventListener("input", changed);
  for (const field of [host, ...more.querySelectorAll("#more-port, #more-v4, #more-v6")]) {
    field.addEventListener("input", () => {
      clearTimeout(soon);
      soon = setTimeout(probe, STEADY_MS);
    });
  }
  async function probe() {
    const number = ++probing;
    const name = host.value.trim();
    found.replaceChildren();
    if (!name || info.read_only) return;
    let lines;
    try {
      const typed = (field) => element.querySelector(`#more-${field}`).value.trim() || null;
      const told = await ask("/check", { method: "POST", body: { host: name, port: Number(typed("port")) || null, v4: typed("v4"), v6: typed("v6") } });
      lines = told.lines.map((line) => h("li", { class: line.mark }, `${line.topic}: ${line.text}`));
    } catch (error) {
      lines = [h("li", { class: "fail" }, [error.title, ...(error.why ?? [])].join(" "))];
    }
    if (number === probing) found.replaceChildren(...lines);
  }
  const host_part = h("div", {}, h("label", { class: "f", for: "host" }, "To which host?"), host, found);
  const site_parts = [
    h("div", {}, h("label", { class: "f", for: "site" }, "Which one?"), site,
      h("p", { class: "quiet", id_: "visits" }, info.probe
        ? "It is visited a few times over each family, no more than twice a second."
        : "Only pages on the computer that serves them may visit hosts, and this one is on another. In the terminal there: v6gap probe HOST.")),
    h("details", {}, h("summary", {}, "More: pairs, versions, addresses"), of_visits)];
  const element = h("form", { class: "card", id_: "new-run", onsubmit: begin },
    h("h2", {}, "Compare IPv6 with IPv4"),
    h("fieldset", {}, h("legend", {}, "Where"), where.element), host_part, site_parts[0], chosen,
    h("fieldset", { class: "quick" }, h("legend", {}, "What to measure"), what.element),
    h("fieldset", { class: "quick" }, h("legend", {}, "Direction of transfers"), way.element),
    h("fieldset", { class: "quick" }, h("legend", {}, "How long"), long.element),
    h("details", { class: "quick" }, h("summary", {}, "More: window, sizes, streams, marks"), more),
    site_parts[1], start, takes, h("div", {}, doubt, problem),
    h("div", {}, h("p", { class: "f" }, h("b", {}, "The same on the command line")),
      h("div", { class: "line" }, command, h("button", { type: "button", class: "ghost", onclick: () => navigator.clipboard?.writeText(command.textContent) }, "Copy"))));

  async function begin(event) {
    event.preventDefault();
    run(asked());
  }
  // What is confirmed is what was asked about, whatever stands in the form by then.
  async function run(body) {
    problem.replaceChildren();
    form.busy();
    try {
      await start_run(body);
      form.watch();
    } catch (error) {
      form.idle();
      const again = () => run({ ...body, confirm: true });
      problem.replaceChildren(error.code === "E306" ? sure(error, again) : trouble(error));
    }
  }
  const form = {
    element,
    // Without leaving what is above.
    focus: () => host.focus({ preventScroll: true }),
    busy() { start.dataset.busy = "yes"; ready(); start.textContent = "Measuring…"; say("The measurement has begun."); },
    idle() { delete start.dataset.busy; ready(); start.textContent = "Start"; },
    changed,
    choose(preset, scale) {
      state.plan = preset.name;
      state.scale = scale;
      where.set(preset.lab ? "demo" : "host");
      chosen.hidden = false;
      chosen.replaceChildren(`By the plan “${preset.title}”${scale ? `, scale ${scale}` : ""}. `,
        h("button", { type: "button", class: "ghost", onclick: form.forget }, "Back to the usual"));
      changed();
      start.focus();
    },
    forget() {
      state.plan = null;
      chosen.hidden = true;
      changed();
    },
  };
  changed();
  return form;
}

function start_run(body) {
  return ask("/runs", { method: "POST", body });
}

/// Asks before much is sent.
export function sure(error, go_on) {
  return h("section", { class: "card trouble", role: "alert", id_: "sure" },
    h("h2", {}, `${sentence(error.title)}.`), h("p", {}, "Somebody may pay for it by volume."),
    h("button", { type: "button", class: "halt", id_: "sure-yes", onclick: go_on }, "Measure all the same"));
}

/// Two digits of a number, and no less than it is.
function up(number) {
  const step = 10 ** (Math.floor(Math.log10(Math.max(number, 1))) - 1);
  return Number((Math.ceil(number / step - 1e-9) * step).toPrecision(2));
}

/// The most that a time may be, as people say it.
export function span(seconds) {
  return seconds < 120 ? `${Math.ceil(seconds)} s` : seconds < 7200 ? `${Math.ceil(seconds / 60)} min` : `${up(seconds / 3600)} h`;
}

/// The most that may be sent.
export function size(bytes) {
  const [unit, name] = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]].find(([unit]) => bytes >= unit) ?? [1, "B"];
  return `${up(bytes / unit)} ${name}`;
}

/// Choices next to each other; `values` are those that are chosen.
export function picks(name, choices, type, chosen, changed) {
  const inputs = choices.map(([value]) => h("input", { type, name, value, checked: [chosen].flat().includes(value), onchange: changed }));
  const element = h("div", { class: "picks" }, choices.map(([, label, about], at) =>
    h("label", {}, inputs[at], h("span", {}, label, about ? h("small", {}, about) : null))));
  return {
    element,
    values: () => inputs.filter((input) => input.checked).map((input) => input.value),
    about: (at, text) => element.querySelectorAll("small")[at].replaceChildren(text),
    set: (value) => inputs.forEach((input) => { input.checked = input.value === value; }),
  };
}

/// The published experiments and other plans, with what they take.
async function presets(form) {
  const all = await ask("/presets");
  const card = (preset) => h("button", { type: "button", class: "preset", id_: `preset-${preset.name}`, onclick: () => form.choose(preset, preset.small ? "small" : undefined) },
    h("b", {}, preset.title), preset.description,
    h("small", {}, [preset.small && `small: ${preset.small}`, `all: ${preset.whole}, ${preset.bytes}`].filter(Boolean).join(" · ")));
  return h("section", { class: "card" },
    h("h2", {}, "Repeat a published experiment"),
    h("p", { class: "quiet" }, "Each plan has the factors and levels of its study and this program’s method: pairs in random order, ranges, a verdict. The published values stand beside what is measured."),
    h("div", { class: "presets" }, all.map(card)));
}
