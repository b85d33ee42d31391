// Elements and requests. Text that came from elsewhere only ever becomes a text node.

export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "id_") element.dataset.testid = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
}

export function show(...children) {
  document.getElementById("main").replaceChildren(...children);
}

export function say(text) {
  document.getElementById("said").textContent = text;
}

/// A request to the server. What is wrong is thrown as the server says it.
export async function ask(path, { method = "GET", body, text = false } = {}) {
  const options = { method, headers: {} };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(`/api/v1${path}`, options);
  } catch {
    throw { title: "v6gap web does not answer", why: ["It was stopped, or the computer slept."], try: [{ run: "v6gap web", does: "starts it again" }] };
  }
  const is_json = (response.headers.get("Content-Type") ?? "").includes("json");
  if (!response.ok) {
    const told = is_json ? (await response.json()).error : undefined;
    throw { status: response.status, ...(told ?? { title: `the server answered ${response.status}`, why: [], try: [] }) };
  }
  if (response.status === 204) return null;
  return text || !is_json ? response.text() : response.json();
}

/// An error as the terminal shows it.
export function trouble(error) {
  const why = (error.why ?? []).map((text) => h("p", { class: text.includes("\n") ? "said mono" : "" }, text));
  const tries = (error.try ?? []).map((one) => h("li", {}, h("code", {}, one.run), one.does ? ` – ${one.does}` : ""));
  return h("section", { class: "card trouble", role: "alert", id_: "trouble" },
    h("h2", {}, sentence(error.title ?? String(error))), why,
    tries.length ? h("div", {}, h("p", {}, "Try:"), h("ul", {}, tries)) : null,
    error.code ? h("p", { class: "quiet mono" }, error.code) : null);
}

/// The code of a result without verdicts, as the terminal writes it.
export function coded(code) {
  return code ? h("p", { class: "quiet mono", id_: "code" }, `[${code}]`) : null;
}

export function sentence(text) {
  return text ? text[0].toUpperCase() + text.slice(1) : "";
}

export const SIGNS = { worse: "▼", better: "▲", same: "=", inconclusive: "?", none: "–" };
const WORDS = { worse: "IPv6 worse", better: "IPv6 better", same: "same", inconclusive: "can’t tell", none: "no verdict" };

export function chip(verdict, words = WORDS) {
  return h("span", { class: `chip ${verdict}` }, `${SIGNS[verdict] ?? ""} ${words[verdict] ?? verdict}`);
}

/// What a tab is called: the gravest verdicts first, so that it is seen from afar.
export function tab_title(verdicts, target) {
  const grave = ["worse", "better"].filter((verdict) => verdicts.includes(verdict));
  const found = grave.length ? grave : ["inconclusive", "same", "none"].filter((verdict) => verdicts.includes(verdict)).slice(0, 1);
  const words = found.map((verdict, at) => (at ? WORDS[verdict].replace("IPv6 ", "and ") : WORDS[verdict])).join(" ");
  document.title = `${found.map((verdict) => SIGNS[verdict]).join("")} ${words}, ${target} – v6gap`;
}

/// A value in the unit that people read it in.
export function amount(value, unit) {
  if (value === null || value === undefined) return "–";
  const steps = { "bit/s": [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [0, "bit/s"]], s: [[1, "s"], [1e-3, "ms"], [0, "µs"]] }[unit];
  if (!steps) return `${Number(value.toPrecision(4))} ${unit === "1" ? "" : unit ?? ""}`.trim();
  const [size, name] = steps.find(([least]) => Math.abs(value) >= least);
  const scaled = value / (size || (unit === "s" ? 1e-6 : 1));
  return `${Number(scaled.toPrecision(4))} ${name}`;
}

export function when(unix_ns) {
  return new Date(unix_ns / 1e6).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
