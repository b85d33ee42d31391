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

/// What this browser was let in with. It is kept for this origin, port and all; a cookie would go to every port.
const TOKEN = "token";

/// Keeps what lets this browser in.
export function keep(token) {
  localStorage.setItem(TOKEN, token);
}

function authorised() {
  const token = localStorage.getItem(TOKEN);
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/// A request to the server. What is wrong is thrown as the server says it.
export async function ask(path, { method = "GET", body, text = false } = {}) {
  const options = { method, headers: authorised() };
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
  if (!response.ok) throw await told_wrong(response);
  if (response.status === 204) return null;
  return text || !is_json(response) ? response.text() : response.json();
}

function is_json(response) {
  return (response.headers.get("Content-Type") ?? "").includes("json");
}

/// What is wrong, as the server says it.
async function told_wrong(response) {
  const told = is_json(response) ? (await response.json()).error : undefined;
  return { status: response.status, ...(told ?? { title: `the server answered ${response.status}`, why: [], try: [] }) };
}

/// The address of what the browser asks for by itself and can send no header with: a page in a frame, a file to save.
export async function ticketed(path) {
  const { ticket } = await ask("/tickets", { method: "POST", body: { path } });
  return `/api/v1${path}${path.includes("?") ? "&" : "?"}ticket=${ticket}`;
}

/// A link to a file that is saved under that name.
export function saved(path, name, attributes, text) {
  async function save(event) {
    event.preventDefault();
    const link = event.currentTarget;
    if (link.nextElementSibling?.matches(".trouble")) link.nextElementSibling.remove();
    try {
      h("a", { href: await ticketed(path), download: name }).click();
    } catch (error) {
      link.after(trouble(error));
    }
  }
  return h("a", { href: `/api/v1${path}`, download: name, onclick: save, ...attributes }, text);
}

/// A report in a frame of its own, which can ask for nothing here.
export function framed(path, title) {
  const frame = h("iframe", { class: "report", title, sandbox: "allow-scripts allow-popups" });
  ticketed(path).then((address) => {
    frame.addEventListener("load", () => { frame.dataset.loaded = "yes"; });
    frame.src = address;
  }, (error) => frame.replaceWith(trouble(error)));
  return frame;
}

/// How long is waited before a broken stream of events is asked for again, in ms.
const AGAIN_MS = 1000;

/// Attempts in a row that brought nothing of which the second is told: one may meet a server that begins again.
const SILENT = 2;

/// Most of them by which that wait grows.
const PATIENCE = 5;

/// Every event of a measurement as it comes, by its name, until the function that is given back is called; after a break it goes
/// on behind the last one. If the server will not tell any more, `refused` is told why.
export function listen(path, handle, refused) {
  const end = new AbortController();
  const old = h("p", { class: "quiet", role: "status", id_: "silent" }, "Nothing new comes from v6gap web: what stands here may be old.");
  let last = null, silent = 0, failures = 0;
  end.signal.addEventListener("abort", () => old.remove());
  function unheard() {
    silent += 1;
    if (silent >= SILENT && !end.signal.aborted) document.getElementById("main").prepend(old);
  }
  // An error is nothing new: who fails again and again is asked less and less often.
  function tell(lines) {
    const fields = Object.fromEntries(lines.split("\n").map((line) => line.split(/: ?(.*)/s, 2)));
    const is_news = fields.event !== "error";
    if (is_news) {
      silent = 0;
      old.remove();
    } else {
      failures += 1;
    }
    if (fields.id) last = fields.id;
    if (fields.data) handle(fields.event, JSON.parse(fields.data));
  }
  async function read() {
    const seen = last === null ? {} : { "Last-Event-ID": last };
    const response = await fetch(`/api/v1${path}`, { headers: { ...authorised(), ...seen }, signal: end.signal });
    // One that is busy may be asked again; anything else will say the same again.
    if (response.status >= 500) return unheard();
    if (!response.ok) {
      const why = await told_wrong(response);
      end.abort();
      return refused(why);
    }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const before = failures;
    let rest = "", told = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        if (failures === before) failures = 0;
        return told ? undefined : unheard();
      }
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      parts.forEach(tell);
      told += parts.length;
    }
  }
  async function follow() {
    while (!end.signal.aborted) {
      await read().catch(unheard);
      await new Promise((done) => { setTimeout(done, AGAIN_MS * 2 ** Math.min(Math.max(silent, failures), PATIENCE)); });
    }
  }
  follow();
  return () => end.abort();
}

/// Tells `draw` what is at `path` now, and what is at `events`, which may depend on that, says as it goes on, until the function
/// that is given back is called.
export async function follow(path, events, draw) {
  const first = await ask(path);
  const stream = typeof events === "function" ? events(first) : events;
  draw(first);
  let close = () => {}, failed = h("div");
  function refused(error) {
    document.getElementById("main").prepend(trouble(error));
    leave();
  }
  // Who tells it may end by an error, and is asked again.
  function told(event, said) {
    failed.remove();
    if (event !== "error") return draw(said);
    failed = trouble(said);
    document.getElementById("main").prepend(failed);
  }
  // A browser has few connections to a server for all its tabs: one that nobody sees takes none.
  function look() {
    close();
    close = document.hidden ? () => {} : listen(stream, told, refused);
  }
  function leave() {
    document.removeEventListener("visibilitychange", look);
    close();
  }
  document.addEventListener("visibilitychange", look);
  look();
  return leave;
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
/// Verdicts on one family by itself, or against itself, name none.
export const OWN = { ...WORDS, worse: "worse", better: "better" };

export function chip(verdict, words = WORDS) {
  return h("span", { class: `chip ${verdict}` }, `${SIGNS[verdict] ?? ""} ${words[verdict] ?? verdict}`);
}

/// The same of a question: a difference that is there and does not matter is not "the same".
export function answer_chip({ verdict, answer }, words = WORDS) {
  return verdict === "same" && answer ? h("span", { class: `chip ${verdict}` }, answer) : chip(verdict, words);
}

/// What a tab is called: the gravest verdicts first, so that it is seen from afar.
export function tab_title(verdicts, target, spoken = WORDS) {
  const grave = ["worse", "better"].filter((verdict) => verdicts.includes(verdict));
  const found = grave.length ? grave : ["inconclusive", "same", "none"].filter((verdict) => verdicts.includes(verdict)).slice(0, 1);
  const words = found.map((verdict, at) => (at ? `and ${OWN[verdict]}` : spoken[verdict])).join(" ");
  document.title = `${found.map((verdict) => SIGNS[verdict]).join("")} ${words}, ${target} – v6gap`;
}

/// A value in the unit that people read it in.
export function amount(value, unit) {
  if (value === null || value === undefined) return "–";
  if (unit === "") return `${Number((value * 100).toPrecision(4))} %`;
  if (unit === "s/B") return `${Number((value * 1e9).toPrecision(4))} s/GB`;
  const steps = { "bit/s": [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [0, "bit/s"]], s: [[1, "s"], [1e-3, "ms"], [0, "µs"]] }[unit];
  if (!steps) return `${Number(value.toPrecision(4))} ${unit ?? ""}`.trim();
  const [size, name] = steps.find(([least]) => Math.abs(value) >= least);
  const scaled = value / (size || (unit === "s" ? 1e-6 : 1));
  return `${Number(scaled.toPrecision(4))} ${name}`;
}

/// A time as the terminal writes it, in UTC.
export function utc(unix_ns) {
  return new Date(unix_ns / 1e6).toISOString().slice(0, 16).replace("T", " ");
}
