// A measurement as it happens: both families side by side on one scale, and the difference so far.

import { OWN, amount, answer_chip, ask, coded, h, listen, say, sentence, tab_title, trouble } from "./dom.js";
import { courses, funnel } from "./chart.js";
import { go } from "./app.js";

const FAMILIES = [["v4", "IPv4"], ["v6", "IPv6"]];

/// Shows run `id` below `place` until it ends; gives what ends the showing.
export function follow(place, id, ended) {
  const view = build(id);
  place.replaceChildren(view.element);
  const { state, begin, block, trial, pair, verdict, end } = view;
  const closed = () => { close(); view.closed(); ended(); };
  const shown = { state, begin, block, trial, pair, verdict, end, error: view.failed, closed };
  const tell = (name, event) => { if (Object.hasOwn(shown, name)) shown[name](event); };
  const close = listen(`/runs/${id}/events`, tell, (error) => { view.refused(error); closed(); });
  const themes = new MutationObserver(view.draw);
  themes.observe(document.documentElement, { attributes: true });
  addEventListener("resize", view.draw);
  return () => {
    close();
    themes.disconnect();
    removeEventListener("resize", view.draw);
    view.gone();
  };
}

function build(id) {
  const title = h("h1", {}, "Measuring");
  const progress = h("p", { class: "quiet", id_: "progress" }, "connecting");
  const turns = h("div", { class: "turns", "aria-hidden": "true" });
  const stop = h("button", { type: "button", class: "halt", id_: "stop", onclick: halt }, "Stop and keep results");
  const panels = Object.fromEntries(FAMILIES.map(([family, name]) => [family, panel(family, name)]));
  const which = h("select", { "aria-label": "Question", onchange: draw });
  const chart = h("div", { class: "chart", id_: "funnel" });
  const open = h("p", { class: "quiet" }, "The band narrows as pairs come in. The verdict is given when the run ends, not before.");
  const verdicts = h("div", { class: "verdicts" });
  const rows = h("tbody", {});
  const connections = h("details", { class: "connections", hidden: true, id_: "connections" },
    h("summary", {}, "Connections of the latest transfers"),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Connections" }, h("table", {},
      h("thead", {}, h("tr", {}, ["Family", "Sender", "Rate", "Round trip", "Window, segments", "Sent again"].map((name) => h("th", { scope: "col" }, name)))), rows)));
  const element = h("section", { class: "card", id_: "live" },
    h("div", { class: "row" }, h("div", {}, title, progress), h("span", { class: "space" }), stop),
    turns, h("div", { class: "two" }, panels.v4.element, panels.v6.element), connections,
    h("div", { class: "row apart" }, h("h2", {}, "Difference so far"), which), open, chart, verdicts);
  const run = { id: null, questions: [], trials: [], pairs: [], verdicts: [], stop: null, words: undefined, over: false };
  let due = 0;

  async function halt() {
    const words = stop.textContent;
    stop.disabled = true;
    stop.textContent = "Stopping after this block…";
    // By its own name, so that no other one is stopped that has begun meanwhile.
    await ask(`/runs/${run.id ?? id}/stop`, { method: "POST" }).catch((error) => {
      if (run.over) return;
      stop.disabled = false;
      stop.textContent = words;
      open.replaceChildren(trouble(error));
    });
  }
  function draw() {
    if (due) return;
    due = requestAnimationFrame(() => {
      due = 0;
      const question = run.questions[which.value || 0];
      courses(panels, run.trials, run.questions, element);
      connected(run.trials, connections, rows);
      if (question) funnel(chart, run.pairs, question, run.words ? "a family against itself" : "IPv6 against IPv4");
    });
  }
  return {
    element,
    draw,
    state: (event) => progress.replaceChildren(sentence(event.text)),
    begin(event) {
      const words = event.arms[0] === event.arms[1] ? OWN : undefined;
      Object.assign(run, { id: event.id, target: event.target, questions: event.questions, stop: event.stop, words });
      title.replaceChildren(`${event.client} to ${event.target}`);
      element.dataset.run = event.id;
      which.replaceChildren(...run.questions.map((q, at) => h("option", { value: at }, q.label)));
    },
    block(event) {
      const what = event.null ? "A family with itself, to see what chance makes of nothing" : `Pair ${event.round}`;
      const most = run.stop?.kind === "pairs" ? ` of ${run.stop.pairs}` : "";
      progress.replaceChildren(`${what}${event.null ? "" : most}, ${event.turn} of ${event.turns}: ${event.cell}`);
    },
    trial(event) {
      run.trials.push(event);
      if (turns.childElementCount >= 120) turns.firstChild.remove();
      turns.append(h("i", { class: event.valid ? event.family : "void" }));
      draw();
    },
    pair(event) {
      run.pairs.push(event);
      element.dataset.pairs = event.pairs;
      draw();
    },
    verdict(event) {
      run.verdicts.push(event.verdict);
      verdicts.append(h("p", { id_: `verdict-${event.metric}` }, answer_chip(event, run.words), ` ${event.label}: ${event.text || event.sentence}`));
    },
    end(event) {
      run.over = true;
      tab_title(run.verdicts, run.target, run.words);
      say(event.headline);
      progress.replaceChildren(event.stopped ? sentence(event.stopped) : `${event.pairs} pairs, ${event.trials} trials`);
      // The answer first, the way to it below.
      turns.before(verdicts);
      verdicts.prepend(...[h("p", { class: "headline", id_: "headline" }, event.headline), coded(event.code)].filter(Boolean));
      verdicts.append(h("div", { class: "row" }, to_report(event.id),
        h("a", { class: "ghost", href: "/history" }, "Compare with another"),
        h("a", { class: "ghost", href: "/" , onclick: (e) => { e.preventDefault(); go("/"); } }, "Measure again")));
    },
    failed(error) {
      run.over = true;
      progress.replaceChildren("It could not be measured.");
      verdicts.append(trouble(error));
    },
    // What was measured is stored, also where a server that was begun again knows nothing of it.
    refused(error) {
      progress.replaceChildren("No more is told of it here.");
      verdicts.append(trouble(error));
      if (run.id && !run.over) verdicts.append(h("div", { class: "row" }, to_report(run.id)));
      run.over = true;
    },
    closed() {
      if (!run.over) {
        progress.replaceChildren("It is over.");
        if (run.id) verdicts.append(h("div", { class: "row" }, to_report(run.id)));
      }
      stop.hidden = true;
      for (const { element } of Object.values(panels)) element.classList.remove("on");
      open.hidden = true;
    },
    gone() { cancelAnimationFrame(due); },
  };
}

function to_report(id) {
  return h("a", { class: "ghost", href: `/r/${id}`, id_: "open-result" }, "Open the report");
}

/// What the kernels tell of each connection of the latest transfer of each family.
function connected(trials, place, rows) {
  const last = FAMILIES.map(([family, name]) => [name, trials.findLast((trial) => trial.family === family && trial.connections?.length)]).filter(([, trial]) => trial);
  place.hidden = !last.length;
  const row = (name, trial) => (one) => h("tr", {}, [name, one.sender, amount(one.sent_bytes * 8 / trial.duration_s, "bit/s"), amount(one.rtt_s, "s"), one.cwnd ?? "–", one.sent_again ?? "–"].map((text) => h("td", {}, String(text))));
  rows.replaceChildren(...last.flatMap(([name, trial]) => trial.connections.map(row(name, trial))));
}

function panel(family, name) {
  const rate = h("p", { class: "now" }, "–");
  const times = h("p", { class: "now" }, "–");
  const rates = h("div", { class: "chart", id_: `rates-${family}` });
  const dots = h("div", { class: "chart", id_: `times-${family}` });
  const sign = family === "v4" ? "○" : "◆";
  const element = h("section", { class: `family ${family}`, id_: `live-${family.slice(1)}` },
    h("h2", {}, `${sign} ${name}`), rate, rates, times, dots);
  return {
    element, rates, dots,
    // Without a rate in question there is none to wait for.
    tell(rates_now, times_now, label) {
      rate.hidden = rates_now === undefined;
      rate.replaceChildren(rates_now === null || rates_now === undefined ? "–" : amount(rates_now, "bit/s"), " ", h("small", {}, "throughput"));
      times.replaceChildren(times_now === null ? "–" : amount(times_now, "s"), " ", h("small", {}, label ?? "round trip"));
    },
  };
}
